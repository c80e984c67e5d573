"""Vary a decision tree at random, in place of a language model that revises it.

A variation removes a line with all that is below it, exchanges two neighbours, inserts a line that is often
useful, or puts a condition before an act.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from kitchen.worlds.overcooked.written_policy.policy_facts import FACTS, VOCABULARY
from kitchen.worlds.overcooked.written_policy.policy_tree import PolicyTreeError, parse_policy_tree

TRIES = 50
"""Maximum number of tries to find a variation that is a correct tree."""
USEFUL_LINES = (
    "deliver",
    "fill",
    "put",
    "start",
    "pickup soup",
    "if onion needed: pickup onion",
    "if tomato needed: pickup tomato",
    "if dish needed: pickup dish",
    "if dish needed and pot soon: pickup dish",
    "if dish needed and nearer dish: pickup dish",
    "if not partner holding dish: pickup dish",
    "if not reach pot: place",
    "if not reach pot and not onions on counter: pickup onion",
    "if holding dish and not pot cooking and not pot ready: place",
    "if holding onion and not pot open and not partner holding dish: place",
    "if partner holding nothing: wait",
    "aside",
)


class _Row(NamedTuple):
    indent: int
    text: str


def vary_policy(policy: str, chance: Random) -> str:
    """Return a correct tree with one or two small changes. Comments are left out. Returns the tree itself if
    no change fits."""
    rows = _rows(policy)
    for _ in range(TRIES):
        changed = rows
        for _ in range(chance.choice((1, 1, 2))):
            changed = chance.choice(_CHANGES)(changed, chance)
        text = "".join(f"{' ' * row.indent}{row.text}\n" for row in changed)
        if changed != rows and _is_correct(text):
            return text
    return policy


def _rows(policy: str) -> list[_Row]:
    lines = (line.split("#", 1)[0].rstrip() for line in policy.splitlines())
    return [_Row(len(line) - len(line.lstrip()), line.strip()) for line in lines if line]


def _is_correct(policy: str) -> bool:
    try:
        parse_policy_tree(policy, VOCABULARY)
    except PolicyTreeError:
        return False
    return True


def _end(rows: list[_Row], place: int) -> int:
    """Return the place after a row and all rows below it in the tree."""
    after = (each for each in range(place + 1, len(rows)) if rows[each].indent <= rows[place].indent)
    return next(after, len(rows))


def _remove(rows: list[_Row], chance: Random) -> list[_Row]:
    if not rows:
        return rows
    place = chance.randrange(len(rows))
    return rows[:place] + rows[_end(rows, place) :]


def _exchange(rows: list[_Row], chance: Random) -> list[_Row]:
    if not rows:
        return rows
    place = chance.randrange(len(rows))
    middle = _end(rows, place)
    if middle == len(rows) or rows[middle].indent != rows[place].indent:
        return rows
    end = _end(rows, middle)
    return rows[:place] + rows[middle:end] + rows[place:middle] + rows[end:]


def _insert(rows: list[_Row], chance: Random) -> list[_Row]:
    place = chance.randint(0, len(rows))
    indent = rows[place].indent if place < len(rows) else 0
    return [*rows[:place], _Row(indent, chance.choice(USEFUL_LINES)), *rows[place:]]


def _guard(rows: list[_Row], chance: Random) -> list[_Row]:
    """Put a condition before an act that has none."""
    places = [place for place, row in enumerate(rows) if ":" not in row.text]
    if not places:
        return rows
    place, fact = chance.choice(places), chance.choice([*FACTS])
    condition = chance.choice(("if ", "if not ")) + fact
    guarded = _Row(rows[place].indent, f"{condition}: {rows[place].text}")
    return [*rows[:place], guarded, *rows[place + 1 :]]


_CHANGES: tuple[Callable[[list[_Row], Random], list[_Row]], ...] = (
    _remove,
    _exchange,
    _insert,
    _insert,
    _guard,
)
