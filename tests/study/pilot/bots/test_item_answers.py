"""What synthetic participants fill in: it fits every kind of item, and is right or wrong as wanted."""

from __future__ import annotations

from typing import Any

import pytest

from kitchen.contract.world import Json
from study.design.questions.item_fields import DOES_NOT_APPLY, ItemPlan
from study.design.questions.item_kinds import is_right
from study.participation.item_forms import ItemsForm, TeamReminder
from study.pilot.bots.http_browser import PatienceLimit, Sent, WalkedPage, WalkError, read_page
from study.pilot.bots.simulated_person import Experience, Person, item_answer
from study.pilot.bots.study_walkthrough import Walk
from study.pilot.bots.walk_plans import PlannedOutcome, WalkPlan

TEAMS = [TeamReminder("alone", "Team A"), TeamReminder("two", "Team B")]
UNUSED: Any = None
"""The browser, while nothing is sent."""
NO: dict[str, Any] = {
    "place": "final",
    "measure": "M",
    "text": "?",
    "points": 5,
    "low": "",
    "high": "",
    "scale": "",
    "reversed": False,
    "options": [],
    "minimum": None,
    "maximum": None,
    "step": None,
    "correct": None,
    "required": True,
}


def item(kind: str, **more: Any) -> ItemPlan:
    return ItemPlan(**{**NO, "key": "asked", "kind": kind, **more})


KINDS = [
    item("likert"),
    item("likert", points=11),
    item("likert", points=2, required=False),
    item("single", options=["yes", "no", "I do not know"]),
    item("single", options=["1", "2 < 3"]),
    item("multiple", options=['"a" & b', "c", "d"]),
    item("number"),
    item("number", minimum=18, maximum=99, step=1),
    item("number", minimum=0.1, maximum=0.5, step=0.1),
    item("number", minimum=-3.5, step=0.5),
    item("number", maximum=-5, step=2),
    item("number", minimum=0, maximum=100, step=10, low="Low", high="High"),
    item("slider", minimum=0, maximum=100),
    item("slider", minimum=-1, maximum=1, step=0.5, unit="points"),
    item("ranking", options=["b", "a", "c"]),
    item("best_worst", options=["b", "a", "c"], shuffled=True),
    item("date"),
    item("texts", options=["first", "second"]),
    item("text"),
    item("team"),
    item("single", options=["yes", "no"], may_not_apply=True),
    item("number", minimum=0, maximum=9, may_not_apply=True),
    item("team", may_not_apply=True),
]
RIGHT: list[tuple[ItemPlan, Json]] = [
    (item("likert"), 4),
    (item("single", options=["yes", "no"]), "no"),
    (item("multiple", options=["a", "b", "c"]), ["a", "c"]),
    (item("multiple", options=["a", "b"]), ["a", "b"]),
    (item("number", minimum=0, maximum=10), 0),
    (item("number", minimum=0, maximum=1, step=0.1), 0.3),
    (item("text"), "blue"),
]


def page_of(one: ItemPlan) -> WalkedPage:
    """The page that shows the item."""
    html = f'<form method="post">{ItemsForm(items=[one], teams=TEAMS).as_p()}</form>'
    return read_page(html, url="http://test/", status=200)


def taken(one: ItemPlan, answers: dict[str, Sent]) -> Json:
    """The answer as the page stores it; it must fit."""
    form = ItemsForm(items=[one], teams=TEAMS, data=_Sent(answers))
    assert form.is_valid(), (one, answers, form.errors)
    return form.values().get("asked")


class _Sent(dict[str, Sent]):
    """What was sent, as Django reads it."""

    def getlist(self, name: str) -> list[str]:
        found = self.get(name, [])
        return found if isinstance(found, list) else [found]


async def answered(one: ItemPlan, number: int, plan: WalkPlan) -> Json:
    """What is stored after the person with this number answered on the page."""
    walk, page = (
        Walk(Person(1, number), UNUSED, PatienceLimit(1), plan=plan, items={"asked": one}),
        page_of(one),
    )
    return taken(one, page.forms[0].filled(await walk.answers(page)))


@pytest.mark.parametrize("one", KINDS, ids=lambda one: one.kind)
async def test_every_kind_of_item_gets_an_answer_that_fits(one: ItemPlan) -> None:
    found = [await answered(one, number, WalkPlan()) for number in range(1, 30)]
    assert found[:9] == [await answered(one, number, WalkPlan()) for number in range(1, 10)]
    assert len({str(value) for value in found}) > 1
    assert DOES_NOT_APPLY not in found
    assert (None in found) == (not one.required)
    if one.kind != "team":
        assert found == [
            item_answer(one, Person(1, number), WalkPlan(), Experience(), episode=0)
            for number in range(1, 30)
        ]


@pytest.mark.parametrize("place", ["survey", "check"])
@pytest.mark.parametrize(("one", "right"), RIGHT, ids=lambda one: str(one)[:10])
async def test_items_with_a_right_answer_are_answered_as_planned(
    one: ItemPlan, right: Json, place: str
) -> None:
    asked = item(**{**one.__dict__, "correct": right, "place": place})
    fails = WalkPlan(PlannedOutcome.FAIL) if place == "check" else WalkPlan(careless=1.0)
    for number in range(1, 10):
        assert is_right(asked, await answered(asked, number, WalkPlan())) is True
        assert is_right(asked, await answered(asked, number, fails)) is False


async def test_an_item_that_turns_scores_around_is_answered_the_other_way() -> None:
    great, one = Experience(success=1.0, output=1.0), item("likert", points=7)
    turned = item("likert", points=7, reversed=True)
    for number in range(1, 10):
        answers = [
            item_answer(each, Person(1, number), WalkPlan(), great, episode=1) for each in (one, turned)
        ]
        assert sum(answers) == 8


async def test_an_item_that_the_design_does_not_have_ends_the_walk() -> None:
    with pytest.raises(WalkError, match="the design has no item item_asked"):
        await Walk(Person(1, 1), UNUSED, PatienceLimit(1)).answers(page_of(KINDS[0]))
