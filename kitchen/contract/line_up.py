"""Parse line-ups: names such as `greedy+stay`, which list the kinds of agent that play an episode together.

Each kind is one member of the team. A number after a colon says how many players the member commands, as in
`skill_dispatcher:2+stay`. The default is one player. A single kind without a number commands all players.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kitchen.contract.agent import Decision
from kitchen.contract.organisation import Member
from kitchen.contract.world import Json
from kitchen.contract.world_errors import SettingsError

MEMBER_SEPARATOR = "+"
"""Separates the kinds of agents that play together; the first has seat 0."""
SEAT_SEPARATOR = ":"
"""Separates a kind from its number of seats."""
MAX_COUNT_DIGITS = 3
"""Maximum number of digits of a number of seats."""


def line_up_kinds(name: str) -> tuple[str, ...]:
    """Return the kind of each member of a line-up (agents that play together): `("greedy", "stay")` for
    `greedy+stay`."""
    return tuple(part.partition(SEAT_SEPARATOR)[0] for part in name.split(MEMBER_SEPARATOR))


def line_up_seats(name: str) -> int:
    """Return the number of seats that the members of a line-up (agents that play together) have in total.
    Raises SettingsError if the line-up cannot be read."""
    return sum(_counts(name))


def _counts(name: str) -> list[int]:
    parts = [part.partition(SEAT_SEPARATOR) for part in name.split(MEMBER_SEPARATOR)]
    for kind, sign, count in parts:
        if sign and not (count.isdecimal() and len(count) <= MAX_COUNT_DIGITS):
            raise SettingsError(f"members: {kind}{sign}{count} does not end with a number of seats")
    return [int(count) if sign else 1 for _, sign, count in parts]


def line_up_members(name: str, seats: int) -> tuple[Member, ...]:
    """Return the members of a line-up (agents that play together), in its order, for a world with this number
    of seats. If the line-up is a single kind without a number, this member gets all seats.

    Raises SettingsError if the line-up cannot be read or has another number of seats.
    """
    if MEMBER_SEPARATOR not in name and SEAT_SEPARATOR not in name:
        return (Member(0, tuple(range(seats)), is_person=False),)
    counts = _counts(name)
    if sum(counts) != seats:
        raise SettingsError(f"members: {name} has {sum(counts)} of {seats} seats")
    return tuple(_members(line_up_kinds(name), counts, seats))


def _members(kinds: Sequence[str], counts: Sequence[int], seats: int) -> Iterator[Member]:
    first, without = 0, seats
    for kind, count in zip(kinds, counts, strict=True):
        if count:
            yield Member(first, tuple(range(first, first + count)), is_person=False)
        else:
            yield Member(without, (), is_person=False, name=f"{kind} {without}")
        first, without = first + count, without + (count == 0)


def join_decisions(kinds: Sequence[str], decisions: Mapping[int, Decision], memory: Json) -> Decision:
    """Return one decision that combines the decisions of several members of a line-up (a team of agents).

    `decisions` has each member's decision by the member's index in `kinds`. `memory` is the joint memory
    so far. A member without a decision keeps its part of the memory.
    """
    remembered = [
        decisions[place].memory if place in decisions else (memory[place] if memory else None)
        for place in range(len(kinds))
    ]
    made = decisions.values()
    return Decision(
        commands={seat: command for each in made for seat, command in each.commands.items()},
        memory=remembered,
        played_by=MEMBER_SEPARATOR.join(
            _who(kinds[place], decisions[place].played_by) for place in decisions
        ),
        note=_notes([each.note for each in made]),
        calls=tuple(call for each in made for call in each.calls),
        fallback=next((each.fallback for each in made if each.fallback), ""),
        plans={seat: then for each in made for seat, then in each.plans.items()},
    )


def _who(kind: str, really: str) -> str:
    return kind if really in {"", kind} else f"{kind}'s {really}"


def _notes(notes: Sequence[Json]) -> Json:
    """Merge the notes of several agents into one JSON object, by name. None if no agent has a note."""
    joint: dict[str, Json] = {}
    for note in notes:
        for name, value in note.items() if isinstance(note, dict) else ():
            joint[name] = _both(joint[name], value) if name in joint else value
    return joint or None


def _both(one: Json, other: Json) -> Json:
    if isinstance(one, dict) and isinstance(other, dict):
        return {**one, **other}
    return one + other if isinstance(one, list | int | float) else other
