"""Serve the staff pages of policy files: list them, upload one, show one, and delete one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from kitchen.agents.policy.policy_card import PolicyCard, PolicyFileError
from kitchen.agents.policy.policy_folder import shipped_policies
from kitchen.agents.policy.policy_session import INSTALL, is_installed
from kitchen.agents.policy.trial_games import ITSELF
from kitchen.agents.policy.upload_checks import CODES, MAX_BYTES
from kitchen.forms.setting_fields import readable_name
from kitchen.play.policies.models import UploadedPolicy
from kitchen.play.policies.policy_storage import PolicyInUseError, delete_policy, store_policy
from kitchen.registry.world_registry import get_encodings, get_world, known_worlds, reward_metric
from study.editor.policy_file_uses import why_used
from study.researchers.form_and_button_pages import CONFIRM_FIELD, NOT_CONFIRMED
from study.researchers.permissions import FORM_METHODS, staff_page

METADATA = {
    "encoding": "brigade.encoding",
    "world": "brigade.world",
    "actions": "brigade.actions",
    "settings": "brigade.settings",
    "author": "author",
    "licence": "licence",
    "trained_with": "trained_with",
}
"""The name of each form field in the metadata of a file."""
REFUSED = "{meant} ({code}): {why}."


class PolicyFileForm(forms.Form):
    """The form for a new policy file. The fields after the file describe it, if its metadata do not."""

    file: Any = forms.FileField(
        label="ONNX file",
        help_text=f"At most {MAX_BYTES // 2**20} MiB. It is checked and plays trial games first.",
        widget=forms.ClearableFileInput({"accept": ".onnx", "data-most-bytes": MAX_BYTES}),
    )
    encoding = forms.ChoiceField(
        required=False, label="Encoding", help_text="How the network reads what its player sees."
    )
    world = forms.ChoiceField(
        required=False, label="World", help_text="Only if the encoding belongs to several worlds."
    )
    actions = forms.CharField(
        required=False,
        max_length=20_000,
        label="Order of actions",
        help_text="The commands in the order of the logits, with spaces between, or as a JSON list. Empty: "
        "the order of the encoding.",
    )
    settings = forms.CharField(
        required=False,
        max_length=4000,
        label="Trained with",
        help_text='The settings of the world in training as JSON, such as {"layout": ["cramped_room"]}, or '
        "names of layouts.",
    )
    author = forms.CharField(required=False, max_length=200, label="Author")
    licence = forms.CharField(required=False, max_length=200, label="Licence")
    trained_with = forms.CharField(required=False, max_length=200, label="Trained by which program")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = dict.fromkeys(name for world in known_worlds() for name in get_encodings(world))
        choices: dict[str, Any] = {
            "encoding": [(name, name) for name in names],
            "world": [(name, readable_name(name)) for name in known_worlds()],
        }
        for name, offered in choices.items():
            field: Any = self.fields[name]
            field.choices = [("", "as the file says"), *offered]

    def clean_file(self) -> Any:
        """Return the uploaded file. Raises ValidationError with the code `too_large` if it is too large."""
        file = self.cleaned_data["file"]
        if file.size > MAX_BYTES:
            why = f"it has more than {MAX_BYTES // 2**20} MiB"
            raise forms.ValidationError(REFUSED.format(meant=CODES["too_large"], code="too_large", why=why))
        return file

    def clean_settings(self) -> str:
        """Return the settings as they were typed. Raises ValidationError if they cannot be read."""
        return self._readable("settings")

    def clean_actions(self) -> str:
        """Return the actions as they were typed. Raises ValidationError if they cannot be read."""
        return self._readable("actions")

    def _readable(self, name: str) -> str:
        typed = str(self.cleaned_data[name])
        try:
            PolicyCard.from_metadata({METADATA[name]: typed})
        except PolicyFileError as error:
            raise forms.ValidationError(f"This cannot be read: {error.message}.") from None
        return typed

    def metadata(self) -> dict[str, str]:
        """Return what the researcher wrote, by the name in the metadata of a file."""
        return {
            key: self.cleaned_data[name]
            for name, key in METADATA.items()
            if name in self.changed_data and self.cleaned_data[name]
        }


@staff_page(FORM_METHODS)
def policy_files(request: HttpRequest) -> HttpResponse:
    """List all policy files, and store a new one."""
    form = PolicyFileForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid() and (stored := _stored(request, form)):
        messages.success(request, f"{stored.name} is stored. Conditions can use it now.")
        return redirect("study:policy-file", stored.pk)
    context = {
        "form": form,
        "missing": "" if is_installed() else INSTALL,
        "shipped": shipped_policies(),
        "uploaded": [(row, PolicyCard.from_json(row.card)) for row in UploadedPolicy.objects.defer("data")],
    }
    return render(request, "study/editor/policy_files.html", context, status=422 if form.errors else 200)


def _stored(request: HttpRequest, form: PolicyFileForm) -> UploadedPolicy | None:
    """Store the file of the form. If it is refused, add the reason to the form and return None."""
    if not is_installed():
        form.add_error(None, INSTALL)
        return None
    file = form.cleaned_data["file"]
    try:
        return store_policy(file.name, file.read(), form.metadata(), request.user)
    except PolicyFileError as error:
        meant = CODES.get(error.code, "The file was not stored")
        form.add_error("file", REFUSED.format(meant=meant, code=error.code, why=error.message.rstrip(".")))
        return None


@staff_page(FORM_METHODS)
def policy_file(request: HttpRequest, pk: int) -> HttpResponse:
    """Show an uploaded policy file, or delete it."""
    row = get_object_or_404(UploadedPolicy.objects.defer("data"), pk=pk)
    if request.method == "POST":
        return _deleted(request, row)
    context = {
        "policy": row,
        "card": PolicyCard.from_json(row.card),
        "world": readable_name(row.world),
        "metric": _metric_label(row.world),
        "scores": [(game_name(name), score) for name, score in row.scores.items()],
        "used": why_used(row),
        "may_delete": may_delete(request.user, row),
    }
    return render(request, "study/editor/policy_file.html", context)


def may_delete(user: Any, row: UploadedPolicy) -> bool:
    """Return whether this user may delete the file: who uploaded it, and superusers."""
    return bool(user.is_superuser or row.uploaded_by_id == user.pk)


def _deleted(request: HttpRequest, row: UploadedPolicy) -> HttpResponse:
    why = NOT_CONFIRMED if CONFIRM_FIELD not in request.POST else why_used(row)
    if not why and not may_delete(request.user, row):
        why = "Only the person who uploaded the file, or an administrator, may delete it."
    try:
        if not why:
            delete_policy(row)
            messages.success(request, f"{row.name} is deleted.")
            return redirect("study:policy-files")
    except PolicyInUseError as error:
        why = str(error)
    messages.error(request, why)
    return redirect("study:policy-file", row.pk)


def _metric_label(world: str) -> str:
    """Return the label of the score of trial games."""
    named: Mapping[str, str] = {figure.name: figure.label for figure in get_world(world).figures}
    return named.get(reward_metric(world), "Score")


def game_name(name: str) -> str:
    """Return the name of a trial game for display."""
    if name == ITSELF:
        return "with itself"
    return f"as player {int(name.rpartition(' ')[2]) + 1}, beside random agents"
