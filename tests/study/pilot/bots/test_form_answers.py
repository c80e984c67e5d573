"""What synthetic participants fill in: it fits every kind of item, and is right or wrong as wanted."""

from __future__ import annotations

from typing import Any

import pytest

from kitchen.contract.world import Json
from study.design.questions.item_fields import ItemPlan
from study.design.questions.item_kinds import is_right
from study.participation.item_forms import ItemsForm, TeamReminder
from study.pilot.bots.form_answers import answers_to
from study.pilot.bots.http_browser import Form, Sent, read_page
from study.pilot.bots.simulated_person import Experience, Person

TEAMS = [TeamReminder("alone", "Team A"), TeamReminder("two", "Team B")]
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
    item("text"),
    item("team"),
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


def form_of(one: ItemPlan) -> Form:
    """The item as a page shows it."""
    html = f'<form method="post">{ItemsForm(items=[one], teams=TEAMS).as_p()}</form>'
    return read_page(html, url="http://test/", status=200).forms[0]


def taken(one: ItemPlan, answers: dict[str, Sent]) -> Json:
    """The answer as the page stores it; it must fit."""
    form = ItemsForm(items=[one], teams=TEAMS, data=_Sent(answers))
    assert form.is_valid(), (one, answers, form.errors)
    return form.values()["asked"]


class _Sent(dict[str, Sent]):
    """What was sent, as Django reads it."""

    def getlist(self, name: str) -> list[str]:
        found = self.get(name, [])
        return found if isinstance(found, list) else [found]


def answered(one: ItemPlan, number: int, *, right: dict[str, Json], fails: bool = False) -> Json:
    form = form_of(one)
    answers = answers_to(
        form, Person(1, number), Experience(success=0.6), episode=1, right=right, fails=lambda key: fails
    )
    return taken(one, form.filled(answers))


@pytest.mark.parametrize("one", KINDS, ids=lambda one: one.kind)
def test_every_kind_of_item_gets_an_answer_that_fits(one: ItemPlan) -> None:
    found = [answered(one, number, right={}) for number in range(1, 30)]
    assert found == [answered(one, number, right={}) for number in range(1, 30)]
    assert len({str(value) for value in found}) > 1


@pytest.mark.parametrize(("one", "right"), RIGHT, ids=lambda one: str(one)[:10])
def test_who_knows_what_is_right_says_so_and_who_is_to_fail_does_not(one: ItemPlan, right: Json) -> None:
    asked = item(**{**one.__dict__, "correct": right})
    for number in range(1, 10):
        assert is_right(asked, answered(asked, number, right={"asked": right})) is True
        assert is_right(asked, answered(asked, number, right={"asked": right}, fails=True)) is False
