"""Store the commands and plans for an open step, run the step, and store its log row.

Call these functions inside a transaction, with the turn locked. Each log row has a hash of itself and of all
rows before it (a hash chain). The chain reveals changed, missing, added or moved steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from kitchen.contract.automatic_commands import (
    AutomaticCommand,
    Plan,
    TurnOpening,
    drop_plans_at_end,
    open_turn,
)
from kitchen.contract.episode_log import is_goal_reached
from kitchen.contract.world import Command, Json, World, text_hash
from kitchen.infra.database_writes import RawJson
from kitchen.infra.hmac_seals import canonical_text, plain_json
from kitchen.play.models import Episode, Mind, PendingQuestion, Seat, SeatCommand, StateChange, Step
from kitchen.play.turn.due_decisions import add_due_decisions
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.probe_holds import hold_if_due, pause_events
from kitchen.play.turn.state_store import (
    ComputedStep,
    PastStep,
    json_round_trip,
)
from kitchen.play.turn.submitted_commands import SubmittedCommand, SubmittedDecision
from kitchen.play.turn.turn_rules import left_idle, running_order

COMMAND_COLUMNS = tuple(one.attname for one in SeatCommand._meta.concrete_fields if not one.primary_key)


class StepTakenError(RuntimeError):
    """Raised if another process has already stored the step or a message. This transaction must then be
    rolled back."""


def command_row(turn: OpenTurn, seat: int, command: Command, **more: Any) -> SeatCommand:
    """Return a new database row, not yet saved, with this seat's command for the open step. `more` has the
    values of other fields."""
    row = SeatCommand(episode_id=turn.episode.pk, step=turn.step, seat=seat, **more)
    row.command = list(command)
    return row


def add_submitted(turn: OpenTurn, commands: Iterable[SubmittedCommand]) -> None:
    """Store submitted commands for the open step, and the plans that came with them."""
    rows = []
    for given in commands:
        rows.append(command_row(turn, given.seat, given.command))
        rows[-1].chosen_by, rows[-1].fallback = given.chosen_by, given.fallback
        rows[-1].to_follow = [list(command) for command in given.then] or None
    add_commands(turn, rows)


def add_commands(turn: OpenTurn, rows: Sequence[SeatCommand]) -> None:
    """Store these command rows for the open step, and the plans that begin with them."""
    turn.store.insert(SeatCommand, [{name: getattr(row, name) for name in COMMAND_COLUMNS} for row in rows])
    turn.given |= {row.seat: row for row in rows}
    if begun := [row for row in rows if row.to_follow]:
        plans = turn.plans
        for row in begun:
            plan = Plan(tuple(map(tuple, row.to_follow or ())), row.chosen_by, row.fallback, row.step)
            plans[row.seat] = plan.in_place_of(plans.get(row.seat))
        _store_plans(turn, plans)


def store_plan(
    turn: OpenTurn, seat: int, then: Sequence[Command], *, chosen_by: str, fallback: str = ""
) -> None:
    """Replace this seat's plan by the commands `then` for the steps after this one. `chosen_by` and
    `fallback` say who made the plan."""
    plan = Plan(tuple(then), chosen_by, fallback, turn.step)
    _store_plans(turn, {**turn.plans, seat: plan.in_place_of(turn.plans.get(seat))})


def store_plans_of(turn: OpenTurn, made: SubmittedDecision) -> None:
    """Store the plans of a decision for seats to which it gives no command."""
    for seat, then in made.plans.items():
        store_plan(turn, seat, then, chosen_by=made.row.played_by, fallback=made.row.fallback)


def _store_plans(turn: OpenTurn, plans: Mapping[int, Plan]) -> None:
    turn.episode.plans = _plans_to_json(plans)
    turn.store.change(Episode, {"plans": turn.episode.plans}, where={"id": turn.episode.pk})


def _plans_to_json(plans: Mapping[int, Plan]) -> Json:
    return {str(seat): plan.to_json() for seat, plan in plans.items()} or None


def fill_first_step(turn: OpenTurn) -> None:
    """Store the automatic commands of the first step, for seats that have nothing to choose in it. Call this
    in the transaction that created the episode."""
    _fill(turn, _opening(turn, turn.world))


def _opening(turn: OpenTurn, world: World) -> TurnOpening:
    """Return the automatic commands and the plans for the next step, which opens with the world in this
    state."""
    opening = open_turn(world, turn.numbers, turn.plans, passes_by=turn.episode.passes_by)
    add_due_decisions(turn, opening, world)
    return opening


def _fill(turn: OpenTurn, begins: TurnOpening) -> None:
    """Store the automatic commands of the step that opens. In a real-time episode, seats that are not asked
    cannot act. Agents without a seat are asked only if another agent or a person is asked."""
    free = set() if turn.episode.tick_ms else begins.may_act
    add_commands(turn, [command_row(turn, **asdict(each)) for each in begins.filled if each.seat not in free])
    unasked = turn.numbers <= turn.given.keys() | free
    for seat in free | (turn.leading_minds if unasked else set()):
        _store_may_act(turn, seat, turn.step)


def ask_after_all(turn: OpenTurn, seat: int) -> None:
    """Make the current step wait for this seat. Before, the seat was allowed to act or lead, but the step did
    not wait for it."""
    _store_may_act(turn, seat, None)


def wait_not(turn: OpenTurn, seat: int) -> None:
    """Let the current step continue without this agent, and store this. The seat belongs to an agent that
    only leads."""
    _store_may_act(turn, seat, turn.step)


def call_busy_agent(turn: OpenTurn, number: int, mind: int) -> None:
    """Make the current step wait for an agent whose seats are all busy, and store this. `number` is the
    agent's first seat, and `mind` is the agent's id."""
    turn.store.change(Mind, {"called_in": turn.step}, where={"id": mind})
    turn.called.add(number)


def stop_calling(turn: OpenTurn, number: int, mind: int) -> None:
    """Let the current step continue without an agent that `call_busy_agent` had called, and store this."""
    turn.store.change(Mind, {"called_in": None}, where={"id": mind})
    turn.called.discard(number)


def await_answer(turn: OpenTurn, seat: int, *, waits: bool) -> None:
    """Make the step wait for an answer of the busy person in this seat, or stop waiting. Store that."""
    step = turn.step if waits else None
    turn.store.change(
        Seat, {"answer_awaited_in": step}, where={"episode_id": turn.episode.pk, "number": seat}
    )
    next(each for each in turn.seats if each.number == seat).answer_awaited_in = step


def _store_may_act(turn: OpenTurn, seat: int, step: int | None) -> None:
    where = {"episode_id": turn.episode.pk, "number": seat}
    turn.store.change(Seat, {"may_act_in": step}, where=where)
    next(each for each in turn.seats if each.number == seat).may_act_in = step


def take_step(turn: OpenTurn, computed: ComputedStep | None = None) -> list[SeatCommand]:
    """Run and store the open step, and open the next one with its automatic commands. Return the command rows
    of the step that has run.

    `computed` is a result computed earlier. It is used only if the commands are exactly the same. Raises
    StepTakenError, or lets the end of `delayed_statements` raise it, if another process has already stored
    the step.
    """
    if left := left_idle(turn):
        add_commands(turn, [command_row(turn, **asdict(AutomaticCommand(*each))) for each in left])
    commands, rows = running_order(turn), list(turn.given.values())
    opened_at, now = turn.episode.turn_opened_at, timezone.now()
    if computed is None or list(computed.commands) != commands:
        computed = turn.state.compute(commands)
    entries = [command_log_entry(turn.given[seat]) for seat, _ in commands]
    before = _chain_before(turn)
    status = status_after(turn.episode, computed.world)
    goes_on = status == Episode.Status.PLAYING
    begins = _opening(turn, computed.world) if goes_on else drop_plans_at_end(turn.plans)
    noted = (*begins.broken, *turn.noted, *pause_events(turn))
    events = [*computed.events, *json_round_trip([event.to_json() for event in noted])]
    _store_state(turn, computed, status, begins.plans, now)
    if goes_on:
        hold_if_due(turn, events, opened_at)
    chain = _store_log_row(turn, before, entries, events, opened_at)
    turn.past.appendleft(PastStep(turn.episode.step, entries, events, chain))
    turn.given, turn.noted, turn.decided, turn.called = {}, [], set(), set()
    _fill(turn, begins)
    turn.forget_decisions()
    if not goes_on and turn.episode.team and turn.episode.team.is_timed:
        PendingQuestion.objects.filter(mind__episode=turn.episode).delete()
    if changes := turn.state.move_on(computed):
        turn.store.insert(StateChange, changes)
    return rows


def status_after(episode: Episode, world: World) -> Episode.Status:
    """Return the episode's status with the world in this state: goal reached, over, cut off at the step
    limit, or still playing."""
    if is_goal_reached(episode.until or {}, world.score()):
        return Episode.Status.REACHED
    if world.over:
        return Episode.Status.OVER
    return Episode.Status.CUT_OFF if world.cut_off else Episode.Status.PLAYING


def _store_state(
    turn: OpenTurn, computed: ComputedStep, status: Episode.Status, plans: Mapping[int, Plan], now: datetime
) -> None:
    """Store the state after the step. Raises StepTakenError if another process has already taken the step, so
    that the stored step number or hash has changed."""
    episode, ended = turn.episode, status != Episode.Status.PLAYING
    fresh = {
        "step": turn.step,
        "state_hash": text_hash(computed.state.text),
        "score": computed.world.score(),
        "status": status,
        "ended_at": now if ended else None,
        "turn_opened_at": now,
        "turn_closes_at": None if ended else _next_deadline(episode, now),
        "asked_at": None,
        "deciding_until": None,
        "deciding_by": "",
        "plans": _plans_to_json(plans),
        **({"schedule_state": None} if ended and episode.schedule_state else {}),
    }
    before = {"id": episode.pk, "step": episode.step, "state_hash": episode.state_hash}
    taken = StepTakenError(f"step {turn.step} of episode {episode.key} was taken by another process")
    stored = {**fresh, "state": RawJson(computed.state.text)}
    turn.store.change(Episode, stored, where=before, error_if_unchanged=taken)
    for name, value in fresh.items():
        setattr(episode, name, value)


def _next_deadline(episode: Episode, opened_at: datetime) -> datetime | None:
    """Return the deadline of a turn that opens at this time, or None if no timer runs."""
    if episode.step_seconds is None or episode.turn_closes_at is None:
        return None
    return opened_at + timedelta(seconds=episode.step_seconds)


def _store_log_row(
    turn: OpenTurn, before: str, entries: list[Json], events: list[Json], opened_at: datetime
) -> str:
    """Store the log row of the step that the episode has just taken. Return the new last hash of the log's
    hash chain."""
    episode = turn.episode
    row = {
        "episode_id": episode.pk,
        "number": episode.step,
        "commands": entries,
        "events": events,
        "state_hash": episode.state_hash,
        "score": episode.score,
        "opened_at": opened_at,
        "taken_at": episode.turn_opened_at,
    }
    chain = next_chain_hash(before, row)
    turn.store.insert(Step, [{**row, "chain": chain}])
    return chain


def command_log_entry(row: SeatCommand) -> dict[str, Json]:
    """Return the log entry of one seat's command. If the command began a plan or came from a plan, the
    entry has the plan's fields."""
    planned = {"to_follow": row.to_follow, "planned_in": row.planned_in}
    return {
        "seat": row.seat,
        "command": row.command,
        "chosen_by": row.chosen_by,
        "fallback": row.fallback,
        "received_at": row.received_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        **{name: value for name, value in planned.items() if value is not None},
    }


CHAIN_FORMAT = "brigade log 1"
"""The first item of a chain. Change it if the hashed content changes."""

CHAINED_COLUMNS = ("number", "commands", "events", "state_hash", "score", "opened_at", "taken_at")
"""The columns of a step that its link in the chain covers."""


def first_chain_hash(episode: Episode) -> str:
    """Return the first hash of an episode's hash chain, computed from its key, world, settings and seed."""
    facts = [episode.key.hex, episode.world, episode.world_version, episode.settings, episode.seed]
    return text_hash(canonical_text([CHAIN_FORMAT, *facts]))


def next_chain_hash(before: str, step: Mapping[str, Any]) -> str:
    """Return the next hash of the hash chain, for one more step. `before` is the hash before it, `step` has
    the step's columns by name."""
    return text_hash(canonical_text([before, *(plain_json(step[name]) for name in CHAINED_COLUMNS)]))


def _chain_before(turn: OpenTurn) -> str:
    """Return the hash chain of the log up to the last step taken. If the stored steps have no hashes, compute
    the chain from the first step."""
    episode = turn.episode
    if turn.past and turn.past[0].chain:
        return turn.past[0].chain
    chain = first_chain_hash(episode)
    if episode.step:
        for row in Step.objects.filter(episode=episode, number__lte=episode.step).order_by("number"):
            chain = next_chain_hash(chain, vars(row))
    return chain
