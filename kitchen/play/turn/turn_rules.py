"""Decide which players a step still waits for, when it may run, and which commands may be submitted.

The module changes no data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from django.utils import timezone

from kitchen.contract.agent import EVERYBODY
from kitchen.contract.automatic_commands import NOT_ASKED, WAITING
from kitchen.contract.world import Command
from kitchen.play.models import Episode, Mind, SeatCommand
from kitchen.play.turn.due_decisions import awaits_answer, has_real_time_question
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.state_store import ComputedStep
from kitchen.play.turn.step_timer import NO_CHOICE_CODES
from kitchen.play.turn.submitted_commands import SubmittedCommand
from kitchen.registry.world_registry import get_world

PROBING = "probing"
"""Code of the refusal of everything that people send while a probe holds the game."""
PAUSE_SECONDS = 0.6
"""Minimum seconds that a step stays open if no person has to choose but one may act. In this time people see
the step and can intervene.
"""


def missing_seats(turn: OpenTurn) -> set[int]:
    """Return the seats that the step still waits for. They are the seats without a command, the seats of
    agents that only lead and have not decided, those of people in `OpenTurn.people_to_answer`, and those of
    people who answer a probe."""
    missing = (turn.numbers - turn.given.keys() - turn.may_act) | turn.awaited_minds | turn.people_to_answer
    return missing | turn.probed_seats


def choosing_people(turn: OpenTurn) -> set[int]:
    """Return the seats of people whose command, or answer to a message, the step still waits for."""
    return missing_seats(turn) & turn.people


def asked_seats(turn: OpenTurn) -> set[int]:
    """Return the seats that must choose a command in this step. Seats with nothing to choose, seats with a
    plan, and seats that need not act are left out."""
    rows = turn.given.items()
    filled = {seat for seat, row in rows if row.chosen_by in NOT_ASKED or row.planned_in is not None}
    return turn.numbers - turn.may_act - filled


def busy_people(turn: OpenTurn) -> set[int]:
    """Return the seats of people who are not asked in this step, because an action or a plan continues."""
    return turn.people - asked_seats(turn)


def passed_by_seats(turn: OpenTurn) -> set[int]:
    """Return the seats that have nothing to choose in this step, or may not choose yet, and cannot act."""
    return {seat for seat, row in turn.given.items() if row.chosen_by in NOT_ASKED}


def waiting_seats(turn: OpenTurn) -> set[int]:
    """Return the seats that the schedule (`kitchen.contract.team_schedules`) does not let choose in this
    step."""
    return {seat for seat, row in turn.given.items() if row.chosen_by == WAITING}


def is_paced(turn: OpenTurn) -> bool:
    """Return whether only agents act in the world, and the people who lead them have limited time for a
    step. The agents are then asked after this time. If the schedule asks the leaders, steps wait for them
    instead."""
    is_led = bool(turn.leaders) and not turn.people and not turn.can_wait_for_leaders
    return is_led and turn.episode.step_seconds is not None


def is_held(turn: OpenTurn) -> bool:
    """Return whether agents are not asked yet because of the people who lead them. Either these people
    still have time, or they have not opened their page."""
    closes_at = turn.episode.turn_closes_at
    return is_paced(turn) and (closes_at is None or timezone.now() < closes_at)


def overdue_seats(turn: OpenTurn) -> list[int]:
    """Return the seats of people for whom the step still waits, if the turn's deadline is over. Otherwise
    empty."""
    closes_at = turn.episode.turn_closes_at
    is_over = turn.is_open and not turn.is_probing and closes_at is not None and timezone.now() >= closes_at
    return sorted(choosing_people(turn) | turn.people_to_answer) if is_over else []


def minds_asked(turn: OpenTurn) -> list[Mind]:
    """Return the agents that still have to give a command in this step, ordered by number."""
    missing = missing_seats(turn)
    open_seats = {seat.mind_id for seat in turn.seats if seat.number in missing}
    return [mind for mind in turn.minds if mind.pk in open_seats]


def waits_for_minds(turn: OpenTurn) -> bool:
    """Return whether the step now waits only for agents: it waits for no person, and no leader has time
    left."""
    missing = missing_seats(turn)
    people = turn.people | turn.leaders
    return turn.is_open and bool(missing) and not missing & people and not is_held(turn)


def decision_parties(turn: OpenTurn) -> list[tuple[int, ...]]:
    """Return which agents decide in which task: one tuple for each task, with the numbers of its agents.

    A single empty tuple means one task for all agents. They are then asked one after another, because each
    knows the commands of those before.
    """
    return [()] if turn.episode.knowing == EVERYBODY else [(mind.number,) for mind in minds_asked(turn)]


def thinking_seconds(turn: OpenTurn) -> float:
    """Return the minimum seconds between the last person's command and the step, so that agents seem to
    think. 0 if no agent is asked."""
    return turn.episode.thinking_seconds if asked_seats(turn) - turn.people else 0.0


def pause_seconds(turn: OpenTurn) -> float:
    """Return the minimum seconds that the step stays open because a person may act in it, or waits for their
    turn, and no person is asked. A step of a person's plan stays open at least as long as the world says.

    Leaders without a seat also wait for their turn, if the schedule asks them. This is 0 in synthetic
    episodes, which programs play. While an agent thinks in real time, every step without a choice is kept
    open, because steps are then the agent's clock.
    """
    if not asked_seats(turn) and has_real_time_question(turn):
        return PAUSE_SECONDS
    if turn.episode.synthetic:
        return 0.0
    runs_plan = any(turn.given[seat].planned_in is not None for seat in turn.people & turn.given.keys())
    runs_parts = runs_plan and turn.episode.order_choices
    planned = get_world(turn.episode.world).planned_step_seconds if runs_parts else 0.0
    watching = turn.can_wait_for_leaders or turn.people & (turn.may_act | waiting_seats(turn))
    pauses = watching and not turn.people & asked_seats(turn)
    return max(planned, PAUSE_SECONDS, turn.episode.thinking_seconds) if pauses else planned


def due_at(turn: OpenTurn) -> datetime:
    """Return the earliest time at which the step may run, after `thinking_seconds` and `pause_seconds`."""
    opened_at = turn.episode.turn_opened_at
    came = [row.received_at for seat, row in turn.given.items() if seat in turn.people]
    asked_at = (is_paced(turn) and turn.episode.turn_closes_at) or opened_at
    thought_at = max(came, default=asked_at) + timedelta(seconds=thinking_seconds(turn))
    return max(thought_at, opened_at + timedelta(seconds=pause_seconds(turn)))


def seconds_until_due(turn: OpenTurn) -> float | None:
    """Return the seconds until the step may run; 0 if it may run now. None while the step waits for
    commands, for leaders, or for a decision that takes effect in the next step."""
    if missing_seats(turn) or is_held(turn) or awaits_answer(turn):
        return None
    seconds = (due_at(turn) - timezone.now()).total_seconds()
    return seconds if 0 < seconds <= max(thinking_seconds(turn), pause_seconds(turn)) else 0.0


def left_idle(turn: OpenTurn) -> list[tuple[int, Command]]:
    """Return the idle command as (seat, command), for each seat that may act but need not and has no
    command."""
    return [(seat, get_world(turn.episode.world).idle) for seat in sorted(turn.may_act)]


def running_order(turn: OpenTurn, more: Iterable[tuple[int, Command]] = ()) -> list[tuple[int, Command]]:
    """Return the turn's commands, together with `more`, as (seat, command) pairs in the order in which
    they run. People come first, by seat. Agents follow, by number. Each agent's commands keep their order."""
    # ids of agents follow their numbers
    order = {seat.number: (seat.mind_id or 0, 0 if seat.mind_id else seat.number) for seat in turn.seats}
    given = [(seat, tuple(row.command)) for seat, row in turn.given.items()]
    return sorted([*given, *more], key=lambda each: order.get(each[0], (0, 0)))


def compute_ahead(turn: OpenTurn, step: int, commands: Sequence[SubmittedCommand]) -> ComputedStep | None:
    """Compute the open step with these commands before the episode is locked, so that the lock is held only
    briefly.

    Use the result only if the turn is unchanged once locked. Returns None if the step will not run at
    once, if the commands may be refused, or if the world is `costly`: its object serves one step only.
    """
    more = {given.seat: given.command for given in commands if given.seat not in turn.given}
    seats = turn.given.keys() | more.keys()
    if (
        not turn.is_open
        or step != turn.step
        or turn.numbers != seats | turn.may_act
        or turn.awaited_minds
        or turn.people_to_answer
        or turn.is_probing
        or awaits_answer(turn)
        or thinking_seconds(turn)
        or get_world(turn.episode.world).costly
    ):
        return None
    more |= {seat: idle for seat, idle in left_idle(turn) if seat not in seats}
    in_order = running_order(turn, more.items())
    return turn.state.compute(in_order) if _are_offered(turn, commands) else None


def _are_offered(turn: OpenTurn, commands: Sequence[SubmittedCommand]) -> bool:
    """Return whether people's commands are among the actions offered to them.

    Agents' commands are not checked here: the world refuses a wrong one and logs it.
    """
    if {given.seat for given in commands} - turn.numbers:
        return False
    people = [given for given in commands if given.seat in turn.people]
    if any(given.then for given in people) and not turn.episode.offers_plans:
        return False
    return all(
        turn.world.accepts(given.seat, given.command) and can_all_be_planned(turn, given.seat, given.then)
        for given in people
    )


def can_all_be_planned(turn: OpenTurn, seat: int, then: Iterable[Command]) -> bool:
    """Return whether the world allows a person in this seat to plan all of these commands."""
    return all(turn.world.can_plan(seat, command) for command in then)


def refusal(turn: OpenTurn, step: int, commands: Sequence[SubmittedCommand], *, offered: bool) -> str:
    """Return the code of the reason why these commands are refused for `step` (see `RECEIPTS`). Empty if they
    are accepted.

    `offered` is True if the caller already knows that the world allows the commands.
    """
    if not turn.is_open or turn.episode.tick_ms:
        return "clocked" if turn.is_open else "over"
    if any(given.page and given.page != turn.pages.get(given.seat) for given in commands):
        return "elsewhere"
    if turn.is_probing and step == turn.step:
        return PROBING
    if step != turn.step:
        return _other_step(turn, step, commands)
    if _ran_out(turn.episode, step, commands):
        return "too_late"
    if passed_by_seats(turn) & {given.seat for given in commands}:
        return "passed_by"
    if doubled := [given for given in commands if given.seat in turn.given]:
        return _already_given(turn, commands, doubled)
    return "" if offered or _are_offered(turn, commands) else "not_offered"


def _already_given(
    turn: OpenTurn, commands: Sequence[SubmittedCommand], doubled: Sequence[SubmittedCommand]
) -> str:
    """Return the code for `commands` of which those in `doubled` come a second time. If a person is among the
    senders, only people's commands count. If none of those is doubled, the code is `decided`."""
    if any(given.seat in turn.people for given in commands):
        doubled = [given for given in doubled if given.seat in turn.people]
    if not doubled:
        return "decided"
    same = all(tuple(turn.given[given.seat].command) == given.command for given in doubled)
    return "repeated" if same else "double"


def _other_step(turn: OpenTurn, step: int, commands: Sequence[SubmittedCommand]) -> str:
    """Return the code of the reason why commands for a step that is not open are refused."""
    if step > turn.step:
        return "early"
    if _ran_out(turn.episode, step, commands):
        return "too_late"
    rows = SeatCommand.objects.filter(episode=turn.episode, step=step).values_list("seat", "command")
    taken = {seat: tuple(command) for seat, command in rows}
    # a page that missed the answer sends its command again
    return "repeated" if all(taken.get(each.seat) == each.command for each in commands) else "late"


def _ran_out(episode: Episode, step: int, commands: Sequence[SubmittedCommand]) -> bool:
    """Return whether the time limit of that step ended before one of these seats had a command."""
    if episode.step_seconds is None:
        return False
    rows = SeatCommand.objects.filter(episode=episode, step=step, chosen_by__in=NO_CHOICE_CODES)
    return rows.filter(seat__in=[given.seat for given in commands]).exists()
