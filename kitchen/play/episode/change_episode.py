"""Change an episode in transactions: submit commands, run a step, close a turn, end it, leave it.

All commands arrive through `submit_commands`. A step is open until every seat has its command. The last
command runs the world in the same transaction: the log row and the new state are written together or not at
all. Seats that are not asked receive their command when the step opens (`contract.planned_commands`). If they
may act, they receive it when the step runs. A step in which nobody is asked runs by itself, after a moment if
a person may act in it.

If agents are to appear to think for some time, the commands wait in the database. A small task then runs the
step (`run_due_step`). A command that is late, repeated or for another step changes nothing, and the `Receipt`
says so.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from time import perf_counter

from django.db import transaction
from django.utils import timezone

from kitchen.contract.dialogue_rounds import ROUND_KEY, DialoguePosition
from kitchen.contract.language_model import Call
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world import Command
from kitchen.infra import prometheus_metrics
from kitchen.infra.storable_json import storable_text
from kitchen.play.episode import absent_players
from kitchen.play.episode.absent_players import ABSENCE_REASONS, LEFT, hand_over_seat
from kitchen.play.episode.log_integrity import seal_episode
from kitchen.play.models import Decision, Episode, Message, Seat, SeatCommand, new_key
from kitchen.play.turn import page_broadcast, step_timer
from kitchen.play.turn.conversation import (
    add_heard_note,
    ask_for_answers,
    complete_jobs,
    messages_of_decision,
    store_messages,
    wait_for_informed_seats,
)
from kitchen.play.turn.decision_records import store_calls
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.play_task_queue import ask_coplayers, is_offline, run_step_later
from kitchen.play.turn.state_store import ComputedStep
from kitchen.play.turn.turn_cache import exclusive_turn, refresh_turn
from kitchen.play.turn.websocket_messages import EpisodeNews
from kitchen.registry.world_registry import get_world
from kitchen.uptime.outage_queries import deadline_counts
from kitchen.words.translation import gettext_noop

log = logging.getLogger(__name__)

MAX_STEPS_PER_TRANSACTION = 20
"""Maximum number of steps that one transaction runs when nobody is asked in several steps in a row."""
OVERDUE_SECONDS = 2.0
"""Seconds after which a step that should have run counts as overdue. Any worker may then run it."""

RECEIPTS = {
    "accepted": gettext_noop("Your choice is in."),
    "repeated": gettext_noop("Your choice was in already."),
    "double": gettext_noop("You had already chosen for this step; your first choice stands."),
    "late": gettext_noop("That step had already been played. Here is where things are now."),
    "early": gettext_noop("That step has not begun yet. Here is where things are now."),
    "too_late": gettext_noop("Too late: the step is over, and you did nothing in it."),
    "over": gettext_noop("This episode has ended."),
    "elsewhere": gettext_noop("This is open in another tab: continue there, or choose to play here instead."),
    "clocked": gettext_noop("The clock takes the steps here: press a key."),
    "passed_by": gettext_noop("There is nothing to choose in this step."),
    "taken": gettext_noop("Another worker is deciding this step."),
    "not_offered": gettext_noop("That is not possible at this moment. Choose one of the actions shown."),
}
"""Every answer of `submit_commands`, in English, to be translated for the person who sent the command."""


@dataclass(frozen=True, slots=True)
class SubmittedCommand:
    """One seat's command as submitted."""

    seat: int
    command: Command
    chosen_by: str = "person"
    fallback: str = ""
    page: str = ""
    """The id of the browser page that sent the command. Empty for programs and agents."""
    then: tuple[Command, ...] = ()
    """The plan: what the seat does afterwards without being asked (see `contract.planned_commands`)."""


@dataclass(frozen=True, slots=True)
class SubmittedDecision:
    """One agent's decision with its model calls. It is stored with the commands or not at all."""

    row: Decision
    calls: tuple[Call, ...] = ()
    member: int = 0
    """The agent's number among the members of the episode."""
    says: tuple[MessageDraft, ...] = ()
    """The messages that the agent sends with the decision. Refused ones are left out."""
    plans: Mapping[int, Sequence[Command]] = field(default_factory=dict)
    """New plans for seats that already have a plan and are not commanded by this decision."""
    talk: DialoguePosition | None = None
    """How far the agent had followed the talk of this step when it was last asked. None if agents do not
    talk.
    """


@dataclass(frozen=True, slots=True)
class Receipt:
    """The answer to submitted commands. `code` is a key of `RECEIPTS`."""

    code: str
    step: int
    """Number of steps taken when the answer was given."""

    @property
    def accepted(self) -> bool:
        """True if the commands were accepted."""
        return self.code == "accepted"

    @property
    def text(self) -> str:
        """The answer in English words."""
        return RECEIPTS[self.code]


def submit_commands(
    *,
    episode_id: int,
    step: int,
    commands: Sequence[SubmittedCommand],
    decisions: Sequence[SubmittedDecision] = (),
    claim: str = "",
) -> Receipt:
    """Submit commands for one step (the first is 1), and the decisions of the agents that made them.

    All commands are accepted, or none. Decisions are refused while another worker than the owner of `claim`
    is making them. The step runs as soon as every seat has a command and the agents have thought long enough.
    Raises Episode.DoesNotExist.
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
    """Do the work of `submit_commands` on a turn that the caller holds. The turn is refreshed afterwards."""
    ahead, began = _work_ahead(turn, step, commands), perf_counter()
    with transaction.atomic():
        same = refresh_turn(turn, lock=True)
        prometheus_metrics.lock_wait_seconds.observe(perf_counter() - began)
        ahead = ahead if same else None
        _in_time(turn)
        minds = {each.row.mind_id: turn.standing[each.row.mind_id] for each in decisions}
        taken = any(mind.is_claimed_by_another(step, claim) for mind in minds.values())
        if code := _refusal(turn, step, commands, offered=ahead is not None) or ("taken" if taken else None):
            return Receipt(code, turn.episode.step)
        turn.add([_row(turn, given) for given in commands])
        for each in decisions:
            each.row.number = minds[each.row.mind_id].decided + 1
        said = _said(turn, decisions)
        Decision.objects.bulk_create([decision.row for decision in decisions])
        turn.remember([decision.row for decision in decisions])
        store_messages(turn, said)
        _replan(turn, decisions)
        _count_decisions(decisions)
        continue_episode(turn, ahead, asked=bool(decisions))
        # stored last: it locks prompts that others need
        store_calls([(each.row, each.calls) for each in decisions])
        _seal(turn)
        _nudge(turn, commands)
    return Receipt("accepted", turn.episode.step)


def _said(turn: OpenTurn, decisions: Sequence[SubmittedDecision]) -> list[Message]:
    """Return the agents' messages, agent by agent. Messages of a talk among agents are ordered by round."""
    said: list[Message] = []
    rounds = sorted({say.data.get(ROUND_KEY, 0) for each in decisions for say in each.says})
    for number in rounds:
        for each in decisions:
            says = [say for say in each.says if say.data.get(ROUND_KEY, 0) == number]
            said += messages_of_decision(turn, each.member, says, each.row)
    for each in decisions:
        if each.talk:
            add_heard_note(turn, each.member, each.talk, each.row, said)
    return said


def _replan(turn: OpenTurn, decisions: Sequence[SubmittedDecision]) -> None:
    for made in decisions:
        for seat, then in made.plans.items():
            turn.replan(seat, then, chosen_by=made.row.played_by, fallback=made.row.fallback)


def _work_ahead(turn: OpenTurn, step: int, commands: Sequence[SubmittedCommand]) -> ComputedStep | None:
    """Compute the step before the lock is taken, so that the lock is held as briefly as possible.

    The result is valid if the turn is unchanged when locked. Returns None if the step will not run at once or
    if the commands may be refused.
    """
    more = [(given.seat, given.command) for given in commands if given.seat not in turn.given]
    seats = turn.given.keys() | {seat for seat, _ in more}
    if not turn.is_open or step != turn.step or turn.thinking_seconds or turn.numbers != seats | turn.may_act:
        return None
    more += [(seat, idle) for seat, idle in turn.left_idle if seat not in seats]
    return turn.work_out(turn.running_order(more)) if _offered(turn, commands) else None


def run_due_step(*, episode_id: int, step: int) -> bool:
    """Run a step whose commands are all in, if the agents have thought long enough.

    Returns False, and changes nothing, if the step is not due yet or was already taken.
    """
    with suppress(Episode.DoesNotExist), exclusive_turn(episode_id) as turn, transaction.atomic():
        refresh_turn(turn, lock=True)
        if turn.is_open and turn.step == step and turn.is_complete:
            continue_episode(turn)
            _seal(turn)
            _nudge(turn)
            return turn.episode.step >= step
    return False


def close_expired_turn(*, episode_id: int, step: int) -> bool:
    """Close a turn whose time is over.

    People who have not commanded do nothing in the step, and the log says that their time ran out. Where no
    person acts, the agents are asked. Returns False, and changes nothing, if the time is not over or the step
    was already taken.
    """
    with suppress(Episode.DoesNotExist), exclusive_turn(episode_id) as turn, transaction.atomic():
        refresh_turn(turn, lock=True)
        return turn.step == step and (_in_time(turn) or _led_on(turn))
    return False


def _led_on(turn: OpenTurn) -> bool:
    """Ask the agents if no person acts and the leaders' time is over. Return True if they are asked.

    Nothing happens if a needed part of the server was down.
    """
    closes_at = turn.episode.turn_closes_at
    if not (turn.is_open and turn.is_paced and closes_at) or turn.is_held or not deadline_counts(closes_at):
        return False
    continue_episode(turn)
    _seal(turn)
    _nudge(turn)
    return True


def _in_time(turn: OpenTurn) -> bool:
    """Close the turn if its time is over, unless a needed part of the server was down. Return True if it was
    closed.
    """
    overdue, closes_at = turn.overdue, turn.episode.turn_closes_at
    if not overdue or closes_at is None or not deadline_counts(closes_at):
        return False
    idle, why = get_world(turn.episode.world).idle, step_timer.timeout_reason(turn.episode, turn.asked_at)
    turn.add([_row(turn, SubmittedCommand(seat, idle, why, why)) for seat in overdue])
    if why == step_timer.TIMEOUT:
        _count(partial(prometheus_metrics.turns_timed_out.labels(turn.episode.world).inc, len(overdue)))
    continue_episode(turn)
    _see_to_absent(turn)
    _seal(turn)
    _nudge(turn)
    return True


def _see_to_absent(turn: OpenTurn) -> None:
    """Hand over the seats of people who missed too many turns, or end the episode."""
    for seat in absent_players.absent_seats(turn) if turn.is_open else ():
        if not absent_players.hand_over_seat(turn, seat, absent_players.AWAY):
            _end(
                turn.episode.pk,
                Episode.Status.ABANDONED,
                reason=absent_players.ABSENCE_REASONS[absent_players.AWAY],
                sealed=False,
            )
            refresh_turn(turn)
            return
        continue_episode(turn)


def continue_after_takeover(turn: OpenTurn) -> None:
    """Continue the episode after an agent has taken a seat over: run the step, or ask the agents."""
    continue_episode(turn)
    ask_for_answers(turn)
    _seal(turn)
    _nudge(turn)
    transaction.on_commit(partial(page_broadcast.nudge_pages, turn.episode.pk))


def _seal(turn: OpenTurn) -> None:
    """Seal the episode if this was its last step."""
    if not turn.is_open:
        seal_episode(turn.episode)


def _nudge(turn: OpenTurn, commands: Sequence[SubmittedCommand] = ()) -> None:
    """Notify people's pages after the commit, except a page that waits for the answer to its command."""
    waits = {given.page for given in commands if given.page}
    if {turn.pages[seat] for seat in turn.people | turn.leaders} - waits and not is_offline():
        transaction.on_commit(partial(page_broadcast.nudge_pages, turn.episode.pk, turn.stamp))


def _row(turn: OpenTurn, given: SubmittedCommand) -> SeatCommand:
    to_follow = [list(command) for command in given.then] or None
    return turn.row(
        given.seat, given.command, chosen_by=given.chosen_by, fallback=given.fallback, to_follow=to_follow
    )


def _refusal(turn: OpenTurn, step: int, commands: Sequence[SubmittedCommand], *, offered: bool) -> str | None:
    """Return the code of a refusal, or None if the commands are accepted.

    `offered` says that the commands are already known to be allowed.
    """
    if not turn.is_open or turn.episode.tick_ms:
        return "clocked" if turn.is_open else "over"
    if any(given.page and given.page != turn.pages.get(given.seat) for given in commands):
        return "elsewhere"
    if step <= turn.step and _ran_out(turn.episode, step, commands):
        return "too_late"
    if step < turn.step:
        return "repeated" if _is_stored(turn.episode, step, commands) else "late"
    if step > turn.step:
        return "early"
    if turn.passed_by & {given.seat for given in commands}:
        return "passed_by"
    doubled = [given for given in commands if given.seat in turn.given]
    if doubled:
        same = all(tuple(turn.given[given.seat].command) == given.command for given in doubled)
        return "repeated" if same else "double"
    return None if offered or _offered(turn, commands) else "not_offered"


def _ran_out(episode: Episode, step: int, commands: Sequence[SubmittedCommand]) -> bool:
    """Return True if time ran out for one of these seats in that step."""
    if episode.step_seconds is None:
        return False
    rows = SeatCommand.objects.filter(episode=episode, step=step, chosen_by__in=step_timer.NO_CHOICE_CODES)
    return rows.filter(seat__in=[given.seat for given in commands]).exists()


def _is_stored(episode: Episode, step: int, commands: Sequence[SubmittedCommand]) -> bool:
    """Return True if exactly these commands were accepted for that step. The page may have missed the
    answer.
    """
    rows = SeatCommand.objects.filter(episode=episode, step=step).values_list("seat", "command")
    taken = {seat: tuple(command) for seat, command in rows}
    return all(taken.get(given.seat) == given.command for given in commands)


def _offered(turn: OpenTurn, commands: Sequence[SubmittedCommand]) -> bool:
    """Return True if people's commands are among the actions offered to them.

    Agents' commands are not checked here: the world refuses a wrong one and logs it.
    """
    if {given.seat for given in commands} - turn.numbers:
        return False
    people = [given for given in commands if given.seat in turn.people]
    if any(given.then for given in people) and not turn.episode.offers_plans:
        return False
    return all(turn.world.accepts(given.seat, given.command) for given in people)


def continue_episode(turn: OpenTurn, ahead: ComputedStep | None = None, *, asked: bool = False) -> None:
    """Run the step if it is due, and the following steps in which nobody is asked. Otherwise ask the agents.

    With `asked`, the agents were already asked for this step. Tasks begin after the commit. Nothing happens
    in a real-time episode (`kitchen.realtime`).
    """
    if turn.episode.tick_ms:
        return
    before = turn.step
    while turn.is_complete and not turn.is_held and _may_run(turn, before) and _is_due(turn):
        rows, asked = turn.take(ahead), False
        ahead = None
        complete_jobs(turn)
        wait_for_informed_seats(turn)
        _count_step(turn, rows)
        _tell_audience(turn.episode, rows)
    if turn.step != before:
        step_timer.schedule_turn_close(turn.episode)
        ask_for_answers(turn)
    if turn.waits_for_minds and not asked and not is_offline():
        for party in turn.parties:
            transaction.on_commit(partial(ask_coplayers, turn.episode.pk, turn.step, *party))


def _may_run(turn: OpenTurn, first: int) -> bool:
    """Return True if this transaction, which began at step `first`, may run one more step.

    Otherwise a task is queued that runs it.
    """
    if is_offline() or turn.step - first < MAX_STEPS_PER_TRANSACTION:
        return True
    transaction.on_commit(partial(run_step_later, turn.episode.pk, turn.step, 0.0))
    return False


def _count_step(turn: OpenTurn, rows: Collection[SeatCommand]) -> None:
    """Measure how long the last person who chose waited for the step just taken."""
    chosen = (row for row in rows if row.chosen_by in step_timer.PEOPLE_CODES and row.planned_in is None)
    episode, came = turn.episode, [row.received_at for row in chosen]
    if came:
        seconds = (episode.turn_opened_at - max(came)).total_seconds()
        timed = "untimed" if episode.step_seconds is None else "timed"
        _count(partial(prometheus_metrics.count_step, episode.world, timed, seconds))


def _count_decisions(decisions: Sequence[SubmittedDecision]) -> None:
    made = [(each.row.mind.kind, each.row.milliseconds, each.row.fallback) for each in decisions]
    if made:
        _count(partial(prometheus_metrics.count_decisions, made))


def _count(counted: Callable[[], None]) -> None:
    """Update a metric after the commit, unless the episode is played offline."""
    if not is_offline():
        transaction.on_commit(counted)


def _is_due(turn: OpenTurn) -> bool:
    """Return True if the step can run now. Otherwise queue a task that runs it when it is due.

    Workers leave the step alone until it is overdue. If the time left is longer than the whole delay, the
    clock was set back, and the step runs now.
    """
    seconds = (turn.due_at - timezone.now()).total_seconds()
    if not 0 < seconds <= max(turn.thinking_seconds, turn.pause_seconds):
        return True
    until = turn.due_at + timedelta(seconds=OVERDUE_SECONDS)
    Episode.objects.filter(pk=turn.episode.pk).update(deciding_until=until, deciding_by="")
    transaction.on_commit(partial(run_step_later, turn.episode.pk, turn.step, seconds))
    return False


def _tell_audience(episode: Episode, commands: Collection[SeatCommand] = ()) -> None:
    """Send news of the step just taken, or of the end, to staff who watch (after the commit)."""
    if not episode.audience:
        return
    waited = sum(row.chosen_by in step_timer.NO_CHOICE_CODES for row in commands)
    news = EpisodeNews(
        episode=str(episode.key),
        step=episode.step,
        status=str(episode.status),
        fallbacks=sum(bool(row.fallback) for row in commands) - waited,
        ran_out=sum(row.chosen_by == step_timer.TIMEOUT for row in commands),
    )
    transaction.on_commit(partial(page_broadcast.notify_audience, episode.audience, news))


def end_episode(*, episode_id: int, reason: str) -> bool:
    """End an episode on behalf of staff, with a reason. Returns False if it had already ended.

    Raises ValueError if the reason is empty. The page says that the episode was ended, not why, and leads on.
    """
    if not reason.strip():
        raise ValueError("reason: say why the episode is ended")
    ended = _end(episode_id, Episode.Status.ABORTED, reason=storable_text(reason.strip()))
    if ended:
        log.info("episode %s was ended by staff", episode_id)
    return ended


def abandon_episode(*, episode_id: int, reason: str) -> bool:
    """End an episode because a person who plays in it is gone. Returns False if it had already ended.

    `reason` completes “It was ended because …” on the pages still open, where it is translated.
    """
    return _end(episode_id, Episode.Status.ABANDONED, reason=reason)


@transaction.atomic
def _end(episode_id: int, status: Episode.Status, *, reason: str = "", sealed: bool = True) -> bool:
    """End the episode if it is still played. The open step is never taken.

    With `sealed=False`, the holder of the turn seals the episode.
    """
    playing = Episode.objects.select_for_update().filter(pk=episode_id, status=Episode.Status.PLAYING)
    episode = playing.first()
    if episode is None:
        return False
    episode.status, episode.ended_because = status, reason
    episode.ended_at, episode.turn_closes_at = timezone.now(), None
    episode.save(update_fields=["status", "ended_because", "ended_at", "turn_closes_at"])
    if sealed:
        seal_episode(episode)
    _tell_audience(episode)
    transaction.on_commit(partial(page_broadcast.nudge_pages, episode_id))
    return True


def leave_seat(*, episode_id: int, seat: int) -> bool:
    """Remove the person from this seat.

    An agent takes the seat over if the policy says so and another person plays on. Otherwise the episode
    ends, also if the person led without a seat of the world. The person's key stops working. Returns False if
    the episode was already over.
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
        return is_person and abandon_episode(episode_id=episode_id, reason=ABSENCE_REASONS[LEFT])
