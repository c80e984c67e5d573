"""Find what uses a policy file, and offer policy files in the form of a condition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import forms

from kitchen.agents.policy.agent import FILE
from kitchen.agents.policy.policy_folder import PolicyFile, named_digests
from kitchen.experiments.models import Experiment
from kitchen.play.policies.models import UploadedPolicy
from kitchen.play.policies.policy_storage import KIND, policies_on_this_machine, why_kept
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.words.english_text import counted_noun
from study.design.models import Condition, Version

FIELD_END = f"__{KIND}__{FILE}"
"""The end of the names of form fields with a policy file."""


def why_used(policy: UploadedPolicy) -> str:
    """Return why the file cannot be deleted, as a sentence; empty if nothing uses it."""
    if why := why_kept(policy):
        return why
    for count, noun in _uses(policy.sha256):
        if count:
            return f"{counted_noun(count, noun)} {'names' if count == 1 else 'name'} it."
    return ""


def _uses(digest: str) -> Iterator[tuple[int, str]]:
    """Yield (number, noun) of the designs and experiments that name the file with this hash."""
    conditions = Condition.objects.values_list("coplayer_settings", "organisation")
    yield sum(digest in {*named_digests(list(row))} for row in conditions), "condition"
    versions = Version.objects.values_list("document", flat=True)
    yield sum(digest in {*named_digests(document)} for document in versions), "version of a study"
    setups = Experiment.objects.values_list("setup", flat=True)
    yield sum(digest in {*named_digests(setup)} for setup in setups), "experiment"


def file_choices(world: str, stored: str = "") -> list[tuple[str, str]]:
    """Return the (reference, label) options of the select with the files that fit this world. The `stored`
    one stays in the list."""
    found = [one for one in policies_on_this_machine() if _fits(one, world) or one.reference == stored]
    choices = [("", "Choose a file"), *((one.reference, file_label(one)) for one in found)]
    return choices if stored in dict(choices) else [*choices, (stored, f"{stored} (not here)")]


def _fits(policy: PolicyFile, world: str) -> bool:
    try:
        return policy.encoding(world) is not None
    except UnknownNameError:
        return False


def file_label(policy: PolicyFile) -> str:
    """Return a policy file for display: its name, what it was trained on, and the beginning of its hash."""
    trained = f", {policy.card.trained_on}" if policy.card.trained_on else ""
    return f"{policy.name} ({policy.card.encoding}{trained}; {policy.sha256[:8]})"


def use_file_selects(form: Any, world: str) -> None:
    """Let the form show each policy file as a select where the co-player `policy` is chosen."""
    for name in [one for one in form.fields if one.endswith(FIELD_END)]:
        part = name.removesuffix(FIELD_END)
        if form[part].value() == KIND:
            choices = file_choices(world, str(form[name].value() or ""))
            form.fields[name].widget = forms.Select(choices=choices)
