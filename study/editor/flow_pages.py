"""Serve the page that shows a study's flow, and the pages on which researchers edit their own pages in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from study.design.blueprint import Blueprint, blueprint_of
from study.design.markdown_html import to_html
from study.design.models import OwnPage, Study
from study.design.own_page_checks import own_page_problems
from study.design.own_pages import FIRST_ROUND, PREFIX, known_names, place_words, rule_words
from study.design.page_and_item_order import (
    LAST,
    is_shown,
    own_page,
    pages_after_rounds,
    pages_before_round,
    pages_before_rounds,
)
from study.design.parts_other_than_rounds import PARTS
from study.editor.design_pages import CONDITION_ACTS, PREVIEW
from study.editor.media_pages import insert_context, staff_media
from study.editor.own_page_form import PART_WORDS, OwnPageForm, page_places, unused_key
from study.editor.own_page_services import own_page_copy, own_page_delete, own_page_move, own_page_save
from study.researchers.form_and_button_pages import (
    confirmed_service_button,
    form_page,
    service_button,
    study_context,
)
from study.researchers.permissions import FORM_METHODS, study_page


@dataclass(frozen=True, slots=True)
class FlowStep:
    """One box of the flow: a part, a page of the researchers, or a round."""

    words: str
    kind: str
    """`part`, `own`, `round` or `place`."""
    title: str = ""
    link: str = ""
    off: bool = False
    ends: bool = False
    rule: str = ""
    problems: tuple[str, ...] = ()
    pk: int | None = None
    place: str = ""
    """The place at which a page can be added before this step. Empty if there is none."""
    place_words: str = ""


def flow_steps(study: Study, design: Blueprint) -> list[FlowStep]:
    """Return the boxes of a study's flow, in the order in which participants see them."""
    maker = _StepMaker(study, design)
    steps = [maker.part("welcome")]
    steps += [maker.step(page) for page in pages_before_rounds(design)]
    for number in range(1, design.rounds + 1):
        steps += [maker.step(page) for page in pages_before_round(design, number)]
        steps.append(maker.round(number))
    steps += [maker.step(page) for page in pages_after_rounds(design)]
    return [*steps, maker.part(LAST)]


class _StepMaker:
    """Makes the boxes of one study's flow."""

    def __init__(self, study: Study, design: Blueprint) -> None:
        self.study, self.design = study, design
        self.rows = dict(study.own_pages.values_list("key", "pk"))
        self.places = set(page_places(design))
        self.names = known_names(design, "end")
        self.problems: dict[int, list[str]] = {}
        for one in own_page_problems(study, design):
            self.problems.setdefault(int(one.args[0]), []).append(one.words.partition("”: ")[2])

    def step(self, page: str) -> FlowStep:
        """Return the box of a page outside the rounds."""
        own = own_page(self.design, page) if page.startswith(PREFIX) else None
        if own is None:
            return self.part(page)
        pk = self.rows[own.key]
        return FlowStep(
            words="Own page",
            kind="own",
            title=own.title,
            link=reverse("study:staff-design-own-page", args=[self.study.slug, pk]),
            ends=own.ends,
            rule=rule_words(own, self.names),
            problems=tuple(self.problems.get(pk, ())),
            pk=pk,
        )

    def part(self, kind: str) -> FlowStep:
        """Return the box of a part."""
        part = self.design.part(kind)
        return FlowStep(
            words=PARTS[kind].words.capitalize(),
            kind="part",
            title=part.title,
            link=reverse("study:staff-design-part", args=[self.study.slug, kind]),
            off=kind not in {"welcome", LAST} and not is_shown(self.design, kind),
            **self._place(kind),
        )

    def round(self, number: int) -> FlowStep:
        """Return the box of a round."""
        asked = len(self.design.items_at("survey"))
        title = f"an episode, then {asked} question{'' if asked == 1 else 's'}"
        place = FIRST_ROUND if number == 1 else f"round-{number}"
        return FlowStep(words=f"Round {number}", kind="round", title=title, **self._place(place))

    def _place(self, place: str) -> dict[str, Any]:
        words = place_words(place, PART_WORDS)
        return {"place": place, "place_words": words} if place in self.places else {}


@study_page("copy")
def flow(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the study's flow from the link to the last page, with buttons to add, move, copy and delete own
    pages."""
    design = blueprint_of(study)
    context = {"steps": flow_steps(study, design), "acts": CONDITION_ACTS}
    return render(request, "study/editor/flow.html", study_context(study) | context)


@study_page("edit", FORM_METHODS)
def own_page_edit(request: HttpRequest, study: Study, pk: int | None = None) -> HttpResponse:
    """Show the form for a new or stored page (`pk`), or save it."""
    if pk:
        row = get_object_or_404(study.own_pages, pk=pk)
    else:
        row = OwnPage(study=study, before=request.GET.get("before", FIRST_ROUND))
        row.key = unused_key(row)
    form = OwnPageForm(request.POST or None, instance=row)
    if request.method == "POST" and form.is_valid() and PREVIEW not in request.POST:
        own_page_save(page=form.instance)
        return redirect("study:staff-design-flow", study.slug)
    text = request.POST.get("text", row.text)
    heading = f"Page “{row.title}”" if pk else "A new page"
    more: dict[str, Any] = {
        "shown": to_html(text, staff_media(study)),
        "previewed": PREVIEW in request.POST,
        "can_preview": True,
    }
    more |= insert_context(study)
    more["names"] = [
        ("{team}" if name == "condition" else f"{{{name}}}", words)
        for name, words in known_names(form.design, str(form["before"].value())).items()
        if name != "group"
    ]
    return form_page(request, study, form, heading=heading, template="study/editor/own_page.html", **more)


@study_page("edit", ("POST",))
def own_page_action(request: HttpRequest, study: Study, pk: int, act: str) -> HttpResponse:
    """Copy, move or delete a page."""
    row = get_object_or_404(study.own_pages, pk=pk)
    if act == "copy":
        own_page_copy(page=row)
        return redirect("study:staff-design-flow", study.slug)
    if act == "delete":
        words = f"{row.title} is deleted."
        return confirmed_service_button(
            request, study, lambda: own_page_delete(page=row), words, "design-flow"
        )
    by = -1 if act == "up" else 1
    words = f"{row.title} was moved {act}."
    return service_button(request, study, lambda: own_page_move(page=row, by=by), words, "design-flow")
