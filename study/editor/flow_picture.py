"""Describe a study's flow as boxes and branches, in the order in which participants see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from kitchen.words.english_text import counted_noun
from study.design.blueprint import Blueprint
from study.design.models import Study
from study.design.own_pages import (
    FIRST_ROUND,
    PREFIX,
    OwnPagePlan,
    compared_names,
    place_words,
    rule_words,
)
from study.design.page_and_item_order import (
    ITEM_PAGES,
    LAST,
    is_shown,
    own_page,
    pages_after_rounds,
    pages_before_round,
    pages_before_rounds,
)
from study.design.part_order import FIXED, parts_before_rounds, places_of_part
from study.design.part_rules import survey_rule
from study.design.parts_other_than_rounds import PARTS
from study.design.readiness_checks import readiness_problems
from study.design.session_breaks import break_words
from study.editor.own_page_form import PART_WORDS, page_places

MOST_NAMES = 6
"""Maximum number of conditions that a round's box names."""


@dataclass(frozen=True, slots=True)
class FlowProblem:
    """A problem of one box. `hinders` is True if the study must not begin before it is solved."""

    words: str
    hinders: bool = True


@dataclass(frozen=True, slots=True)
class FlowStep:
    """One box of the flow: a part, a page of the researchers, or a round."""

    words: str
    kind: str
    """`part`, `own` or `round`."""
    title: str = ""
    link: str = ""
    off: bool = False
    rule: str = ""
    """The people who see the box, in words. Empty if everybody does."""
    end: str = ""
    """The people who leave the study here, in words. Empty if nobody does."""
    pause: str = ""
    """The times of return from a break, in words. Empty if the box is no break."""
    names: tuple[str, ...] = ()
    """The conditions that are played in a round."""
    then: str = ""
    """The content that follows inside the box, such as the questions after a round."""
    then_link: str = ""
    """The address at which researchers write the rule of `then`."""
    then_rule: str = ""
    """The people who see `then`, in words. Empty if everybody does."""
    problems: tuple[FlowProblem, ...] = ()
    pk: int | None = None
    moves: tuple[str, ...] = ()
    """The places to which a part can be moved (`places_of_part`)."""
    up: str = ""
    """The place one step earlier. Empty if the part cannot be moved there."""
    down: str = ""
    fixed: str = ""
    """Why a part has a fixed place."""
    part: str = ""
    """The name of a part."""
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


def _end_of_page(page: OwnPagePlan) -> str:
    """Return who leaves the study at a page that researchers wrote. Return an empty string if nobody does."""
    if page.not_after_hours is not None:
        return "Who does not come back in time leaves"
    return "Who sees this page is screened out" if page.ends else ""


class _StepMaker:
    """Makes the boxes of one study's flow."""

    def __init__(self, study: Study, design: Blueprint) -> None:
        self.study, self.design = study, design
        self.rows = dict(study.own_pages.values_list("key", "pk"))
        self.places = set(page_places(design))
        self.names = compared_names(design, "end")
        self.problems: dict[tuple[str, str], list[FlowProblem]] = {}
        for one in readiness_problems(study):
            if one.page in {"own-page", "part"} and one.args:
                words = one.words.partition("”: ")[2] if one.page == "own-page" else one.words
                found = self.problems.setdefault((one.page, str(one.args[0])), [])
                found.append(FlowProblem(words, one.hinders))

    def step(self, page: str) -> FlowStep:
        """Return the box of a page outside the rounds."""
        own = own_page(self.design, page) if page.startswith(PREFIX) else None
        if own is None:
            return self.part(page)
        pk, asked = self.rows[own.key], len(self.design.items_at(page))
        return FlowStep(
            words="Own page",
            kind="own",
            title=own.title,
            link=reverse("study:staff-design-own-page", args=[self.study.slug, pk]),
            end=_end_of_page(own),
            pause=break_words(own),
            rule=rule_words(own, self.names),
            then=counted_noun(asked, "question") if asked else "",
            problems=tuple(self.problems.get(("own-page", str(pk)), ())),
            pk=pk,
        )

    def part(self, kind: str) -> FlowStep:
        """Return the box of a part."""
        part = self.design.part(kind)
        off = kind not in {"welcome", LAST} and not is_shown(self.design, kind)
        asked = len(self.design.items_at(kind)) if kind in ITEM_PAGES else 0
        return FlowStep(
            words=PARTS[kind].words.capitalize(),
            kind="part",
            title=part.title,
            link=reverse("study:staff-design-part", args=[self.study.slug, kind]),
            off=off,
            rule="" if off else rule_words(part, self.names),
            end="" if off else self._end(kind),
            then=counted_noun(asked, "question") if asked else "",
            problems=tuple(self.problems.get(("part", kind), ())),
            part=kind,
            fixed=FIXED.get(kind, ""),
            **self._place(kind),
            **self._moves(kind),
        )

    def _moves(self, kind: str) -> dict[str, Any]:
        """Return the places to which a part can be moved, and its next ones up and down."""
        moves = tuple(places_of_part(self.design, kind))
        if not moves:
            return {}
        order = [*parts_before_rounds(self.design), FIRST_ROUND]
        here = order.index(kind)
        up, down = order[here - 1], order[min(here + 2, len(order) - 1)]
        return {"moves": moves, "up": up if up in moves else "", "down": down if down in moves else ""}

    def _end(self, kind: str) -> str:
        """Return who leaves the study at this part. Return an empty string if nobody does."""
        if kind == "consent":
            return "People who do not agree leave"
        if kind == "check" and self.design.part(kind).settings.get("on_failure") == "end":
            return "People who fail the last attempt leave"
        if kind == "about" and self.design.groups and self.design.allocation.items:
            return "People who find no open group leave"
        return ""

    def round(self, number: int) -> FlowStep:
        """Return the box of a round."""
        asked, names = len(self.design.items_at("survey")), [one.name for one in self.design.conditions]
        survey = survey_rule(self.design)
        more = [f"{len(names) - MOST_NAMES} more"] if len(names) > MOST_NAMES else []
        return FlowStep(
            words=f"Round {number}",
            kind="round",
            title="an episode in one of these conditions" if len(names) > 1 else "an episode",
            names=(*names[:MOST_NAMES], *more),
            then=counted_noun(asked, "question") if asked else "no questions",
            then_link=reverse("study:staff-design-survey-rule", args=[self.study.slug]),
            then_rule=rule_words(survey, self.names) if survey else "",
            **self._place(FIRST_ROUND if number == 1 else f"round-{number}"),
        )

    def _place(self, place: str) -> dict[str, Any]:
        words = place_words(place, PART_WORDS)
        return {"place": place, "place_words": words} if place in self.places else {}
