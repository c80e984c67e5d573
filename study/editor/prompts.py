"""What the language models of a condition are told, for researchers to read before people come."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from kitchen.contract.world import WorldError
from kitchen.forms.setting_fields import readable
from kitchen.registry.names import UnknownNameError
from kitchen.words.counting import and_list
from study.design.models import Condition, Study
from study.planning.prompts import asking, counted, steps_of, whole_prompt
from study.researchers.frame import form_page
from study.researchers.permissions import FORM, study_page


class WhichPrompt(forms.Form):
    """Which co-player, at which step."""

    def __init__(self, condition: Condition, sent: Any) -> None:
        """SettingsError or UnknownNameError for a condition that cannot be played."""
        minds, most = asking(condition), steps_of(condition)
        usual = {"player": next(iter(minds), ""), "step": 1}
        super().__init__({name: sent.get(name, first) for name, first in usual.items()})
        named = [(number, _name(plan.seats, plan.kind)) for number, (plan, _) in minds.items()]
        self.fields["player"] = forms.TypedChoiceField(label="Co-player", choices=named, coerce=int)
        self.fields["step"] = forms.IntegerField(
            label="Step", min_value=1, max_value=most, help_text=f"From 1 to {most}."
        )
        self.asks = bool(minds)


def _name(seats: tuple[int, ...], kind: str) -> str:
    players = and_list([str(seat + 1) for seat in seats])
    return f"{readable(kind)}, player{'s' if len(seats) > 1 else ''} {players}"


@study_page("edit", FORM)
def condition_prompt(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """The whole prompt of any step; what is sent asks the provider to count it, too."""
    row = get_object_or_404(study.conditions, pk=pk)
    try:
        form = WhichPrompt(row, request.POST or request.GET)
        shown = _shown(row, form) if form.asks else {}
    except (WorldError, UnknownNameError) as error:
        return _page(request, study, forms.Form(), condition=row, problem=error.args[0])
    if request.method == "POST" and "prompt" in shown:
        shown["counted"] = counted(shown["prompt"])
    return _page(request, study, form if form.asks else forms.Form(), condition=row, **shown)


def _page(request: HttpRequest, study: Study, form: forms.Form, **shown: Any) -> HttpResponse:
    heading = f"What the model is told: “{shown['condition'].name}”"
    return form_page(request, study, form, heading=heading, template="study/editor/prompt.html", **shown)


def _shown(row: Condition, form: WhichPrompt) -> dict[str, Any]:
    if not form.is_valid():
        return {"which": True}
    step = form.cleaned_data["step"]
    prompt = whole_prompt(row, form.cleaned_data["player"], step)
    return {"which": True, "prompt": prompt, "asked_for": step}
