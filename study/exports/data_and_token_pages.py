"""Serve the staff pages to download a study's data, manage API tokens, and read the API documentation."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from kitchen.registry.dotted_paths import UnknownNameError
from study.design.markdown_html import to_html
from study.design.models import Study
from study.exports.column_levels import study_codes, with_levels
from study.exports.dataset_descriptions import LICENCES
from study.exports.deidentify import CopyOptions
from study.exports.export_api import api
from study.exports.export_files import file_response
from study.exports.export_registry import documents, tables
from study.exports.export_table import KINDS, OUTAGES, ExportSelection
from study.exports.publication_package import LEAST_K, MOST_K, PackageOptions
from study.exports.tables.played_episodes import touched_count
from study.participants.participant_counts import study_counts
from study.participants.sound_recordings import SoundTake
from study.researchers.api_tokens import token_make, token_revoke
from study.researchers.form_and_button_pages import CONFIRM_FIELD, NOT_CONFIRMED
from study.researchers.models import SecurityEvent
from study.researchers.permissions import FORM_METHODS, staff_page, studies_for, study_page
from study.researchers.reauthenticate import requires_password
from study.researchers.security_events import log_security_event

CHOSEN = "chosen"
"""The name in the address of the data page that says that the user has chosen whose data to leave out."""


@study_page("results")
def data(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the page with the study's export files. It says whose data the files contain, and explains
    every column. Previews are left out until the user chooses (`CHOSEN`)."""
    chosen, codes = _chosen(request), study_codes(study)
    if not chosen.left_out and CHOSEN not in request.GET:
        chosen = ExportSelection.without(["preview"])
    kinds, outages = _kinds(study, chosen), _outages(study, chosen)
    left = [f"{one['words']} ({one['count']})" for one in kinds if one["left_out"] and one["count"]]
    context = {
        "study": study,
        "files": [
            {"table": table, "columns": with_levels(table.columns_of(study), codes)} for table in tables()
        ],
        "documents": documents(),
        "has_sound": SoundTake.objects.filter(participant__study=study).exists(),
        "counts": study_counts(study),
        "rows": chosen.participants(study).count(),
        "kinds": kinds,
        "left": ", ".join([*left, *filter(None, [outages["said"]])]),
        "outages": outages,
        "publication": PublicationForm(),
        "without": chosen.left_out,
        "query": f"?{urlencode({'without': chosen.left_out}, doseq=True)}" if chosen.left_out else "",
    }
    return render(request, "study/exports/data.html", context)


@study_page("results")
def data_file(request: HttpRequest, study: Study, name: str) -> HttpResponseBase:
    """Send one export file as a download, and log the download. `file_response` lists the names. Unknown
    names are answered with 404."""
    try:
        answer = file_response(study, name, _chosen(request))
    except UnknownNameError as error:
        raise Http404(str(error)) from error
    kind = SecurityEvent.Kind.DATA_DOWNLOADED
    log_security_event(kind, user=request.user, study=study, what=name, request=request)
    return answer


class PublicationForm(forms.Form):
    """The form for a package to publish: whether the data are de-identified, and the licence."""

    identified = forms.ChoiceField(
        choices=[("", "A de-identified copy"), ("yes", "The data as they are")], required=False, label="Data"
    )
    k = forms.IntegerField(
        min_value=LEAST_K,
        max_value=MOST_K,
        initial=5,
        label="Least number of people who share an answer about themselves",
    )
    replays = forms.BooleanField(
        required=False, label="With seeds, so that everybody can replay the episodes"
    )
    licence = forms.ChoiceField(
        choices=[(key, one.name) for key, one in LICENCES.items()], initial="cc-by", label="Licence"
    )

    def options(self) -> PackageOptions:
        """Return what the package is to have."""
        given = self.cleaned_data
        copy = None if given["identified"] else CopyOptions(given["k"], given["replays"])
        return PackageOptions(copy, given["licence"])


@study_page("results")
def publication(request: HttpRequest, study: Study) -> HttpResponse:
    """Lead to the file that the form for a package to publish asks for."""
    form, query = PublicationForm(request.GET), urlencode({"without": _chosen(request).left_out}, doseq=True)
    if not form.is_valid():
        messages.error(request, f"Choose a number of people from {LEAST_K} to {MOST_K}, and a licence.")
        return redirect(f"{reverse('study:staff-data', args=[study.slug])}?{CHOSEN}=yes&{query}")
    return redirect(f"{reverse('study:data-file', args=[study.slug, form.options().file_name])}?{query}")


def _chosen(request: HttpRequest) -> ExportSelection:
    """Return the selection of data that the page's address asks for. Raises Http404 if the address names an
    unknown kind of data."""
    try:
        return ExportSelection.without(request.GET.getlist("without"))
    except ValueError as error:
        raise Http404(str(error)) from error


def _kinds(study: Study, chosen: ExportSelection) -> list[dict[str, Any]]:
    """Return the kinds of participants that the user can leave out of the export, with the number of
    participants of each kind."""
    everybody = ExportSelection().participants(study).count()
    return [
        {
            "name": name,
            "words": words,
            "count": everybody - ExportSelection.without([name]).participants(study).count(),
            "left_out": name in chosen.left_out,
        }
        for name, words in KINDS.items()
    ]


def _outages(study: Study, chosen: ExportSelection) -> dict[str, Any]:
    """Return the template context about data that outages affected. The user can leave these data out of
    the export."""
    count = touched_count(study, chosen)
    numbers = {"outage_steps": count.steps, "outage_episodes": count.episodes}
    return {
        "any": count.episodes,
        "said": count.left_out(chosen),
        "kinds": [
            {"name": name, "words": words, "count": numbers[name], "left_out": name in chosen.left_out}
            for name, words in OUTAGES.items()
        ],
    }


DAYS = {"30": "in 30 days", "90": "in 90 days", "365": "in a year"}


class TokenForm(forms.Form):
    """The form for a new API token: its purpose, the study that it may read, and its lifetime."""

    name = forms.CharField(
        max_length=80, label="What it is for", help_text="For example “script on my laptop”."
    )
    study: Any = forms.ModelChoiceField(
        queryset=None, required=False, label="What it opens", empty_label="All studies that I may see"
    )
    days = forms.ChoiceField(choices=list(DAYS.items()), label="It expires", initial="365")

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        opened: Any = self.fields["study"]
        opened.queryset = studies_for(user)
        self.user = user

    def clean_name(self) -> str:
        """Return the name. Raises ValidationError if another valid token of the user already has this
        name. So sending the form twice makes only one token."""
        name = str(self.cleaned_data["name"])
        if any(token.works for token in self.user.api_tokens.filter(name=name)):
            raise forms.ValidationError("You have a token of this name. Revoke it, or choose another.")
        return name


@staff_page(FORM_METHODS)
def tokens_page(request: HttpRequest) -> HttpResponseBase:
    """Show the user's API tokens, make a new one, or revoke one. A new token is shown only once, in the
    response to the form."""
    return _revoke(request) if "revoke" in request.POST else _tokens(request)


@requires_password
def _tokens(request: HttpRequest) -> HttpResponse:
    user: Any = request.user
    form, secret = TokenForm(request.POST or None, user=user), ""
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        expires_at = timezone.now() + timedelta(days=int(given["days"]))
        _, secret = token_make(user=user, name=given["name"], study=given["study"], expires_at=expires_at)
        form = TokenForm(user=user)
    context = {
        "form": form,
        "secret": secret,
        "tokens": user.api_tokens.select_related("study"),
        "studies_url": request.build_absolute_uri("/api/studies"),
    }
    return render(request, "study/exports/tokens.html", context, status=422 if form.errors else 200)


def _revoke(request: HttpRequest) -> HttpResponse:
    """Revoke the API token that the form names, if it is the user's own and the confirmation is ticked."""
    asked = request.POST["revoke"]
    if CONFIRM_FIELD not in request.POST:
        messages.error(request, NOT_CONFIRMED)
    elif asked.isascii() and asked.isdigit() and len(asked) < 19:
        token_revoke(user=request.user, token_id=int(asked))
    return redirect("study:tokens")


@require_GET
def api_page(request: HttpRequest) -> HttpResponse:
    """Show the documentation of the API, made from its OpenAPI schema."""
    schema = api.get_openapi_schema(path_prefix="/api/")
    operations = [
        {
            "method": method.upper(),
            "path": path,
            "anchor": operation["operationId"],
            **_operation(operation),
        }
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    ]
    context = {
        "info": schema["info"],
        "operations": operations,
        "schemas": _schemas(schema),
        "root": request.build_absolute_uri("/")[:-1],
        "openapi_url": reverse("api:openapi-json"),
    }
    return render(request, "study/exports/api.html", context)


def _operation(operation: dict[str, Any]) -> dict[str, Any]:
    answer = operation["responses"].get(200, {}).get("content", {}).get("application/json", {})
    return {
        "summary": operation["summary"],
        "description": to_html(operation.get("description", "")),
        "parameters": operation.get("parameters", []),
        "answer": _named(answer.get("schema", {})),
    }


def _named(schema: dict[str, Any]) -> str:
    """Return the name of a type in an OpenAPI schema as text, such as `list of string`."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if schema.get("type") == "array":
        return f"list of {_named(schema['items'])}"
    if "additionalProperties" in schema:
        return f"{_named(schema['additionalProperties'])} by name"
    return str(schema.get("type", ""))


def _schemas(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "description": to_html(one.get("description", "")),
            "fields": [(field, _named(kind)) for field, kind in one.get("properties", {}).items()],
        }
        for name, one in schema.get("components", {}).get("schemas", {}).items()
    ]
