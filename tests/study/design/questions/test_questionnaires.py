"""Questionnaires as data: those shipped, and what a wrong file is told."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from study.design.demo_study_files import DEMO_FILE
from study.design.models import SurveyItem
from study.design.questions.questionnaires import (
    DataError,
    Instrument,
    instrument,
    instruments,
    parse_instrument,
)

HEAD = 'title = "Test"\nsource = "Us"\nterms = "Free"\n'


def parse(*items: str, head: str = HEAD) -> Instrument:
    return parse_instrument(head + "".join(f"[[items]]\n{item}\n" for item in items), "test.toml")


def item(more: str = "", key: str = "a") -> str:
    return f'key = "{key}"\nmeasure = "Measure {key}"\ntext = "Well?"\n{more}'


def test_items_for_every_place_are_shipped_the_papers_measures_nasa_tlx_and_sus_among_them() -> None:
    assert [(one.code, one.place, len(one.items)) for one in instruments()] == [
        ("collab_overcooked_check", "check", 3),
        ("comparison", "final", 3),
        ("cuisine_check", "check", 4),
        ("mindagent", "survey", 7),
        ("nasa_tlx", "survey", 6),
        ("overcooked_check", "check", 3),
        ("person", "about", 3),
        ("sus", "survey", 10),
    ]
    assert all(one.source and one.terms for one in instruments())


def test_no_two_shipped_items_share_a_key_or_a_measure_so_a_study_can_have_all() -> None:
    items = [item for one in instruments() for item in one.items]
    assert len({item.key for item in items}) == len({item.measure for item in items}) == len(items) == 39


def test_the_papers_measures_are_those_of_the_demo_study() -> None:
    demo = tomllib.loads(DEMO_FILE.read_text(encoding="utf-8"))["items"]
    assert [(i.key, i.measure, i.text) for i in instrument("mindagent").items] == [
        (row["key"], row["measure"], row["text"]) for row in demo if row.get("place", "survey") == "survey"
    ]
    assert {(i.points, i.low, i.high) for i in instrument("mindagent").items} == {
        (5, "Strongly disagree", "Strongly agree")
    }


def test_nasa_tlx_has_six_numbers_of_21_steps_none_reversed() -> None:
    tlx = instrument("nasa_tlx")
    assert {(i.kind, i.minimum, i.maximum, i.step) for i in tlx.items} == {("number", 0, 100, 5)}
    assert not any(i.reversed for i in tlx.items)
    assert tlx.scales == ("Workload (raw TLX)",)
    assert (tlx.items[3].low, tlx.items[3].high) == ("Perfect", "Failure")


def test_every_even_item_of_the_sus_is_reversed() -> None:
    sus = instrument("sus")
    assert [i.reversed for i in sus.items] == [False, True] * 5
    assert (sus.score, sus.scales) == ("sus", ("System usability (SUS)",))


def test_an_item_needs_no_more_than_key_measure_and_text() -> None:
    found = parse(item()).items[0]
    assert (found.kind, found.points, found.high, found.required) == ("likert", 5, "Strongly agree", True)
    assert (found.scale, found.reversed, found.correct) == ("", False, None)


def test_every_kind_can_be_read_with_its_right_answer() -> None:
    found = parse(
        item("points = 7\ncorrect = 2", "a"),
        item('kind = "single"\noptions = ["x", "y"]\ncorrect = "y"', "b"),
        item('kind = "multiple"\noptions = ["x", "y", "z"]\ncorrect = ["x", "z"]', "c"),
        item('kind = "number"\nminimum = 0.5\nmaximum = 2.0\nstep = 0.1\ncorrect = 1.7', "d"),
        item('kind = "text"\ncorrect = "blue"', "e"),
    ).items
    assert [one.correct for one in found] == [2, "y", ["x", "z"], 1.7, "blue"]
    assert [one.low for one in found] == ["Strongly disagree", "", "", "", ""]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("colour = 3", r"items\[1\]\.colour: unknown key; there are key, kind, measure"),
        (
            'kind = "wheel"',
            r"items\[1\]\.kind: 'wheel' is not one of likert, single, multiple, number, slider, ranking",
        ),
        ("points = 2", r"items\[1\]\.points: A whole number from 3 to 11"),
        ("points = 12", r"items\[1\]\.points: A whole number from 3 to 11"),
        ('points = "5"', r"items\[1\]\.points: must be a whole number"),
        ("reversed = 1", r"items\[1\]\.reversed: must be true or false"),
        ('options = ["x", "y"]', r"items\[1\]\.options: means nothing for the kind likert"),
        ('kind = "text"\npoints = 5', r"items\[1\]\.points: means nothing for the kind text"),
        ('kind = "text"\nreversed = true', r"items\[1\]\.reversed: means nothing"),
        ('kind = "single"', r"items\[1\]\.options: At least two"),
        ('kind = "single"\noptions = ["x"]', r"items\[1\]\.options: At least two"),
        ('kind = "multiple"\noptions = ["x"]', r"items\[1\]\.options: At least two"),
        (f'kind = "single"\noptions = ["x", "{"y" * 201}"]', r"items\[1\]\.options: An option is too long"),
        (f'low = "{"y" * 61}"', r"items\[1\]\.low: has more than 60 characters"),
        (f'scale = "{"y" * 41}"', r"items\[1\]\.scale: has more than 40 characters"),
        (
            'kind = "single"\noptions = ["x", "x"]',
            r"items\[1\]\.options: At least two, all of them",
        ),
        ('low = ""', r"items\[1\]\.low: must be a text that is not empty"),
        ('kind = "text"\ncorrect = " "', r"items\[1\]\.correct: must be a text that is not empty"),
        ('kind = "number"\nminimum = "0"', r"items\[1\]\.minimum: must be a number"),
        ('kind = "number"\nmaximum = nan', r"items\[1\]\.maximum: must be a number"),
        ('kind = "number"\nstep = 0', r"items\[1\]\.step: It must be above 0"),
        ('kind = "number"\nminimum = 5\nmaximum = 5', r"items\[1\]\.maximum: It must be above the minimum"),
        ('kind = "number"\nminimum = 0\nmaximum = 10\nstep = 3', r"items\[1\]\.step: The steps do not lead"),
        (
            'kind = "number"\nreversed = true',
            r"items\[1\]\.minimum: A number that is reversed.*needs minimum",
        ),
        (
            "correct = 2\nrequired = false",
            r"items\[1\]\.required: A question with a correct answer must be answered",
        ),
        ("correct = 6", r"items\[1\]\.correct: Choose a point from 1 to 5"),
        ("correct = 2.5", r"items\[1\]\.correct: Choose a point from 1 to 5"),
        ("correct = true", r"items\[1\]\.correct: Choose a point from 1 to 5"),
        (
            'kind = "single"\noptions = ["x", "y"]\ncorrect = "z"',
            r"items\[1\]\.correct: Choose one of the options",
        ),
        (
            'kind = "multiple"\noptions = ["x", "z"]\ncorrect = ["y"]',
            r"items\[1\]\.correct: Choose one of the options",
        ),
        (
            'kind = "number"\nminimum = 0\nmaximum = 10\nstep = 5\ncorrect = 7',
            r"items\[1\]\.correct: Give a number in steps of 5",
        ),
        ('scale = "S"\ncorrect = 2', r"items\[1\]\.scale: A question with a correct answer cannot belong"),
    ],
)
def test_a_wrong_item_is_refused_with_file_key_and_reason(wrong: str, words: str) -> None:
    with pytest.raises(DataError, match=r"^test\.toml: " + words):
        parse(item(wrong))


@pytest.mark.parametrize(
    ("place", "more", "good"),
    [
        ("survey", {"points": 3}, True),
        ("survey", {"points": 2}, False),
        ("survey", {"points": 11, "scale": "S", "reversed": True}, True),
        ("survey", {"points": 12}, False),
        ("survey", {"kind": "single", "options": ["x", "y"], "correct": "y"}, True),
        ("survey", {"kind": "single", "options": ["x"]}, False),
        ("survey", {"kind": "multiple", "options": ["x", "y"], "correct": ["y"]}, True),
        ("survey", {"kind": "multiple", "options": ["x"]}, False),
        ("survey", {"kind": "number", "minimum": 0.0, "maximum": 1.0, "step": 0.1, "correct": 0.3}, True),
        ("survey", {"kind": "number", "minimum": 0.0, "step": 0.1, "correct": 0.30000000001}, True),
        ("survey", {"kind": "number", "minimum": 0.0, "step": 0.1, "correct": 0.301}, False),
        ("survey", {"kind": "number", "minimum": 0.0, "maximum": 10.0, "step": 3.0}, False),
        ("survey", {"kind": "number", "minimum": 1.0, "maximum": 9.0, "scale": "S"}, True),
        ("survey", {"kind": "number", "maximum": 9.0, "scale": "S"}, False),
        ("survey", {"scale": "S", "correct": 3}, False),
        ("survey", {"required": False, "correct": 3}, False),
        ("survey", {"text": "w" * 300}, True),
        ("survey", {"text": "w" * 301}, False),
        ("survey", {"measure": "w" * 81}, False),
        ("survey", {"key": "w" * 51}, False),
        ("check", {"correct": 3}, True),
        ("check", {}, False),
        ("final", {"kind": "team"}, True),
        ("about", {"kind": "team"}, False),
    ],
)
def test_a_file_and_the_editor_take_the_same_items(place: str, more: dict[str, Any], good: bool) -> None:
    row = {"key": "a", "measure": "A", "text": "Well?", **more}
    asked = SurveyItem(place=place, **row)
    words = "\n".join(f"{name} = {json.dumps(value)}" for name, value in row.items())
    text = f'{HEAD}place = "{place}"\n[[items]]\n{words}'
    if good:
        asked.full_clean(exclude=["study"])
        parse_instrument(text, "test.toml")
    else:
        with pytest.raises(ValidationError):
            asked.full_clean(exclude=["study"])
        with pytest.raises(DataError):
            parse_instrument(text, "test.toml")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("title = ", "not TOML"),
        ('title = "T"\nterms = "Free"\n[[items]]\n' + item(), "source: is missing"),
        (HEAD, "items: is missing"),
        (HEAD + "items = [3]", r"items\[1\]: must be a table"),
        (HEAD + 'score = "median"\n[[items]]\n' + item(), "score: 'median' is not one of mean, sus"),
        (HEAD + "[[items]]\n" + item(key="success_rate"), r"items\[1\]\.key: Choose another key"),
        (HEAD + 'place = "lobby"\n[[items]]\n' + item(), "place: 'lobby' is not one of about, check, survey"),
        (HEAD + "[[items]]\n" + item('kind = "team"'), r"items\[1\]\.kind: Teams can be compared at the end"),
        (HEAD + 'place = "check"\n[[items]]\n' + item(), r"items\[1\]\.correct: A comprehension question"),
        (HEAD + "[[items]]\n" + item(key="b c"), r"items\[1\]\.key: Begin with a letter"),
        (HEAD + f"[[items]]\n{item()}\n[[items]]\n{item()}", r"items\[2\]\.key: 'a' is the key of another"),
    ],
)
def test_a_wrong_file_is_refused_with_key_and_reason(text: str, words: str) -> None:
    with pytest.raises(DataError, match=r"^test\.toml: " + words):
        parse_instrument(text, "test.toml")


def test_two_items_of_one_measure_are_refused() -> None:
    with pytest.raises(DataError, match=r"items\[2\]\.measure: 'Measure a' is the measure of another"):
        parse(item(), item(key="b").replace("Measure b", "Measure a"))


def test_items_of_one_scale_must_share_a_range() -> None:
    five, seven = item('scale = "S"'), item('scale = "S"\npoints = 7', "b")
    with pytest.raises(DataError, match="items: scale 'S': its items do not share one range"):
        parse(five, seven)


def test_a_sus_without_ten_items_is_refused() -> None:
    with pytest.raises(DataError, match="the SUS has ten Likert items of five points"):
        parse(item('scale = "S"'), head=HEAD + 'score = "sus"\n')


def test_an_unknown_instrument_is_told_what_there_is() -> None:
    with pytest.raises(
        DataError, match="ueq: no such instrument; there are collab_overcooked_check, comparison"
    ):
        instrument("ueq")


def test_every_shipped_item_is_accepted_by_a_study() -> None:
    for one in instruments():
        for item in one.items:
            asked = SurveyItem(**item.model_dump())
            asked.full_clean(exclude=["study"])


def test_what_the_check_of_understanding_takes_for_right_is_among_its_options() -> None:
    assert all(item.correct in item.options for item in instrument("cuisine_check").items)
