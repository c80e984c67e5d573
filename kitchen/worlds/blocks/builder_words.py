"""Read requests that people write to the agent `blocks_planner`, in English, Spanish or Chinese.

Examples: *Stone on level 1, row 2, columns 1 to 3. Give me the planks. What do you have? Stop. Go on.*
`data/planner_words.toml` holds the words. The module only reads; `builder_requests` carries requests out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from pydantic import TypeAdapter

from kitchen.contract.data_files import Record, read_toml
from kitchen.worlds.blocks.dispatcher.player_requests import request_words
from kitchen.worlds.blocks.item_recipes import DATA

PLACE, REMOVE, GIVE, HELD, STOP, RESUME = "place", "remove", "give", "held", "stop", "go_on"
"""Kinds of request."""
AXES = ("level", "column", "row")
_RANGE = r"\d{1,3}(?:\s*(?:-|–|to|a|al|hasta|到|至)\s*\d{1,3})?"  # noqa: RUF001 - people write this dash
_NUMBERS = rf"({_RANGE}(?:\s*(?:,|&|\band\b|\by\b|和|、)\s*{_RANGE}(?!\s*[层列行\d]))*)"
_ARTICLES = r"\s*(?:number|no\.?|nº)?\s*"


class PlannerWords(Record):
    """The content of the file of words: regular expressions."""

    clauses: str
    give: str
    everything: str
    remove: str
    question: str
    axes: Mapping[str, str]
    """Words that stand before the numbers, by axis."""
    axes_after: Mapping[str, str]
    """Words that stand after the numbers, by axis."""
    things: Mapping[str, str]

    def says(self, name: str, text: str) -> bool:
        """Return whether the expression with this name occurs in the text."""
        return re.search(getattr(self, name), text) is not None

    def numbers_of(self, axis: str, text: str) -> tuple[int, ...]:
        """Return the numbers that the text gives for an axis, counted from 0. Empty if it gives none."""
        before, after = self.axes[axis], self.axes_after[axis]
        found = re.search(rf"\b(?:{before})\b{_ARTICLES}{_NUMBERS}", text)
        found = found or re.search(rf"{_NUMBERS}\s*{after}", text)
        return tuple(_numbers_in(found[1])) if found else ()

    def thing_in(self, text: str, held: Iterable[str]) -> str:
        """Return the code of the first thing that the text names: one of `held` by its English name, or one
        of the file. The longest of several that begin at the same place counts. Empty if there is none."""
        names = {item: rf"\b{re.escape(item.replace('_', ' '))}s?\b" for item in held}
        found = [
            (match.start(), -len(match[0]), item)
            for item, words in (*self.things.items(), *names.items())
            if (match := re.search(words, text))
        ]
        return min(found)[2] if found else ""


@cache
def planner_words() -> PlannerWords:
    """Read `data/planner_words.toml`. Raises DataError with file, key and reason if the file is wrong."""
    source, values = read_toml(DATA / "planner_words.toml")
    return source.read(TypeAdapter(PlannerWords), values)


def _numbers_in(text: str) -> Iterator[int]:
    """Yield all numbers of a text such as `1, 3 to 5`, less one."""
    for part in re.findall(_RANGE, text):
        first, *last = (int(number) for number in re.findall(r"\d+", part))
        yield from range(first - 1, (last[0] if last else first))


@dataclass(frozen=True, slots=True)
class Wish:
    """One request in the words of a person."""

    do: str
    thing: str = ""
    """The code of an item; empty: everything, or what the member holds."""
    amount: int = 0
    """How many to give; 0: all."""
    players: tuple[int, ...] = ()
    """The seats that the person names."""
    places: tuple[tuple[int, ...], ...] = ((), (), ())
    """The named levels, columns and rows, counted from 0. An empty tuple means all of them."""


def read_wishes(text: str, held: Iterable[str]) -> Iterator[Wish]:
    """Yield the requests in a message. `held` are the codes of items that the person may mean. A thing or a
    level that one clause names also holds for later clauses that name none."""
    words, usual, items = planner_words(), request_words(), tuple(held)
    thing, level = "", tuple[int, ...]()
    for clause in re.split(words.clauses, text.lower().replace("\u2019", "'")):
        players = tuple(int(number) - 1 for number in re.findall(usual.numbers, clause))
        named, places = words.thing_in(clause, items), [words.numbers_of(axis, clause) for axis in AXES]
        if usual.says("go_on", clause):
            yield Wish(RESUME, players=players)
        elif words.says("question", clause):
            yield Wish(HELD, players=players)
        elif usual.says("negation", clause):
            continue
        elif any(places):
            thing, level = named or thing, places[0] or level
            do = REMOVE if words.says("remove", clause) else PLACE
            yield Wish(do, thing, 0, players, (level, *places[1:]))
        elif words.says("give", clause) and (named or words.says("everything", clause)):
            yield Wish(GIVE, named, _amount(clause, usual.numbers), players)
        elif usual.says("stop", clause):
            yield Wish(STOP, players=players)


def _amount(clause: str, players: str) -> int:
    """Return the first number of a clause that is no player's; 0 if there is none."""
    left = re.search(r"\d{1,4}", re.sub(players, " ", clause))
    return int(left[0]) if left else 0
