"""Several minds in one episode of agents alone, each with a seat of its own, as if they were one. Plain
Python.

Each is told what it would be told beside a stranger: its own seat, nothing of what the others are about to
do, its own memory, chance of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kitchen.contract.agent import Decision, Situation
from kitchen.contract.seeds import derived_seed
from kitchen.contract.world import Json

SIGN = "+"
"""Between the kinds of those who play together, the first in seat 0."""


def kinds_of(name: str) -> tuple[str, ...]:
    """The kind in each seat: `greedy+stay`. One where one mind plays all."""
    return tuple(name.split(SIGN))


def alone(situation: Situation, seat: int) -> Situation:
    """What the mind of this seat is told of what is told for all."""
    return replace(
        situation,
        seats=(seat,),
        briefs={seat: situation.briefs[seat]},
        observations={seat: situation.observations[seat]},
        legal={seat: situation.legal[seat]},
        commanded={},
        asked=None,
        plans={held: then for held, then in situation.plans.items() if held == seat},
        memory=situation.memory[seat] if situation.memory else None,
        seed=derived_seed(situation.seed, seat),
    )


def joined(kinds: Sequence[str], decisions: Mapping[int, Decision], memory: Json) -> Decision:
    """Their decisions as one, by seat. Who was not asked remembers what it did."""
    remembered = [
        decisions[seat].memory if seat in decisions else (memory[seat] if memory else None)
        for seat in range(len(kinds))
    ]
    made = decisions.values()
    return Decision(
        commands={seat: command for each in made for seat, command in each.commands.items()},
        memory=remembered,
        played_by=SIGN.join(_who(kinds[seat], decisions[seat].played_by) for seat in decisions),
        note=_notes([each.note for each in made]),
        calls=tuple(call for each in made for call in each.calls),
        fallback=next((each.fallback for each in made if each.fallback), ""),
        plans={seat: then for each in made for seat, then in each.plans.items()},
    )


def _who(kind: str, really: str) -> str:
    return kind if really in {"", kind} else f"{kind}'s {really}"


def _notes(notes: Sequence[Json]) -> Json:
    """What was noted under one name stands together; None where nothing was."""
    joint: dict[str, Json] = {}
    for note in notes:
        for name, value in note.items() if isinstance(note, dict) else ():
            joint[name] = _both(joint[name], value) if name in joint else value
    return joint or None


def _both(one: Json, other: Json) -> Json:
    if isinstance(one, dict) and isinstance(other, dict):
        return {**one, **other}
    return one + other if isinstance(one, list | int | float) else other
