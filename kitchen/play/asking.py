"""What the co-players of one step are asked, one after the other, and what becomes of what they decide.

Who answers is the caller's business: `deciding` asks in a worker, in bounded time and with fallbacks;
`at_once` asks where the step is taken those that need no time. What they decide is handed in through
`services.commands_submit`, like a person's command.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import DatabaseError

from kitchen.contract.agent import Decision as MindDecision
from kitchen.contract.agent import Situation
from kitchen.contract.seeds import derived_seed
from kitchen.contract.world import Command, World
from kitchen.machine.storable import printable, storable
from kitchen.money.spending import BudgetPurse
from kitchen.play.intents import checked_intents, note_with
from kitchen.play.models import Decision, Mind
from kitchen.play.saying import TOLD, checked_says, heard, last_heard, note_of_talk, organisation_of
from kitchen.play.services import GivenCommand, MadeDecision
from kitchen.play.stored import known_commands, known_events
from kitchen.play.turns import OpenTurn

UNSTORABLE = (DatabaseError, ArithmeticError, UnicodeError, ValueError)
"""What is raised by what cannot be stored, however often it is tried. What keeps a database from storing
anything (`storage.trouble_of`) is among it, and goes away."""


@dataclass(frozen=True, slots=True)
class MindOutcome:
    """What came of asking one mind."""

    decision: MindDecision
    fallback: str = ""
    error: str = ""
    milliseconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Question:
    """One mind of the step, what it is told, and how many are still to be asked, itself among them."""

    mind: Mind
    situation: Situation
    left: int


@dataclass(frozen=True, slots=True)
class Asked:
    """One mind of the step, and what came of asking it."""

    mind: Mind
    situation: Situation
    outcome: MindOutcome

    @property
    def seats(self) -> tuple[int, ...]:
        """Those that the mind commands."""
        return self.situation.seats


Asking = Generator[Question, MindOutcome, list[Asked]]
"""Asks one mind after the other: to be sent what came of each question."""


def ask_minds(turn: OpenTurn, more: Mapping[int, Command] | None = None) -> Asking:
    """Ask each mind of the step in turn; `more` are commands that are not handed in yet. Each knows what the
    people and the minds before it commanded.

    All that they are told is read before the first is asked, and the turn is not looked at again: a database
    that goes away meanwhile spoils no answer.
    """
    given = {seat: tuple(row.command) for seat, row in turn.given.items()}
    minds = [(mind, replace(_situation(turn, mind), **_talk(turn, mind))) for mind in turn.minds]
    return _ask(turn.world, minds, {**given, **(more or {})})


def _ask(world: World, minds: Sequence[tuple[Mind, Situation]], commanded: dict[int, Command]) -> Asking:
    asked: list[Asked] = []
    for number, (mind, situation) in enumerate(minds):
        now = replace(situation, commanded=_known(world, situation.seats, commanded))
        outcome = yield Question(mind, now, len(minds) - number)
        asked.append(Asked(mind, now, outcome))
        commanded |= {given.seat: given.command for given in _commands(asked[-1], idle=world.idle)}
    return asked


def _situation(turn: OpenTurn, mind: Mind) -> Situation:
    """What a mind is told, apart from the commands of this step and the time that it has."""
    episode, world = turn.episode, turn.world
    seats = tuple(seat.number for seat in turn.seats if seat.mind_id == mind.pk)
    last = turn.past[0].events if turn.past else []
    return Situation(
        world=episode.world,
        step=episode.step,
        seats=seats,
        briefs={seat: turn.briefs[seat] for seat in seats},
        observations={seat: world.observe(seat) for seat in seats},
        legal={seat: world.legal_actions(seat) for seat in seats},
        people=tuple(sorted(turn.people)),
        events=known_events(world, seats, last),
        memory=turn.memories[mind.pk],
        seed=derived_seed(episode.seed, mind.number, episode.step),
        purse=_purse(turn, mind),
        tells=episode.shows_intents,
    )


def _talk(turn: OpenTurn, mind: Mind) -> dict[str, Any]:
    """What a mind is told of what is said, by the fields of its situation; nothing where nobody says
    anything."""
    organisation = organisation_of(turn.episode)
    if organisation is None:
        return {}
    member = organisation.holder(next(seat.number for seat in turn.seats if seat.mind_id == mind.pk)).number
    since = last_heard(turn.episode)[mind.pk] if turn.episode.messages else 0
    messages = heard(turn, member, since=since, most=TOLD)
    told = {"organisation": organisation, "member": member, "messages": messages}
    seen = organisation.seats_seen(member)
    if seen == organisation.member(member).seats:
        return told
    return {**told, "observations": {seat: turn.world.observe(seat) for seat in seen}}


def _purse(turn: OpenTurn, mind: Mind) -> BudgetPurse | None:
    if turn.episode.budget_id is None:
        return None
    return BudgetPurse(turn.episode.budget_id, mind_id=mind.pk, step=turn.step)


def _known(world: World, seats: Sequence[int], commanded: Mapping[int, Command]) -> dict[int, Command]:
    """The commands of this step that one of the mind's seats gets to know."""
    entries = [{"seat": seat, "command": list(command)} for seat, command in commanded.items()]
    known: dict[int, Command] = {}
    for seat in seats:
        known |= known_commands(world, seat, entries)
    return {seat: commanded[seat] for seat in commanded if seat in known}


def checked(decision: MindDecision) -> MindDecision:
    """The decision in a form that can be stored: commands are tuples of words, memory and note are JSON,
    intents are words, without characters that no database keeps. TypeError or ValueError if that cannot be.
    """
    for seat, command in decision.commands.items():
        if not isinstance(command, tuple) or not all(isinstance(word, str) for word in command):
            raise TypeError(f"the command for seat {seat} is {command!r}, not a tuple of words")
    words = [word for command in decision.commands.values() for word in command]
    if any(word != printable(word) for word in words):
        raise ValueError("a command holds characters that cannot be stored")
    json.dumps([decision.memory, decision.note], allow_nan=False)
    return replace(
        decision,
        memory=storable(decision.memory),
        note=storable(decision.note),
        intents=checked_intents(decision.intents),
        says=checked_says(decision.says),
    )


def to_hand_in(
    asked: Iterable[Asked], *, step: int, idle: Command
) -> tuple[list[GivenCommand], list[MadeDecision]]:
    """What was decided for this step, as it is handed in; new rows each time."""
    commands = [given for each in asked for given in _commands(each, idle=idle)]
    return commands, [_made(each, step) for each in asked]


def _made(asked: Asked, step: int) -> MadeDecision:
    decision = asked.outcome.decision
    return MadeDecision(_log_row(asked, step), decision.calls, asked.situation.member, decision.says)


def _commands(asked: Asked, *, idle: Command) -> list[GivenCommand]:
    """The commands in the order in which the mind wants them run; seats that it leaves out are idle."""
    outcome = asked.outcome
    chosen_by = outcome.decision.played_by or asked.mind.kind
    fallback = outcome.fallback or outcome.decision.fallback
    given = [
        GivenCommand(seat, command, chosen_by, fallback)
        for seat, command in outcome.decision.commands.items()
        if seat in asked.seats
    ]
    left = sorted(set(asked.seats) - {one.seat for one in given})
    if outcome.fallback:
        chosen_by = "fallback"
    return given + [GivenCommand(seat, idle, chosen_by, fallback) for seat in left]


def _log_row(asked: Asked, step: int) -> Decision:
    outcome, note = asked.outcome, asked.outcome.decision.note
    if asked.situation.tells:
        note = note_with(note, asked.outcome.decision.intents, asked.seats)
    note = note_of_talk(note, asked.situation, asked.outcome.decision.says)
    return Decision(
        mind=asked.mind,
        step=step,
        memory=outcome.decision.memory,
        note=note,
        played_by=outcome.decision.played_by or asked.mind.kind,
        fallback=outcome.fallback or outcome.decision.fallback,
        error=printable(outcome.error)[:2000],
        milliseconds=outcome.milliseconds,
    )
