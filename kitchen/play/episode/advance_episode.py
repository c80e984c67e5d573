"""Change a live episode in transactions: submit commands, run steps, close turns, leave it, or end it.

A step runs when every player has a command. The new state and its log row are stored together or not at all.
A command that is late, repeated or for another step changes nothing. The returned `Receipt` says why. After
each change, `continue_episode` runs all steps that can run, asks the agents, and notifies the pages.
"""

# A step stays open until every seat has a command. The last command runs the step in the same transaction:
# the log row and the new state are stored together or not at all. A command that is late, repeated or for
# another step changes nothing; the returned `Receipt` gives the reason.
#
# After each change, `continue_episode` runs every step that is due, asks the agents, and notifies the pages.
# A step in which nobody has to choose runs by itself. If agents must appear to think, their commands wait in
# the database until a task runs the step.

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from time import perf_counter

from django.db import transaction
from django.utils import timezone

from kitchen.contract.agent import REASON_TO_ANSWER
from kitchen.contract.dialogue_rounds import ROUND_KEY
from kitchen.infra import prometheus_metrics
from kitchen.infra.joined_statements import delayed_statements
from kitchen.play.episode import absent_players
from kitchen.play.episode.absent_players import ABSENCE_REASONS, LEFT, hand_over_seat
from kitchen.play.episode.answer_probes import end_answered_hold, end_expired_hold, refresh_and_answer
from kitchen.play.episode.end_episode import (
    abandon_episode,
    end_for_lack_of_money,
    end_now,
    has_unpaid_call,
)
from kitchen.play.episode.log_integrity import seal_episode
from kitchen.play.models import Episode, Message, Seat, SeatCommand, new_key
from kitchen.play.turn import page_broadcast, step_timer
from kitchen.play.turn.announce_episode import announce_episode
from kitchen.play.turn.busy_people_answers import (
    postpone_commands,
    store_wordless_answer,
    update_awaited_answers,
)
from kitchen.play.turn.conversation import (
    add_heard_note,
    complete_jobs,
    messages_of_decision,
    store_messages,
    wait_for_informed_seats,
)
from kitchen.play.turn.decision_records import store_calls, store_decision_rows
from kitchen.play.turn.leader_waits import stop_waiting_for_leader
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.play_task_queue import ask_coplayers, is_offline, run_step_later
from kitchen.play.turn.probe_holds import Answers
from kitchen.play.turn.scheduled_steps import delay_decisions, open_scheduled_step
from kitchen.play.turn.speaking_order import (
    NOT_YOUR_TURN,
    ask_for_answers,
    has_spoken_enough,
    held_seats,
    overdue_people,
    passing_turn,
)
from kitchen.play.turn.state_store import ComputedStep
from kitchen.play.turn.step_store import add_submitted, store_plans_of, take_step
from kitchen.play.turn.submitted_commands import Receipt, SubmittedCommand, SubmittedDecision
from kitchen.play.turn.turn_cache import exclusive_turn, refresh_turn
from kitchen.play.turn.turn_rules import (
    compute_ahead,
    decision_parties,
    is_held,
    is_paced,
    missing_seats,
    refusal,
    seconds_until_due,
    waits_for_minds,
)
from kitchen.registry.world_registry import get_world
from kitchen.uptime.outage_queries import deadline_counts

MAX_STEPS_PER_TRANSACTION = 20
"""Maximum number of steps that one transaction runs when nobody is asked in several steps in a row."""
OVERDUE_SECONDS = 2.0
"""Seconds after which a step that should have run counts as overdue. Any worker may then run it."""


def continue_episode(turn: OpenTurn, computed: ComputedStep | None = None, *, asked: bool = False) -> None:
    """Run the open step if it is due, and all following steps in which nobody has to choose. If agents have
    to decide, ask them after the commit.

    `computed` is the result of the open step, if the caller has already computed it. `asked` is True if
    the agents were already asked for this step. In a real-time episode, only a hold of probes may end.
    """
    end_answered_hold(turn)
    if turn.episode.tick_ms:
        return
    before = turn.step
    while (delay := seconds_until_due(turn)) is not None and _may_run(turn, before, delay):
        rows, asked = take_step(turn, computed), False
        computed = None
        _count_step(turn.episode, rows)
        announce_episode(turn.episode, rows)
        complete_jobs(turn)
        wait_for_informed_seats(turn)
        open_scheduled_step(turn)
    if turn.step != before:
        step_timer.schedule_turn_close(turn.episode)
        ask_for_answers(turn)
    if not asked and not is_offline() and waits_for_minds(turn):
        for party in decision_parties(turn):
            transaction.on_commit(partial(ask_coplayers, turn.episode.pk, turn.step, *party))


def _may_run(turn: OpenTurn, first: int, delay: float) -> bool:
    """Return whether this transaction may run one more step now. `first` is the step with which the
    transaction began. If it may not, queue a task that runs the step after the delay. Workers leave the
    step alone until it is overdue."""
    if not is_offline() and turn.step - first >= MAX_STEPS_PER_TRANSACTION:
        delay = 0.0
    elif not delay:
        return True
    else:
        until = timezone.now() + timedelta(seconds=delay + OVERDUE_SECONDS)
        Episode.objects.filter(pk=turn.episode.pk).update(deciding_until=until, deciding_by="")
    transaction.on_commit(partial(run_step_later, turn.episode.pk, turn.step, delay))
    return False


def _count_step(episode: Episode, rows: Collection[SeatCommand]) -> None:
    """Record in the server's metrics how long the last person who chose a command waited for the step that
    was just taken."""
    came = [
        row.received_at for row in rows if row.chosen_by in step_timer.PEOPLE_CODES and row.planned_in is None
    ]
    if came:
        seconds = (episode.turn_opened_at - max(came)).total_seconds()
        timed = "untimed" if episode.step_seconds is None else "timed"
        count_on_commit(partial(prometheus_metrics.count_step, episode.world, timed, seconds))


def count_on_commit(counted: Callable[[], None]) -> None:
    """Call `counted`, which updates a Prometheus metric, after the commit. Does nothing inside
    `playing_offline`."""
    if not is_offline():
        transaction.on_commit(counted)


def seal_and_notify(turn: OpenTurn, waiting_pages: Collection[str] = ()) -> None:
    """Seal the episode if it has ended, and notify the pages of all people after the commit.

    `waiting_pages` are ids of pages that already wait for an answer. If there are no other pages, no page
    is notified.
    """
    if not turn.is_open:
        seal_episode(turn.episode)
    if {turn.pages[seat] for seat in turn.people | turn.leaders} - {*waiting_pages} and not is_offline():
        transaction.on_commit(partial(page_broadcast.nudge_pages, turn.episode.pk, turn.stamp))


log = logging.getLogger(__name__)


def submit_commands(
    *,
    episode_id: int,
    step: int,
    commands: Sequence[SubmittedCommand],
    decisions: Sequence[SubmittedDecision] = (),
    claim: str = "",
) -> Receipt:
    """Submit commands for one step (the first is 1), and the decisions of the agents that gave them.

    Either all commands are accepted, or none. The receipt gives the reason of a refusal. Decisions are
    refused if a worker other than the owner of `claim` is making them. The step runs once every seat has a
    command and the agents' minimum thinking time is over. Raises Episode.DoesNotExist if the episode was
    erased.
    """
    with exclusive_turn(episode_id) as turn:
        return submit_to_turn(turn, step=step, commands=commands, decisions=decisions, claim=claim)


def submit_to_turn(
    turn: OpenTurn,
    *,
    step: int,
    commands: Sequence[SubmittedCommand],
    decisions: Sequence[SubmittedDecision] = (),
    claim: str = "",
) -> Receipt:
    """Submit commands and decisions, as `submit_commands` does, on a turn that the caller got from
    `exclusive_turn`.

    `turn` is up to date afterwards.
    """
    ahead, began = compute_ahead(turn, step, commands), perf_counter()
    with transaction.atomic():
        same = refresh_turn(turn, lock=True)
        prometheus_metrics.lock_wait_seconds.observe(perf_counter() - began)
        if overdue := overdue_people(turn):
            _close(turn, overdue)
        ahead = ahead if same else None
        claims = [turn.standing.get(each.row.mind_id) for each in decisions]  # none: a person took the seat
        taken = any(each is None or each.is_claimed_by_another(step, claim) for each in claims)
        again = ""
        if turn.decided & {each.member for each in decisions}:
            again = "decided" if turn.people & {given.seat for given in commands} else "double"
        code = refusal(turn, step, commands, offered=ahead is not None) or again
        is_early = held_seats(turn) & {given.seat for given in commands}
        early = NOT_YOUR_TURN if is_early or (decisions and turn.people_to_answer) else ""
        if code := code or early or ("taken" if taken else ""):
            return Receipt(code, turn.episode.step)
        if has_unpaid_call(turn, decisions):
            store_decisions(turn, decisions)
            add_submitted(turn, commands)
            end_for_lack_of_money(turn, decisions)
            return Receipt("accepted", turn.episode.step)
        given, made = delay_decisions(turn, commands, decisions)
        with delayed_statements():
            with passing_turn(turn):
                later = store_decisions(turn, made, given) if made else set()
                add_submitted(turn, [each for each in given if each.seat not in later])
                update_awaited_answers(turn)
                continue_episode(turn, ahead, asked=bool(decisions) and not later)
            # stored last: it locks prompts that others need
            store_calls([(each.row, each.calls) for each in decisions])
            seal_and_notify(turn, {given.page for given in commands if given.page})
    return Receipt("accepted", turn.episode.step)


def store_decisions(
    turn: OpenTurn, decisions: Sequence[SubmittedDecision], commands: Sequence[SubmittedCommand] = ()
) -> set[int]:
    """Store agents' decisions with their messages and new plans, but without their model calls.

    `commands` are the agents' commands. Return the seats whose commands must not be stored yet (see
    `postpone_commands`).
    """
    rows = [each.row for each in decisions]
    for row in rows:
        row.number = turn.standing[row.mind_id].decided + 1
    said = _messages(turn, decisions)
    postponed = postpone_commands(turn, decisions, commands) if said else set()
    store_decision_rows(rows, with_ids=any(each.calls or each.says for each in decisions))
    turn.remember(rows)
    turn.decided |= (turn.leading_minds | turn.called) & {each.member for each in decisions}
    store_messages(turn, said)
    for made in decisions:
        if made.row.because != REASON_TO_ANSWER:
            store_plans_of(turn, made)
    counted = [(row.mind.kind, row.milliseconds, row.fallback) for row in rows]
    count_on_commit(partial(prometheus_metrics.count_decisions, counted))
    return postponed


def _messages(turn: OpenTurn, decisions: Sequence[SubmittedDecision]) -> list[Message]:
    """Return the agents' messages, agent by agent. Messages of a talk among agents are ordered by round."""
    said: list[Message] = []
    says = [(say, each) for each in decisions for say in each.says]
    silenced = {
        each.row.mind_id for each in decisions if each.says and has_spoken_enough(turn, each.row.mind)
    }
    for say, each in sorted(says, key=lambda one: one[0].data.get(ROUND_KEY, 0)):
        said += messages_of_decision(
            turn, each.member, [say], each.row, has_spoken_enough=each.row.mind_id in silenced
        )
    for each in decisions:
        if each.talk:
            add_heard_note(turn, each.member, each.talk, each.row, said)
    return said


def run_due_step(*, episode_id: int, step: int) -> bool:
    """Run a step if all seats have commands and the agents' minimum thinking time is over.

    Returns False if the step was not run: the step is not due or already over, or the episode was erased.
    """
    with suppress(Episode.DoesNotExist), exclusive_turn(episode_id) as turn, transaction.atomic():
        refresh_turn(turn, lock=True)
        if turn.is_open and turn.step == step and not missing_seats(turn):
            with delayed_statements():
                continue_episode(turn)
                seal_and_notify(turn)
            return turn.episode.step >= step
    return False


def close_expired_turn(*, episode_id: int, step: int) -> bool:
    """Close the open turn if its time limit is over. People without a command do nothing in the step, and the
    log records that their time ran out. If no person acts in the world, the agents are asked now.

    Returns False, and changes nothing, if time is left or the step is already over.
    """
    with suppress(Episode.DoesNotExist), exclusive_turn(episode_id) as turn, transaction.atomic():
        refresh_turn(turn, lock=True)
        if turn.is_probing:
            return turn.step == step and _end_expired_hold(turn)
        return turn.step == step and (_close(turn, overdue_people(turn)) or _ask_led_agents(turn))
    return False


def _end_expired_hold(turn: OpenTurn) -> bool:
    """Let the game go on if the time for the answers to probes is over. Return True if it goes on."""
    if not end_expired_hold(turn):
        return False
    _go_on_after_probes(turn)
    return True


def _go_on_after_probes(turn: OpenTurn) -> None:
    continue_episode(turn)
    if not (turn.is_probing or turn.episode.tick_ms):
        ask_for_answers(turn)
    seal_and_notify(turn)


def answer_probes(turn: OpenTurn, *, seat: int, step: int, answers: Answers, page: str = "") -> Receipt:
    """Store a person's answers to the probes that hold the game, on a turn from `exclusive_turn`. If nobody
    else has to answer, the game goes on. `step` is the number of steps after which it was held."""
    with transaction.atomic():
        receipt = refresh_and_answer(turn, seat=seat, step=step, answers=answers, page=page)
        if receipt.accepted and not turn.is_probing:
            _go_on_after_probes(turn)
        if (
            receipt.accepted and not is_offline()
        ):  # others see who still answers, which the stamp does not cover
            transaction.on_commit(partial(page_broadcast.nudge_pages, turn.episode.pk))
    return receipt


def _ask_led_agents(turn: OpenTurn) -> bool:
    """Ask the agents if no person acts and the leaders' time is over. Return True if they are asked.

    Nothing happens if a needed part of the server was down.
    """
    closes_at = turn.episode.turn_closes_at
    if not (turn.is_open and is_paced(turn) and closes_at) or is_held(turn) or not deadline_counts(closes_at):
        return False
    continue_episode(turn)
    seal_and_notify(turn)
    return True


def _close(turn: OpenTurn, overdue: Sequence[int]) -> bool:
    """Close the turn for the people in the seats `overdue`, whose time is over. For busy people who had to
    answer a message, and for leaders without a seat, only this answer ends.

    Return True if it was closed. Return False if the list is empty, or if the deadline does not count because
    a needed part of the server was down.
    """
    closes_at = turn.episode.turn_closes_at
    if not overdue or closes_at is None or not deadline_counts(closes_at):
        return False
    idle, why = get_world(turn.episode.world).idle, step_timer.timeout_reason(turn.episode, turn.asked_at)
    if why == step_timer.TIMEOUT:
        timed_out = prometheus_metrics.turns_timed_out.labels(turn.episode.world)
        count_on_commit(partial(timed_out.inc, len(overdue)))
    silent = turn.people_to_answer.intersection(overdue)
    with passing_turn(turn):
        add_submitted(turn, [SubmittedCommand(seat, idle, why, why) for seat in {*overdue} - silent])
        for seat in silent & turn.leaders:
            stop_waiting_for_leader(turn, seat, ran_out=True)
        for seat in silent - turn.leaders:
            store_wordless_answer(turn, seat, ran_out=True)
        update_awaited_answers(turn)
        continue_episode(turn)
    if silent:
        ask_for_answers(turn)
    _replace_absent_people(turn)
    seal_and_notify(turn)
    return True


def _replace_absent_people(turn: OpenTurn) -> None:
    """Hand over the seats of people who missed too many turns, or end the episode."""
    for seat in absent_players.absent_seats(turn) if turn.is_open else ():
        if turn.episode.step_seconds is None and turn.episode.tick_ms is None:
            return  # the limit was lifted for the last person
        if not absent_players.hand_over_seat(turn, seat, absent_players.AWAY):
            end_now(
                turn.episode.pk,
                Episode.Status.ABANDONED,
                reason=absent_players.ABSENCE_REASONS[absent_players.AWAY],
                sealed=False,
            )
            refresh_turn(turn)
            return
        continue_episode(turn)


def continue_after_takeover(turn: OpenTurn) -> None:
    """Continue the episode after an agent has taken over a seat: run the step if it is due, or ask the
    agents."""
    continue_episode(turn)
    ask_for_answers(turn)
    seal_and_notify(turn)
    transaction.on_commit(partial(page_broadcast.nudge_pages, turn.episode.pk))


def join_episode(
    *, episode_id: int, seat: int | None = None, step_seconds: float | None = None
) -> int | None:
    """Give a person a seat that an agent plays, and return its number. It is the first free seat, or `seat`,
    which the person had before an absence.

    From then on, people have `step_seconds` for a step. Returns None if no such seat is left, or if the
    episode is over. Raises Episode.DoesNotExist if it was erased.
    """
    with exclusive_turn(episode_id) as turn, transaction.atomic():
        refresh_turn(turn, lock=True)
        free = absent_players.free_seats(turn.episode) if seat is None else [seat]
        if not (turn.is_open and free and absent_players.seat_person(turn, free[0])):
            return None
        if step_seconds and turn.episode.tick_ms is None:
            Episode.objects.filter(pk=episode_id).update(step_seconds=step_seconds)
            step_timer.start_first_turn_timer(episode_id=episode_id, everybody=False)
        transaction.on_commit(partial(page_broadcast.nudge_pages, episode_id))
        return free[0]


def replace_absent_person(*, episode_id: int, seat: int) -> bool:
    """Let an agent play for a person whose page is closed. `join_episode` gives the seat back.

    Returns False, and changes nothing, if the episode is over, its absence policy names no agent, or no other
    person is left.
    """
    with suppress(Episode.DoesNotExist), exclusive_turn(episode_id) as turn, transaction.atomic():
        refresh_turn(turn, lock=True)
        if turn.is_open and seat in turn.people and hand_over_seat(turn, seat, absent_players.AWAY):
            continue_after_takeover(turn)
            return True
    return False


def leave_seat(*, episode_id: int, seat: int, reason: str = ABSENCE_REASONS[LEFT]) -> bool:
    """Remove the person from this seat. The person's key stops working.

    An agent takes over the seat if the episode's absence policy allows it and another person still plays.
    Otherwise the episode ends, for this `reason`. Always ends the episode if `seat` is the number of a leader
    without a seat in the world. Returns False if the episode was already over.
    """
    with exclusive_turn(episode_id) as turn, transaction.atomic():
        refresh_turn(turn, lock=True)
        Seat.objects.filter(episode=episode_id, number=seat).update(key=new_key(), page="")
        if not turn.is_open:
            return False
        if seat in turn.people and hand_over_seat(turn, seat, LEFT):
            continue_after_takeover(turn)
            # this person's page may have been the last one missing
            step_timer.start_first_turn_timer(episode_id=episode_id)
            return True
        is_person = seat in turn.people | turn.leaders
        return is_person and abandon_episode(episode_id=episode_id, reason=reason)
