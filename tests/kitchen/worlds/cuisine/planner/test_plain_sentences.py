"""The planner reads plain sentences in three languages as the files in `sentences` say.

Each line of a file has a sentence, the robot of its speaker, who receives it, the situation, and what shall
be understood: a robot's number (`any`: none is named, `me`: the speaker), what to do, and with what.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kitchen.contract.team_messages import TeamMessage
from kitchen.words.gettext_without_django import in_language
from kitchen.worlds.cuisine.display_text import KitchenWords
from kitchen.worlds.cuisine.level import shipped_catalogue
from kitchen.worlds.cuisine.planner.instruction_parser import (
    LEAVE_ITEM,
    LEAVE_SERVING,
    LEAVE_TOOL,
    LEAVE_WISHES,
    TASKS,
    OpenPoint,
    Wish,
    parse_message,
)
from kitchen.worlds.cuisine.planner.kitchen_sentences import spoken_names
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
    is_held_out: bool


@cache
def sentences(language: str) -> list[Sentence]:
    lines = (Path(__file__).parent / "sentences" / f"{language}.jsonl").read_text("utf-8").splitlines()
    rows = map(json.loads, lines)
    return [
        Sentence(row["sentence"], row["situation"], row["expected"], row.get("held_out", False))
        for row in rows
    ]


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
        if wish.do not in LEAVE_WISHES:
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


def deeds(read: list[str]) -> set[str]:
    """What robots shall do: tasks only, without the robots' numbers."""
    parts = (one.split() for one in read)
    return {" ".join(part[1:]) for part in parts if len(part) > 1 and part[1] in TASKS and part[0] != "me"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_way_of_writing_a_sentence_makes_robots_do_what_was_forbidden_or_not_asked(language: str) -> None:
    wrong = []
    for row in sentences(language):
        left = {one.split()[-1] for one in row.expected if one.startswith("me ") or " avoid " in one}
        asked = deeds(row.expected)
        nothing = not asked and not any(" first " in one for one in row.expected)
        for text in variants(row.text):
            done = deeds(understood(text, row.situation))
            opposite = {deed for deed in done if deed.split()[-1] in left and deed not in asked}
            wrong += [(text, done)] if opposite or (nothing and done) else []
    assert wrong == []


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
