"""Serve the page that shows the complete prompt that a condition's language model gets at a chosen step."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from kitchen.contract.world import WorldError
from kitchen.forms.setting_fields import readable_name
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.words.english_text import and_list
from study.design.models import Condition, Study
from study.planning.condition_prompt_preview import (
    describe_token_count,
    model_agents,
    shown_steps,
    whole_prompt,
)
from study.researchers.form_and_button_pages import (
    form_page,
)
from study.researchers.permissions import FORM_METHODS, study_page


class PromptForm(forms.Form):
    """A form to choose the co-player and the step whose prompt is shown."""

    def __init__(self, condition: Condition, sent: Any) -> None:
        """Build the fields.

        Raises SettingsError or UnknownNameError for a condition that cannot be played.
        """
        minds, most = model_agents(condition), shown_steps(condition)
        usual = {"player": next(iter(minds), ""), "step": 1}
        super().__init__({name: sent.get(name, first) for name, first in usual.items()})
        named = [(number, _name(plan.seats, plan.kind)) for number, (plan, _) in minds.items()]
        self.fields["player"] = forms.TypedChoiceField(label="Co-player", choices=named, coerce=int)
        self.fields["step"] = forms.IntegerField(
            label="Step", min_value=1, max_value=most, help_text=f"From 1 to {most}."
        )
        self.asks = bool(minds)


def _name(seats: tuple[int, ...], kind: str) -> str:
    if not seats:
        return f"{readable_name(kind)}, who leads"
    players = and_list([str(seat + 1) for seat in seats])
    return f"{readable_name(kind)}, player{'s' if len(seats) > 1 else ''} {players}"


@study_page("edit", FORM_METHODS)
def condition_prompt(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Show the complete prompt of one co-player at one step. On POST, also ask the provider to count its
    tokens."""
    row = get_object_or_404(study.conditions, pk=pk)
    try:
        form = PromptForm(row, request.POST or request.GET)
        shown = _prompt_shown(row, form) if form.asks else {}
    except (WorldError, UnknownNameError) as error:
        return _page(request, study, forms.Form(), condition=row, problem=error.args[0])
    if request.method == "POST" and "prompt" in shown:
        shown["counted"] = describe_token_count(shown["prompt"])
    return _page(request, study, form if form.asks else forms.Form(), condition=row, **shown)


def _page(request: HttpRequest, study: Study, form: forms.Form, **shown: Any) -> HttpResponse:
    heading = f"What the model is told: “{shown['condition'].name}”"
    return form_page(request, study, form, heading=heading, template="study/editor/prompt.html", **shown)


def _prompt_shown(row: Condition, form: PromptForm) -> dict[str, Any]:
    if not form.is_valid():
        return {"which": True}
    step = form.cleaned_data["step"]
    prompt = whole_prompt(row, form.cleaned_data["player"], step)
    return {"which": True, "prompt": prompt, "asked_for": step}
