"""Asking the co-players of one step: each mind in turn, in bounded time, with a stated fallback.

A mind may fall back by itself (a dispatcher whose model gave no answer lets the planner play) and says so.

The fallback is the world's idle command (noop): a mind that is late or fails holds nobody up, and the log
says which it was. What comes out is handed in through `services.commands_submit`, like a person's command.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as DecisionTimeoutError
from dataclasses import dataclass, replace

from django.db import DataError, connection

from kitchen import play
from kitchen.coplayers.base import Decision as MindDecision
from kitchen.coplayers.base import Situation
from kitchen.coplayers.registry import make_coplayer
from kitchen.models import Decision, Episode, Mind, SeatCommand
from kitchen.services import MadeDecision, Receipt, SeatOrder, commands_submit
from kitchen.spending import BudgetPurse
from kitchen.storable import printable, storable
from kitchen.worlds.base import Command, Event, Json, World

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of asking one mind."""

    decision: MindDecision
    fallback: str = ""
    error: str = ""
    milliseconds: float = 0.0


def decide_step(*, episode_id: int, step: int) -> Receipt | None:
    """Ask every mind for its commands of this step and hand them in; None if the step is not open."""
    episode = Episode.objects.get(pk=episode_id)
    if episode.step + 1 != step or episode.status != Episode.Status.PLAYING:
        return None
    world = play.episode_world(episode)
    commanded = {
        row.seat: play.read_stored_command(row.command)
        for row in SeatCommand.objects.filter(episode=episode, step=step)
    }
    began = time.monotonic()
    orders, decisions = _ask_all(episode, world, commanded)
    time.sleep(max(0.0, began + episode.thinking_seconds - time.monotonic()))
    try:
        return commands_submit(episode_id=episode_id, step=step, orders=orders, decisions=decisions)
    except (DataError, OverflowError, UnicodeError, ValueError) as failure:
        log.exception("the decisions of step %s could not be stored", step)
        return _give_up(episode, step, world.idle, failure)


def _give_up(episode: Episode, step: int, idle: Command, failure: Exception) -> Receipt:
    """What could not be stored is not asked, and paid, again and again: the co-players are idle, and why
    is said."""
    orders, rows = [], []
    for mind in episode.minds.prefetch_related("seats"):
        lost = Outcome(MindDecision({}, memory=play.last_memory(mind)), "error", type(failure).__name__)
        orders += _orders(mind, [seat.number for seat in mind.seats.all()], lost, idle=idle)
        rows.append(MadeDecision(_log_row(mind, step, lost)))
    return commands_submit(episode_id=episode.pk, step=step, orders=orders, decisions=rows)


def _ask_all(
    episode: Episode, world: World, commanded: dict[int, Command]
) -> tuple[list[SeatOrder], list[MadeDecision]]:
    """Each mind in turn knows what the people and the minds before it commanded. What is left of the time
    is shared evenly by the minds that are still to decide: a slow one takes nothing from the others."""
    orders: list[SeatOrder] = []
    decisions: list[MadeDecision] = []
    deadline = time.monotonic() + episode.decision_seconds
    minds = list(episode.minds.prefetch_related("seats"))
    for asked, mind in enumerate(minds):
        seconds = (deadline - time.monotonic()) / (len(minds) - asked)
        situation = _situation(episode, mind, world, commanded, seconds=seconds)
        outcome = ask_mind(mind.kind, mind.settings, situation)
        given = _orders(mind, situation.seats, outcome, idle=world.idle)
        commanded |= {order.seat: order.command for order in given}
        orders += given
        row = _log_row(mind, episode.step + 1, outcome)
        decisions.append(MadeDecision(row, outcome.decision.calls))
    return orders, decisions


def _situation(
    episode: Episode, mind: Mind, world: World, commanded: dict[int, Command], *, seconds: float
) -> Situation:
    seats = tuple(seat.number for seat in mind.seats.all())
    people = tuple(episode.seats.filter(mind=None).values_list("number", flat=True))
    return Situation(
        world=episode.world,
        step=episode.step,
        seats=seats,
        briefs={seat: world.brief(seat) for seat in seats},
        observations={seat: world.observe(seat) for seat in seats},
        legal={seat: world.legal_actions(seat) for seat in seats},
        commanded=_known(world, seats, commanded),
        people=people,
        events=_last_events(episode, world, seats),
        memory=play.last_memory(mind),
        seed=play.derived_seed(episode.seed, mind.number, episode.step),
        seconds=seconds,
        purse=BudgetPurse(episode.budget_id) if episode.budget_id else None,
    )


def _within(seconds: float, kind: str, settings: Mapping[str, Json], situation: Situation) -> MindDecision:
    """The decision, made in a thread of its own: one that never ends keeps no other mind waiting.

    TimeoutError after so many seconds; whatever the mind raises.
    """
    made: Future[MindDecision] = Future()

    def decide() -> None:
        try:
            made.set_result(make_coplayer(kind, settings).decide(situation))
        except BaseException as failure:  # it belongs to whoever waits
            made.set_exception(failure)
        finally:
            connection.close()

    threading.Thread(target=decide, name=f"mind-{kind}", daemon=True).start()
    return made.result(timeout=max(seconds, 0.001))


def _known(world: World, seats: Sequence[int], commanded: Mapping[int, Command]) -> dict[int, Command]:
    """The commands of this step that one of the mind's seats gets to know."""
    entries = [{"seat": seat, "command": list(command)} for seat, command in commanded.items()]
    found: dict[int, Command] = {}
    for seat in seats:
        found |= play.known_commands(world, seat, entries)
    return {seat: commanded[seat] for seat in commanded if seat in found}


def _last_events(episode: Episode, world: World, seats: Sequence[int]) -> tuple[Event, ...]:
    """What happened in the last step, as far as one of the mind's seats gets to know it."""
    stored = play.last_events(episode)
    events = [play.read_event(event) for event in stored]
    return tuple(event for event in events if any(world.visible(seat, event) for seat in seats))


def ask_mind(kind: str, settings: dict[str, Json], situation: Situation) -> Outcome:
    """One mind's decision, or what kept it from one. Returns within `situation.seconds`."""
    started = time.monotonic()
    fallback, error, decision = "", "", MindDecision(commands={}, memory=situation.memory)
    try:
        decision = checked(_within(situation.seconds, kind, settings, situation))
    except DecisionTimeoutError:
        fallback, error = "timeout", f"no decision within {situation.seconds:.1f} s"
    except Exception as failure:  # a co-player may fail in any way: the episode goes on
        log.exception("co-player %s failed", kind)
        fallback, error = "error", f"{type(failure).__name__}: {failure}"
    return Outcome(decision, fallback, error, (time.monotonic() - started) * 1000)


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


def _orders(mind: Mind, seats: Sequence[int], outcome: Outcome, *, idle: Command) -> list[SeatOrder]:
    """The commands in the order in which the mind wants them run; seats that it leaves out are idle."""
    chosen_by = outcome.decision.played_by or mind.kind
    given = [
        SeatOrder(seat, command, chosen_by, outcome.decision.fallback)
        for seat, command in outcome.decision.commands.items()
        if seat in seats
    ]
    left = sorted(set(seats) - {order.seat for order in given})
    if outcome.fallback:
        chosen_by = "fallback"
    fallback = outcome.fallback or outcome.decision.fallback
    return given + [SeatOrder(seat, idle, chosen_by, fallback) for seat in left]


def _log_row(mind: Mind, step: int, outcome: Outcome) -> Decision:
    return Decision(
        mind=mind,
        step=step,
        memory=outcome.decision.memory,
        note=outcome.decision.note,
        played_by=outcome.decision.played_by or mind.kind,
        fallback=outcome.fallback or outcome.decision.fallback,
        error=printable(outcome.error)[:2000],
        milliseconds=outcome.milliseconds,
    )
