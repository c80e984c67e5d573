"""Asking the co-players of one step: each mind in turn, in bounded time, with a stated fallback.

A mind may fall back by itself (a dispatcher whose model gave no answer lets the planner play) and says so.

A mind that is late or fails holds nobody up: its own fallback, as its settings name it, commands at once
(`Agent.fall_back`), else its seats do the world's idle command (noop). The log says which it was. What
comes out is handed in through `services.commands_submit`, like a person's command.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as DecisionTimeoutError
from dataclasses import dataclass, replace
from functools import partial

from django.db import DatabaseError, OperationalError, connection

from kitchen.contract.agent import Decision as MindDecision
from kitchen.contract.agent import Situation
from kitchen.contract.model import Call, total
from kitchen.contract.seeds import derived_seed
from kitchen.contract.world import Command, Json, World
from kitchen.machine.failures import told, traced
from kitchen.machine.outage import outlast
from kitchen.machine.storable import printable, storable
from kitchen.money.spending import BudgetPurse
from kitchen.play.models import Decision, Episode, Mind, SeatCommand
from kitchen.play.services import GivenCommand, MadeDecision, Receipt, commands_submit, step_run
from kitchen.play.stored import (
    episode_world,
    known_commands,
    known_events,
    last_events,
    last_memory,
    read_stored_command,
)
from kitchen.registry.agents import make_agent

log = logging.getLogger(__name__)

FALLBACK_SECONDS = 1.0
"""Time for a fallback to command, beyond the time for the decision; then the seats are idle."""

UNSTORABLE = (DatabaseError, ArithmeticError, UnicodeError, ValueError)
"""What does not go away by trying again (what does, `_hand_in` has tried)."""

Late = Callable[["Future[MindDecision]"], None]
"""Told of a decision for which nobody waits any more."""


@dataclass(frozen=True, slots=True)
class MindOutcome:
    """What came of asking one mind."""

    decision: MindDecision
    fallback: str = ""
    error: str = ""
    milliseconds: float = 0.0


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


def decide_step(*, episode_id: int, step: int, claim: str = "") -> Receipt | None:
    """Ask every mind for its commands of this step and hand them in; None if nobody is to be asked: the step
    is not open, or everything is decided and it only has to run."""
    episode = Episode.objects.filter(pk=episode_id).first()
    if episode is None or episode.step + 1 != step or episode.status != Episode.Status.PLAYING:
        return None
    rows = list(SeatCommand.objects.filter(episode=episode, step=step))
    if len(rows) == episode.seats.count():
        step_run(episode_id=episode_id, step=step)
        return None
    world = episode_world(episode)
    asked = _ask_all(episode, world, {row.seat: read_stored_command(row.command) for row in rows})
    try:
        receipt = _hand_in(episode, step, claim, world.idle, asked)
    except OperationalError:
        raise
    except UNSTORABLE as failure:
        log.error("the decisions of step %s could not be stored: %s", step, traced(failure))
        _tell_dropped(episode, step, asked, "it could not be stored")
        asked = [_given_up(each, failure) for each in asked]
        receipt = _hand_in(episode, step, claim, world.idle, asked)
    if receipt is None or not receipt.accepted:
        _tell_dropped(episode, step, asked, receipt.code if receipt else "gone")
    return receipt


def _given_up(asked: Asked, failure: Exception) -> Asked:
    """What could not be stored is not asked, and paid, again and again: the fallback commands, and why is
    said."""
    instead = _fallen_back(asked.mind.kind, asked.mind.settings, asked.situation, "error")
    return replace(
        asked, outcome=replace(asked.outcome, decision=instead, fallback="error", error=told(failure))
    )


def _hand_in(
    episode: Episode, step: int, claim: str, idle: Command, asked: Sequence[Asked]
) -> Receipt | None:
    """Hand in what was decided, and again while the database is away for a moment: models were paid for it.
    None if the episode is gone."""
    submit = partial(_submit, episode, step, claim, idle, asked)
    return outlast(submit, f"handing in step {step} of episode {episode.pk}")


def _submit(episode: Episode, step: int, claim: str, idle: Command, asked: Sequence[Asked]) -> Receipt | None:
    """One try, with rows of its own."""
    commands = [given for each in asked for given in _commands(each, idle=idle)]
    made = [MadeDecision(_log_row(each, step), each.outcome.decision.calls) for each in asked]
    try:
        return commands_submit(
            episode_id=episode.pk, step=step, commands=commands, decisions=made, claim=claim
        )
    except Episode.DoesNotExist:  # its person has left
        return None


def _tell_dropped(episode: Episode, step: int, asked: Sequence[Asked], why: str) -> None:
    """A decision that is not taken leaves no row: what it cost stands in the ledger and here."""
    calls = [call for each in asked for call in each.outcome.decision.calls]
    log.warning("step %s of episode %s: decided in vain (%s); %s", step, episode.pk, why, _told_calls(calls))


def _told_calls(calls: Sequence[Call]) -> str:
    """`2 calls of models, 0.0012 USD, are not in the data`."""
    cost = total(call.cost for call in calls)
    money = "at an unknown price" if cost is None else f"{cost:.4f} USD"
    return f"{len(calls)} calls of models, {money}, are not in the data"


def _ask_all(episode: Episode, world: World, commanded: dict[int, Command]) -> list[Asked]:
    """Each mind in turn knows what the people and the minds before it commanded. What is left of the time
    is shared evenly by the minds that are still to decide: a slow one takes nothing from the others.

    All that they are told is read before the first is asked: a database that goes away meanwhile spoils no
    answer."""
    asked: list[Asked] = []
    deadline = time.monotonic() + episode.decision_seconds
    minds = list(episode.minds.prefetch_related("seats"))
    situations = [_situation(episode, mind, world) for mind in minds]
    for mind, situation in zip(minds, situations, strict=True):
        seconds = (deadline - time.monotonic()) / (len(minds) - len(asked))
        known = _known(world, situation.seats, commanded)
        now = replace(situation, commanded=known, seconds=seconds)
        asked.append(Asked(mind, now, ask_mind(mind.kind, mind.settings, now)))
        commanded |= {given.seat: given.command for given in _commands(asked[-1], idle=world.idle)}
    return asked


def _situation(episode: Episode, mind: Mind, world: World) -> Situation:
    """What a mind is told, apart from the commands of this step and the time that it has."""
    seats = tuple(seat.number for seat in mind.seats.all())
    people = tuple(episode.seats.filter(mind=None).values_list("number", flat=True))
    return Situation(
        world=episode.world,
        step=episode.step,
        seats=seats,
        briefs={seat: world.brief(seat) for seat in seats},
        observations={seat: world.observe(seat) for seat in seats},
        legal={seat: world.legal_actions(seat) for seat in seats},
        people=people,
        events=known_events(world, seats, last_events(episode)),
        memory=last_memory(mind),
        seed=derived_seed(episode.seed, mind.number, episode.step),
        purse=_purse(episode, mind),
    )


def _purse(episode: Episode, mind: Mind) -> BudgetPurse | None:
    if episode.budget_id is None:
        return None
    return BudgetPurse(episode.budget_id, mind_id=mind.pk, step=episode.step + 1)


def _within(seconds: float, name: str, make: Callable[[], MindDecision], late: Late) -> MindDecision:
    """The decision, made in a thread of its own: one that never ends keeps no other mind waiting.

    TimeoutError after so many seconds, and `late` is told what comes out after that; whatever `make` raises.
    """
    made: Future[MindDecision] = Future()
    given_up = threading.Event()

    def decide() -> None:
        try:
            made.set_result(make())
        except BaseException as failure:  # it belongs to whoever waits
            made.set_exception(failure)
        finally:
            connection.close()
        if given_up.is_set():
            late(made)

    threading.Thread(target=decide, name=f"mind-{name}", daemon=True).start()
    try:
        return made.result(timeout=max(seconds, 0.001))
    except DecisionTimeoutError:
        given_up.set()
        raise


def _tell_late(kind: str, step: int, made: Future[MindDecision]) -> None:
    """A mind that ends after its time: nobody waits for it any more, and nothing of it is stored."""
    calls = made.result().calls if made.exception() is None else ()
    log.warning("a %s was late with step %s; %s", kind, step, _told_calls(calls))


def _known(world: World, seats: Sequence[int], commanded: Mapping[int, Command]) -> dict[int, Command]:
    """The commands of this step that one of the mind's seats gets to know."""
    entries = [{"seat": seat, "command": list(command)} for seat, command in commanded.items()]
    known: dict[int, Command] = {}
    for seat in seats:
        known |= known_commands(world, seat, entries)
    return {seat: commanded[seat] for seat in commanded if seat in known}


def ask_mind(kind: str, settings: dict[str, Json], situation: Situation) -> MindOutcome:
    """One mind's decision, or what kept it from one and what its fallback commands. Returns within
    `situation.seconds`, and `FALLBACK_SECONDS` if it falls back."""
    started = time.monotonic()
    fallback, error = "", ""
    try:
        decision = _decided(kind, settings, situation)
    except DecisionTimeoutError:
        fallback, error = "timeout", f"no decision within {situation.seconds:.1f} s"
    except Exception as failure:  # a co-player may fail in any way: the episode goes on
        log.error("co-player %s failed: %s", kind, traced(failure))
        fallback, error = "error", told(failure)
    if fallback:
        decision = _fallen_back(kind, settings, situation, fallback)
    return MindOutcome(decision, fallback, error, (time.monotonic() - started) * 1000)


def _decided(kind: str, settings: Mapping[str, Json], situation: Situation) -> MindDecision:
    return checked(
        _within(
            situation.seconds,
            kind,
            lambda: make_agent(kind, settings).decide(situation),
            partial(_tell_late, kind, situation.step + 1),
        )
    )


def _fallen_back(kind: str, settings: Mapping[str, Json], situation: Situation, code: str) -> MindDecision:
    """What the mind's fallback commands; nothing if that fails too."""
    try:
        return checked(
            _within(
                FALLBACK_SECONDS,
                f"{kind}-fallback",
                lambda: make_agent(kind, settings).fall_back(situation, code),
                lambda made: None,
            )
        )
    except Exception as failure:
        log.error("the fallback of co-player %s failed: %s", kind, traced(failure))
        return MindDecision(commands={}, memory=situation.memory)


def checked(decision: MindDecision) -> MindDecision:
    """The decision in a form that can be stored: commands are tuples of words, memory and note are JSON,
    without characters that no database keeps. TypeError or ValueError if that cannot be.
    """
    for seat, command in decision.commands.items():
        if not isinstance(command, tuple) or not all(isinstance(word, str) for word in command):
            raise TypeError(f"the command for seat {seat} is {command!r}, not a tuple of words")
    words = [word for command in decision.commands.values() for word in command]
    if any(word != printable(word) for word in words):
        raise ValueError("a command holds characters that cannot be stored")
    json.dumps([decision.memory, decision.note], allow_nan=False)
    return replace(decision, memory=storable(decision.memory), note=storable(decision.note))


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
    outcome = asked.outcome
    return Decision(
        mind=asked.mind,
        step=step,
        memory=outcome.decision.memory,
        note=outcome.decision.note,
        played_by=outcome.decision.played_by or asked.mind.kind,
        fallback=outcome.fallback or outcome.decision.fallback,
        error=printable(outcome.error)[:2000],
        milliseconds=outcome.milliseconds,
    )
