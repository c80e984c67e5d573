"""Read requests that people write to the agent `blocks_planner`, in English, Spanish or Chinese.

Examples: *Stone on level 1, row 2, columns 1 to 3. Give me the planks. What do you have? Stop. Go on.*
`data/planner_words.toml` holds the words. The module only reads; `builder_requests` carries requests out.
A question is never a request to build. A request to build with a word that is not known is `UNCLEAR`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from pydantic import TypeAdapter

from kitchen.contract.data_files import Record, read_toml
from kitchen.worlds.blocks.dispatcher.player_requests import request_words
from kitchen.worlds.blocks.item_recipes import DATA

PLACE, REMOVE, GIVE, HELD, STOP, RESUME = "place", "remove", "give", "held", "stop", "go_on"
NEEDED, PLAN, UNCLEAR = "needed", "plan", "unclear"
"""Kinds of request. `NEEDED` and `PLAN` ask what the builder needs, and what belongs where. `UNCLEAR` is a
request to build that is only understood in part, or that is a question."""
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
    asks: str
    marks: str
    """Marks and words of polite questions, which may ask for a gift, but never for a block."""
    needs: str
    plan: str
    corners: str
    known: str
    """Words that may stand in a request to build beside those of the other keys."""
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
        found = re.findall(self._before(axis), text) or re.findall(self._after(axis), text)
        return tuple(number for numbers in found for number in _numbers_in(numbers))

    def _before(self, axis: str) -> str:
        return rf"\b(?:{self.axes[axis]})\b{_ARTICLES}{_NUMBERS}"

    def _after(self, axis: str) -> str:
        return rf"{_NUMBERS}\s*{self.axes_after[axis]}"

    def without_numbers(self, axis: str, text: str) -> str:
        """Return the text without the numbers of an axis and the axis's words."""
        return re.sub(self._after(axis), " ", re.sub(self._before(axis), " ", text))

    def is_understood(self, text: str, thing: str, held: Iterable[str], players: str) -> bool:
        """Return whether a request to build has only known words, and names at most one axis twice. Two
        axes named twice mean pairs of cells, which are not understood. `thing` is the code of the item in
        the text, `held` as in `thing_in`, and `players` the expression for players."""
        twice, left = 0, re.sub(players, " ", text)
        for axis in AXES:
            twice += len(re.findall(self._before(axis), left) or re.findall(self._after(axis), left)) > 1
            left = self.without_numbers(axis, left)
        name = rf"\b{re.escape(thing.replace('_', ' '))}s?\b"
        for words in filter(None, (self.things.get(thing), name if thing in held else None)):
            left = re.sub(words, " ", left)
        left = re.sub(r"\b\d{1,4}\b", " ", left, count=1)
        for words in (self.corners, self.remove, self.known):
            left = re.sub(words, " ", left)
        return twice < 2 and not re.search(r"\w", left)

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
    """How many to give, or to place; 0: all."""
    players: tuple[int, ...] = ()
    """The seats that the person names."""
    places: tuple[tuple[int, ...], ...] = ((), (), ())
    """The named levels, columns and rows, counted from 0. An empty tuple means all of them."""
    corners: bool = False
    """True if only the corners of the levels are meant."""


def read_wishes(text: str, held: Iterable[str]) -> Iterator[Wish]:
    """Yield the requests in a message. `held` are the codes of items that the person may mean. A thing or a
    level that one clause names also holds for later clauses that name none."""
    words, items = planner_words(), tuple(held)
    thing, level = "", tuple[int, ...]()
    for clause in _clauses(words, text.lower().replace("\u2019", "'")):
        for wish in _clause_wishes(words, clause, items, has_level=bool(level)):
            if wish.do not in (PLACE, REMOVE):
                yield wish
                continue
            thing, level = wish.thing or thing, wish.places[0] or level
            yield replace(wish, thing=thing, places=(level, *wish.places[1:]))


def _clause_wishes(
    words: PlannerWords, clause: str, items: Sequence[str], *, has_level: bool
) -> Iterator[Wish]:
    """Yield the requests of one clause. `has_level` says whether an earlier clause named a level."""
    usual = request_words()
    players = tuple(int(number) - 1 for number in re.findall(usual.numbers, clause))
    named, is_all = words.thing_in(clause, items), words.says("everything", clause)
    places = tuple(words.numbers_of(axis, clause) for axis in AXES)
    gives = words.says("give", clause) and (named or is_all)
    if words.says("question", clause):
        yield Wish(HELD, players=players)
    elif words.says("asks", clause) and not (gives and is_all):
        yield from _question(words, clause, Wish(PLAN, named, 0, players, (places[0], (), ())))
    elif usual.says("go_on", clause):
        yield Wish(RESUME, players=players)
    elif usual.says("negation", clause):
        return
    elif any(places) or (has_level and words.says("corners", clause)):
        yield _site_wish(words, clause, items, Wish(PLACE, named, 0, players, places))
    elif gives:
        yield Wish(GIVE, named, _amount(clause, usual.numbers), players)
    elif usual.says("stop", clause):
        yield Wish(STOP, players=players)


def _site_wish(words: PlannerWords, clause: str, items: Sequence[str], wish: Wish) -> Wish:
    """Return the request of a clause that names places of the site. `wish` has its thing and places."""
    players = request_words().numbers
    if words.says("marks", clause) or not words.is_understood(clause, wish.thing, items, players):
        return Wish(UNCLEAR, players=wish.players)
    do, corners = REMOVE if words.says("remove", clause) else PLACE, words.says("corners", clause)
    for axis in AXES:
        clause = words.without_numbers(axis, clause)
    return replace(wish, do=do, amount=_amount(clause, players), corners=corners)


def _clauses(words: PlannerWords, text: str) -> Iterator[str]:
    """Yield the clauses of a text. A question keeps its question mark."""
    parts = re.split(f"({words.clauses})", text)
    for clause, end in zip(parts[::2], [*parts[1::2], ""], strict=True):
        yield clause + ("?" if re.search("[?\uff1f]", end) else "")


def _question(words: PlannerWords, clause: str, asked: Wish) -> Iterator[Wish]:
    """Yield the question of a clause about the plan or about what the builder needs. Nothing for others."""
    if words.says("needs", clause):
        yield replace(asked, do=NEEDED)
    elif asked.thing or any(asked.places) or words.says("plan", clause):
        yield asked


def _amount(clause: str, players: str) -> int:
    """Return the first number of a clause that is no player's; 0 if there is none."""
    left = re.search(r"\d{1,4}", re.sub(players, " ", clause))
    return int(left[0]) if left else 0
