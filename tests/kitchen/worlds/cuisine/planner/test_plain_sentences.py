"""The planner reads plain sentences in three languages as the files in `sentences` say.

The speaker has robot 1. Each line of a file has a sentence, the situation, and what shall be understood: a
robot's number (`any`: none is named, `me`: the speaker), what to do, and with what.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kitchen.agents.plain_sentences.sentence_clauses import DOING, HELP, QUESTION, TALK, UNCLEAR
from kitchen.agents.plain_sentences.sentence_conditions import READY
from kitchen.contract.team_messages import TeamMessage
from kitchen.words.gettext_without_django import in_language
from kitchen.worlds.cuisine.display_text import KitchenWords
from kitchen.worlds.cuisine.level import shipped_catalogue
from kitchen.worlds.cuisine.planner.instruction_parser import (
    FIRST,
    LEAVE_ITEM,
    LEAVE_SERVING,
    LEAVE_TOOL,
    LEAVE_WISHES,
    TASKS,
    WHICH,
    OpenPoint,
    Wish,
    parse_message,
)
from kitchen.worlds.cuisine.planner.kitchen_sentences import spoken_names
from tests.function_calls import count_calls
from tests.kitchen.worlds.cuisine.cooking import kitchen

LANGUAGES = ("en", "es", "zh")
LEAST_SENTENCES = 200
SITUATIONS = {
    "sushi": ("level_3", ["salmonSushi", "tunaSushi"]),
    "salad": ("level_4", ["tomatoLettuceSalad", "tomatoSalad"]),
    "pasta": ("level_5", ["beefPasta", "tomatoPasta"]),
    "burger": ("level_9", ["cheeseBurger", "MaxJr"]),
}
"""The level and the ordered dishes of each situation."""
DEEDS = {LEAVE_TOOL: "use", LEAVE_ITEM: "fetch", LEAVE_SERVING: "serve"}


class Sentence(NamedTuple):
    text: str
    situation: str
    expected: list[str]


@cache
def sentences(language: str) -> list[Sentence]:
    lines = (Path(__file__).parent / "sentences" / f"{language}.jsonl").read_text("utf-8").splitlines()
    return [Sentence(row["sentence"], row["situation"], row["expected"]) for row in map(json.loads, lines)]


@cache
def brief_of(situation: str) -> Any:
    return kitchen(level=SITUATIONS[situation][0], seats=3).brief(0)


def understood(text: str, situation: str) -> list[str]:
    """What the sentence asks for, as the files write it."""
    message = TeamMessage(1, 1, 0, (1, 2), "say", text)
    parsed = parse_message(message, brief_of(situation), SITUATIONS[situation][1], (0,))
    return [*_in_words(parsed.wishes), *map(_point_in_words, parsed.points)]


def _in_words(wishes: list[Wish]) -> Iterator[str]:
    for wish in wishes:
        who = ",".join(str(seat + 1) for seat in wish.seats) or "any"
        if wish.when:
            state, what = wish.when
            waits = f"{what} ready" if state == READY else f"@{what} free"
            yield f"when {waits}: {who} {wish.do} {wish.what}"
        elif wish.do not in LEAVE_WISHES:
            yield f"{who} {wish.do} {wish.what}".strip()
        elif wish.forbids:
            what = f"@{wish.what}" if wish.do == LEAVE_TOOL else wish.what
            yield f"{who} avoid {'serve' if wish.do == LEAVE_SERVING else what}".strip()
        else:
            yield f"me {DEEDS.get(wish.do, 'make')} {wish.what}".strip()


def _point_in_words(point: OpenPoint) -> str:
    return point.kind


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_is_read_as_the_file_says(language: str) -> None:
    rows = sentences(language)
    assert len({row.text for row in rows}) >= LEAST_SENTENCES
    read = {row.text: understood(row.text, row.situation) for row in rows}
    assert read == {row.text: row.expected for row in rows}


def variants(text: str) -> Iterator[str]:
    """The sentence as people also write it: capitals, no marks, and letters that are missing or doubled."""
    yield text.upper()
    yield text.rstrip(".!。！") + "!!!"  # noqa: RUF001
    yield "".join(one for one in text if one not in ".!¡¿'")
    words = [word for word in text.split() if re.fullmatch("[a-zñáéíóú]{5,}", word)]
    for word in words[:2]:
        yield text.replace(word, word[:2] + word[3:], 1)
        yield text.replace(word, word[:3] + word[2:], 1)


POINTS = {DOING, HELP, QUESTION, TALK, UNCLEAR, WHICH}


def wrongly_read(read: list[str], expected: list[str]) -> list[str]:
    """What a sentence with a mistake makes robots do, or leave, that the right one does not ask for.

    The name of a thing may be misread if the same robot is asked for something, or forbidden something. A
    thing that is forbidden or reserved must not be made.
    """
    kinds = {_kind(one) for one in expected}
    left = {one.split()[-1] for one in expected if _kind(one)[1] == "avoid" or one.startswith("me ")}
    new = [one for one in read if one not in expected and one not in POINTS]
    return [
        one
        for one in new
        if _kind(one) not in kinds or (_kind(one)[1] == "do" and {one.split()[-1]} <= left - {""})
    ]


def _kind(entry: str) -> tuple[str, str]:
    """The robots of an entry, and whether they shall do, avoid, stop or go on."""
    who, _, rest = entry.partition(" ")
    do = rest.split()[0] if rest else ""
    return who, "do" if do in {*TASKS, FIRST, "use"} else do


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_way_of_writing_a_sentence_makes_robots_do_or_leave_what_was_not_asked(language: str) -> None:
    read = (
        (text, understood(text, row.situation), row.expected)
        for row in sentences(language)
        for text in variants(row.text)
    )
    assert [(text, wrong) for text, found, asked in read if (wrong := wrongly_read(found, asked))] == []


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        (["any stop"], ["2 avoid cookedRice"]),
        (["any stop"], ["2 stop"]),
        (["any avoid cookedRice"], ["any make cookedRice"]),
        (["any make cookedRice"], ["any avoid cookedRice"]),
        (["2 make cookedRice"], ["3 make cookedRice"]),
        (["2 make cookedRice"], ["unclear"]),
        (["2 make cookedRice"], ["me make cookedRice", "2 make salmonSashimi"]),
    ],
)
def test_the_comparison_finds_each_kind_of_mistake(read: list[str], expected: list[str]) -> None:
    assert wrongly_read(read, expected) == read


def test_a_message_of_twice_the_length_is_read_with_about_twice_the_function_calls() -> None:
    def calls(text: str) -> int:
        message = TeamMessage(1, 1, 0, (1, 2), "say", text)
        return count_calls(lambda: parse_message(message, brief_of("sushi")))

    calls("rice")  # reads the words, which are kept
    for piece in ("rice not salmon pot " * 50, "不切" * 500):
        assert calls(2 * piece) < 2.5 * calls(piece)


@pytest.mark.parametrize(("language", "catalogue"), [("es", "es"), ("zh", "zh-hans")])
def test_things_are_understood_by_the_names_that_pages_show(language: str, catalogue: str) -> None:
    stock = shipped_catalogue().stock
    recipes = {code: recipe.name for code, recipe in stock.recipes.items()}
    words, names = KitchenWords({**stock.ingredients, **recipes}), spoken_names()[language]
    with in_language(catalogue):
        shown = {code: words.name(code).lower() for code in (*stock.ingredients, *stock.recipes)}
        tools = {code: words.name(code).lower() for code in names.tools if code in stock.tools}
    unknown = {code for code, name in shown.items() if name not in names.items.get(code, "").split("|")}
    assert unknown == set()
    assert {code for code, name in tools.items() if name not in names.tools[code].split("|")} == set()
