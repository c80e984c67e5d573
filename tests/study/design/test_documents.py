"""Documents of designs, in every format there was: byte for byte what the programs of then wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kitchen.contract.data_files import DataError
from study.design.blueprint import FORMAT, Blueprint, blueprint_of
from study.design.models import Condition, Outcome, Study, StudyPart, SurveyItem
from study.participation.round_planning import episode_settings

pytestmark = pytest.mark.django_db

DATA = Path(__file__).parents[1] / "data"
FORMATS = range(1, FORMAT + 1)
DIGESTS = {
    1: "73dc89e9de7b7a06be63edd65aba02ada90f88b1b7168df70d826e34fad8f846",
    2: "4cc02ae9cd5f184b6bae60e1c17a52d39d26a173c4170758e5f45be028bad052",
    3: "38964e13558b6ea266dcfa541ef8b5dc8d22fd828f98958032fb5c9259ee3291",
    4: "406ddd2234d2bea017ff0d58c7b4900ef5bf264081b229da9d4c2b7f8bf5aae1",
    5: "cc96f0ba5affbd45b218cba0c1df6c020548fbc4751fc70a535f7ee7b637fe55",
    6: "0cb751ceddf520b9dda51bc11c6adff12f1bfb05775a76523ccb1a89fa3ea8a8",
    7: "b7560ffed7d15c9c0c20d2b85b9e8c0025067e7e07a7f93cace0423604e113b3",
    8: "c82ad099fe5268a3ff550b63525031776b45a7a2c60ebc3be628e76b66700b03",
    9: "7a9492d463c7baa518a0ce3ad986267e6730d221af917e5d2ecc58aed60cd5c4",
    10: "13de91005d7b546a4f7c7de3f08c4b4afbac498f007dc112a84cfaac7308e87e",
    11: "5c85263f5a6e9ce3d44e73ceb468b50afa3b7550da08df809f21bda128424e2e",
    12: "a4606d38cc25360b5448f0064caab5046ba522125a04d5ea3b4e8503bc27dd99",
    13: "beea6c5b006391d6bfce4320e3e914c34f193088595789ea37fe8118d5cb8722",
    14: "f52aef393478538499aa612913316326b31cb287a662859fe9bb5e0b8b347df1",
    15: "31d4786a30ad8f336510f765d8728fccb8e94512cec3b33c5bb3de5b3a084dfe",
    16: "28d4bf76d447515dc08b96087b43f57e7d298de5a7efa829a58156501705c4d1",
}
ITEMS: list[dict[str, Any]] = [
    {"key": "trust", "scale": "Team", "reversed": True, "needs_teammates": True, "table": "Your team"},
    {
        "key": "ease",
        "points": 7,
        "low": "",
        "high": "Füllig",
        "scale": "Team",
        "required": False,
        "may_not_apply": True,
    },
    {"key": "colour", "kind": "single", "options": ["red", "“blue”"], "correct": "red"},
    {
        "key": "tools",
        "kind": "multiple",
        "options": ["pot", "pan", "oven"],
        "correct": ["pan", "pot"],
        "shuffled": True,
    },
    {"key": "load", "kind": "number", "minimum": 0, "maximum": 100, "step": 5, "low": "Low", "high": "High"},
    {"key": "weight", "kind": "number", "minimum": 0.5, "step": 0.1, "correct": 1.7, "place": "check"},
    {"key": "age", "kind": "number", "place": "about", "required": False, "unit": "years"},
    {"key": "words", "kind": "text", "place": "final", "required": False},
    {"key": "team", "kind": "team", "place": "final"},
    {"key": "gone", "enabled": False},
]


FACTORS = [
    {
        "key": "team",
        "name": "Team",
        "between": False,
        "levels": [
            {"key": "alone", "name": "Alone", "sets": {"teammates": 0}},
            {"key": "pair", "name": "Pair", "sets": {"teammates": 2}},
        ],
    }
]


LIKERT = {"key": "q1", "kind": "likert", "text": "I trust it.", "low": "no", "high": "yes", "points": 7}
PROBES = [{"key": "trust", "every_steps": 2, "limit_seconds": 30, "items": [LIKERT]}]
SLIDER = {"text": "Trust", "low": "none", "high": "full"}
PLAYED_WELL = {
    "match": "all",
    "rules": [{"what": "figure:completed", "compares": "at_least", "value": "2"}],
}


@pytest.fixture
def study() -> Study:
    """One with something of everything."""
    study = Study.objects.create(
        slug="whole", title="Wholly “set”", seed=7, orders="fixed", shuffle_items=True, thinking_seconds=1.5,
        shown="tables", idle_minutes=None, planned_participants=24, hypotheses="*H1*",
        failed_checks_allowed=1, factors=FACTORS, measure_roles={"completed": "primary"},
        part_order="practice guide check about", survey_show_if=PLAYED_WELL,
        max_round_trip_ms=150, bonus_rule={"currency": "GBP", "most": "2", "right": {"each": "0.05"}},
    )  # fmt: skip
    settings = {"beta": 2.5, "alpha": 2.0, "level": "level_1", "max_steps": 5}  # as PostgreSQL sorts them
    for position, teammates in enumerate((0, 2)):
        Condition.objects.create(
            study=study, key=f"c{position}", name=f"Condition {position}", label=f"Team {position}",
            position=position, settings=settings, teammates=teammates,
            coplayer="random" if teammates else "none", step_seconds=30 if teammates else None,
            passes_by=bool(teammates), offers_plans=bool(teammates), recommends_sound=bool(teammates),
            hides_dots=bool(teammates), lobby_practice_shared=bool(teammates),
            order_choices=bool(teammates), probes=PROBES if teammates else [],
            rating_slider=SLIDER if teammates else {},
            star_targets={"completed": [1, 2, 4]} if teammates else {},
            goal={"completed": 3} if teammates else {}, ends_at_goal=bool(teammates),
            levels={"team": "pair" if teammates else "alone"},
        )  # fmt: skip
    for position, item in enumerate(ITEMS):
        named = {"measure": item["key"].capitalize(), "text": f"{item['key']}?"}
        SurveyItem.objects.create(study=study, position=position, **named, **item)
    StudyPart.objects.create(study=study, kind="check", enabled=True, settings={"attempts": 3})
    StudyPart.objects.create(study=study, kind="consent", enabled=True, text="I *agree*.")
    Outcome.objects.create(study=study, kind="complete", code="C0FFEE", text="Thanks.")
    Outcome.objects.create(study=study, kind="timed_out", url="https://example.org/{code}")
    study.refresh_from_db()
    return study


def stored(number: int) -> str:
    """A document of this format."""
    return (DATA / f"design_format_{number}.json").read_text(encoding="utf-8")


def written(design: Blueprint) -> str:
    """A document as a file, with its keys in its own order."""
    return json.dumps(design.to_json(), indent=1, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("number", FORMATS)
def test_a_study_is_written_as_ever(study: Study, number: int) -> None:
    design = blueprint_of(study).in_format(number)
    assert written(design) == stored(number)
    assert design.digest == DIGESTS[number]


@pytest.mark.parametrize(
    ("number", "chosen", "most"), [(10, {}, 3), (11, {}, 4), (10, {"messages_a_step": 9}, 9)]
)
def test_the_limit_of_messages_stays_as_it_was_when_the_design_was_frozen(
    study: Study, number: int, chosen: dict[str, Any], most: int
) -> None:
    organisation = {"kind": "tree", "settings": chosen}
    study.conditions.filter(teammates=2).update(coplayer="follower", teammates=4, organisation=organisation)
    design = Blueprint.from_json(blueprint_of(study).in_format(number).to_json())
    made = episode_settings(design, design.conditions[1])["organisation"]
    assert made.messages_a_step == most, "a leader of four"


@pytest.mark.parametrize("number", FORMATS)
def test_a_stored_document_is_read_and_written_the_same(number: int) -> None:
    design = Blueprint.from_json(json.loads(stored(number)))
    assert written(design) == stored(number)
    assert design.digest == DIGESTS[number]


def test_what_is_read_is_what_was_written(study: Study) -> None:
    design = blueprint_of(study)
    assert Blueprint.from_json(design.to_json()) == design


def test_whole_numbers_stay_whole_and_keys_of_a_later_program_are_left_alone() -> None:
    document = json.loads(stored(FORMAT))
    document["items"][4] |= {"minimum": 0, "maximum": 100, "later": 1}
    document["conditions"][1]["step_seconds"] = 30
    design = Blueprint.from_json(document)
    assert [json.dumps(getattr(design.items[4], name)) for name in ("minimum", "step")] == ["0", "5.0"]
    assert json.dumps(design.conditions[1].step_seconds) == "30"
    assert "later" not in design.to_json()["items"][4]


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (lambda it: it.pop("format"), "format: is missing"),
        (lambda it: it.pop("conditions"), "conditions: is missing"),
        (lambda it: it["items"][2].pop("points"), r"items\[3\].points: is missing"),
        (
            lambda it: it["items"][2].pop("needs_teammates"),
            r"items\[3\].needs_teammates: is missing",
        ),
        (
            lambda it: it["items"][2].update(points="5"),
            r"items\[3\].points: must be a whole number",
        ),
        (lambda it: it["parts"][0].update(enabled=1), r"parts\[1\].enabled: must be true or false"),
    ],
)
def test_what_no_program_can_have_written_is_refused(spoil: Any, complaint: str) -> None:
    document = json.loads(stored(FORMAT))
    spoil(document)
    with pytest.raises(DataError, match=f"^design: {complaint}"):
        Blueprint.from_json(document)
