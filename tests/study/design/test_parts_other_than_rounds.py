"""What the parts of a study may be set to."""

from __future__ import annotations

import pytest

from kitchen.contract.world import Json
from study.design.parts_other_than_rounds import PARTS, part_problems


def problem(kind: str, settings: Json) -> str:
    """What is said of these settings."""
    return part_problems(kind, "Some text.", True, settings).get("settings", "")


@pytest.mark.parametrize("kind", PARTS)
def test_the_usual_settings_of_a_part_may_be_set_wholly_or_in_part(kind: str) -> None:
    usual = PARTS[kind].settings
    assert [problem(kind, usual), *(problem(kind, {name: usual[name]}) for name in usual)] == [""] * (
        len(usual) + 1
    )


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("consent", {"statements": []}),
        ("consent", {"statements": ["I am 18.", "I agree."]}),
        ("check", {"attempts": 20, "on_failure": "continue"}),
        ("practice", {"kitchen": {}}),
        ("practice", {"kitchen": {"settings": {"level": "level_3"}}, "hints": False}),
        ("practice", {"kitchen": {"coplayer": "planner", "teammates": 2}}),
    ],
)
def test_what_fits_is_taken(kind: str, given: Json) -> None:
    assert problem(kind, given) == ""


@pytest.mark.parametrize(
    ("kind", "given", "said"),
    [
        ("guide", {"pages": 3}, "pages: unknown key; there are none"),
        ("check", {"attempt": 3}, "attempt: unknown key; there are attempts, on_failure"),
        ("check", {"attempts": 0}, "attempts: must be a whole number from 1 to 20, not 0"),
        ("check", {"attempts": 21}, "attempts: must be a whole number from 1 to 20, not 21"),
        ("check", {"attempts": True}, "attempts: must be a whole number from 1 to 20, not True"),
        ("check", {"on_failure": "cry"}, "on_failure: 'cry' is not one of end, continue"),
        ("check", [], "must be a table, not []"),
        ("consent", {"statements": "Yes."}, "statements: must be a list of texts, not 'Yes.'"),
        ("consent", {"statements": ["Yes.", " "]}, "statements: must be a list of texts, not ['Yes.', ' ']"),
        ("practice", {"hints": 1}, "hints: must be true or false, not 1"),
        ("practice", {"kitchen": 1}, "kitchen: must be a table, not 1"),
        ("practice", {"kitchen": {"teammates": "2"}}, "kitchen.teammates: must be a whole number, not '2'"),
        ("practice", {"kitchen": {"world": "moon"}}, "kitchen: "),
        ("practice", {"kitchen": {"settings": {"level": "level_99"}}}, "kitchen: level: 'level_99' is not"),
        ("practice", {"kitchen": {"teammates": 2}}, "kitchen: teammates: choose a co-player"),
        (
            "practice",
            {"kitchen": {"team": 2}},
            "kitchen.team: unknown key; there are world, settings, coplayer, coplayer_settings, teammates",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_key(kind: str, given: Json, said: str) -> None:
    assert problem(kind, given).startswith(said)
