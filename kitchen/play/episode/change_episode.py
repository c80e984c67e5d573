"""All transactions that change an episode: submit commands, run a step, close a turn, end it, leave it.

All commands come in through `submit_commands`. A step is open until every seat has its command. The last
command runs the world in the same transaction: the log row and the new state are written together or not at
all. Seats that are not asked have their command when the step opens (`contract.plans`), or, if they may act,
when it runs. A step in which nobody is asked runs by itself, after a moment if a person may act in it.

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
"""Steps that run in one transaction, where nobody is asked in one after another."""
OVERDUE_SECONDS = 2.0
"""A step that was to run so long ago is looked after by whoever sees it."""

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
"""Every answer of `submit_commands`, for the person who asked, to be looked up in their language."""


@dataclass(frozen=True, slots=True)
class SubmittedCommand:
    """One seat's command as it is handed in."""

    seat: int
    command: Command
    chosen_by: str = "person"
    fallback: str = ""
    page: str = ""
    """The browser's page that it comes from; empty where nobody asks (a program, a co-player)."""
    then: tuple[Command, ...] = ()
    """What the seat does after it without being asked (see `contract.plans`)."""


@dataclass(frozen=True, slots=True)
class SubmittedDecision:
    """What one mind decided, with the calls of models that it took: stored with the commands or not."""

    row: Decision
    calls: tuple[Call, ...] = ()
    member: int = 0
    """Who the mind is among the members of the episode."""
    says: tuple[MessageDraft, ...] = ()
    """What it says with it, as far as it may."""
    plans: Mapping[int, Sequence[Command]] = field(default_factory=dict)
    """New plans for seats that have one already, and so are not commanded with it."""
    talk: DialoguePosition | None = None
    """How far it had followed the talk of this step when it was asked last; None where minds do not talk."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The answer to commands handed in: `code` is a key of `RECEIPTS`."""

    code: str
    step: int
    """Steps taken when the answer was given."""

    @property
    def accepted(self) -> bool:
        """Whether the commands were taken."""
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
    """Hand in commands for one step (the first is 1), and what the minds behind them want to keep.

    All of them are taken, or none; decisions are not taken while another worker than the one with this
    `claim` is making them. The step runs as soon as no seat is left without a command and the co-players
    have thought for as long as they are to. Episode.DoesNotExist.
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
    """`submit_commands` for a turn that the caller has taken; it is up to date afterwards."""
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
        store_calls([(each.row, each.calls) for each in decisions])  # last: it locks what others need
        _seal(turn)
        _nudge(turn, commands)
    return Receipt("accepted", turn.episode.step)


def _said(turn: OpenTurn, decisions: Sequence[SubmittedDecision]) -> list[Message]:
    """What the minds say, mind by mind; those that talked with one another, round by round."""
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
    """The step as it will be if the turn is still what it was when it was read, so that the lock is held for
    as short as can be; None where that is not to be seen, or where the step will not run at once."""
    more = [(given.seat, given.command) for given in commands if given.seat not in turn.given]
    seats = turn.given.keys() | {seat for seat, _ in more}
    if not turn.is_open or step != turn.step or turn.thinking_seconds or turn.numbers != seats | turn.may_act:
        return None
    more += [(seat, idle) for seat, idle in turn.left_idle if seat not in seats]
    return turn.work_out(turn.running_order(more)) if _offered(turn, commands) else None


def run_due_step(*, episode_id: int, step: int) -> bool:
    """Run a step for which every command is in, if the co-players have thought long enough; False, and
    nothing changed, if it is not so far or over."""
    with suppress(Episode.DoesNotExist), exclusive_turn(episode_id) as turn, transaction.atomic():
        refresh_turn(turn, lock=True)
        if turn.is_open and turn.step == step and turn.is_complete:
            continue_episode(turn)
            _seal(turn)
            _nudge(turn)
            return turn.episode.step >= step
    return False


def close_expired_turn(*, episode_id: int, step: int) -> bool:
    """Close the turn of a step whose time is over: people who have not commanded wait in it, and the log says
    that time ran out. Where no person acts, the co-players are asked. False, and nothing changed, if it is
    not over or the step was taken already."""
    with suppress(Episode.DoesNotExist), exclusive_turn(episode_id) as turn, transaction.atomic():
        refresh_turn(turn, lock=True)
        return turn.step == step and (_in_time(turn) or _led_on(turn))
    return False


def _led_on(turn: OpenTurn) -> bool:
    """Where no person acts the co-players are asked when the time of who leads is over, unless something of
    ours was away; whether they are."""
    closes_at = turn.episode.turn_closes_at
    if not (turn.is_open and turn.is_paced and closes_at) or turn.is_held or not deadline_counts(closes_at):
        return False
    continue_episode(turn)
    _seal(turn)
    _nudge(turn)
    return True


def _in_time(turn: OpenTurn) -> bool:
    """A turn whose time is over is closed by whoever comes first, unless something of ours was away; whether
    this one was."""
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
    """Whoever has missed too many turns is gone: their seat is handed over, or the episode ends."""
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
    """What follows where a co-player has taken a seat over: the step may run, or co-players are asked."""
    continue_episode(turn)
    ask_for_answers(turn)
    _seal(turn)
    _nudge(turn)
    transaction.on_commit(partial(page_broadcast.nudge_pages, turn.episode.pk))


def _seal(turn: OpenTurn) -> None:
    """Seal what the episode has come to, if this was its last step."""
    if not turn.is_open:
        seal_episode(turn.episode)


def _nudge(turn: OpenTurn, commands: Sequence[SubmittedCommand] = ()) -> None:
    """Have the pages of people look, after the commit, but for one that waits for the answer to its
    command."""
    waits = {given.page for given in commands if given.page}
    if {turn.pages[seat] for seat in turn.people | turn.leaders} - waits and not is_offline():
        transaction.on_commit(partial(page_broadcast.nudge_pages, turn.episode.pk, turn.stamp))


def _row(turn: OpenTurn, given: SubmittedCommand) -> SeatCommand:
    to_follow = [list(command) for command in given.then] or None
    return turn.row(
        given.seat, given.command, chosen_by=given.chosen_by, fallback=given.fallback, to_follow=to_follow
    )


def _refusal(turn: OpenTurn, step: int, commands: Sequence[SubmittedCommand], *, offered: bool) -> str | None:
    """Why these commands cannot be taken, None if they can; `offered` says that they are known to be."""
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
    """Whether time ran out for one of these seats in that step."""
    if episode.step_seconds is None:
        return False
    rows = SeatCommand.objects.filter(episode=episode, step=step, chosen_by__in=step_timer.NO_CHOICE_CODES)
    return rows.filter(seat__in=[given.seat for given in commands]).exists()


def _is_stored(episode: Episode, step: int, commands: Sequence[SubmittedCommand]) -> bool:
    """Whether these very commands were taken for that step: the answer to them may have been lost."""
    rows = SeatCommand.objects.filter(episode=episode, step=step).values_list("seat", "command")
    taken = {seat: tuple(command) for seat, command in rows}
    return all(taken.get(given.seat) == given.command for given in commands)


def _offered(turn: OpenTurn, commands: Sequence[SubmittedCommand]) -> bool:
    """A person may do what the menu offers; what a co-player commands in error, the world refuses and
    logs."""
    if {given.seat for given in commands} - turn.numbers:
        return False
    people = [given for given in commands if given.seat in turn.people]
    if any(given.then for given in people) and not turn.episode.offers_plans:
        return False
    return all(turn.world.accepts(given.seat, given.command) for given in people)


def continue_episode(turn: OpenTurn, ahead: ComputedStep | None = None, *, asked: bool = False) -> None:
    """The step runs, now or when it is due, and with it those after it in which nobody is asked; or the
    co-players are asked, unless they were `asked` for this step. Tasks begin after the commit. Nothing
    happens where a clock takes the steps (`kitchen.realtime`)."""
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
    """Whether this transaction may run one more step, having begun with the `first`; if not, a task does."""
    if is_offline() or turn.step - first < MAX_STEPS_PER_TRANSACTION:
        return True
    transaction.on_commit(partial(run_step_later, turn.episode.pk, turn.step, 0.0))
    return False


def _count_step(turn: OpenTurn, rows: Collection[SeatCommand]) -> None:
    """How long the last person who chose waited for the step that was just taken."""
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
    """What is stored is counted, once it is, unless nobody is to know."""
    if not is_offline():
        transaction.on_commit(counted)


def _is_due(turn: OpenTurn) -> bool:
    """Whether the step can run now. If not, a task runs it then; nobody has to look after it until it is
    overdue. Where more time seems to be left than there ever was, the clock was set back."""
    seconds = (turn.due_at - timezone.now()).total_seconds()
    if not 0 < seconds <= max(turn.thinking_seconds, turn.pause_seconds):
        return True
    until = turn.due_at + timedelta(seconds=OVERDUE_SECONDS)
    Episode.objects.filter(pk=turn.episode.pk).update(deciding_until=until, deciding_by="")
    transaction.on_commit(partial(run_step_later, turn.episode.pk, turn.step, seconds))
    return False


def _tell_audience(episode: Episode, commands: Collection[SeatCommand] = ()) -> None:
    """News of the step just taken, or of the end, for staff who watch (after the commit)."""
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
    """Staff end an episode, and say why; False if it had ended already.

    ValueError without a reason. The page says that the episode was ended, not why, and leads on.
    """
    if not reason.strip():
        raise ValueError("reason: say why the episode is ended")
    ended = _end(episode_id, Episode.Status.ABORTED, reason=storable_text(reason.strip()))
    if ended:
        log.info("episode %s was ended by staff", episode_id)
    return ended


def abandon_episode(*, episode_id: int, reason: str) -> bool:
    """Somebody who plays in it is gone, so it ends; False if it had ended already.

    `reason` completes, for whoever still looks at the page, “It was ended because …”; it is looked up there.
    """
    return _end(episode_id, Episode.Status.ABANDONED, reason=reason)


@transaction.atomic
def _end(episode_id: int, status: Episode.Status, *, reason: str = "", sealed: bool = True) -> bool:
    """End it if it is still played; the step that is open is never taken. It is `sealed` here, or by whoever
    holds its turn."""
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
    """The person in this seat has left: a co-player takes it over where the episode says so and somebody
    else plays on, else the episode ends, as it does where they led without a seat of the world. Their key
    opens nothing any more. False, and nothing else changed, if it was over already."""
    with exclusive_turn(episode_id) as turn, transaction.atomic():
        refresh_turn(turn, lock=True)
        Seat.objects.filter(episode=episode_id, number=seat).update(key=new_key(), page="")
        if not turn.is_open:
            return False
        if seat in turn.people and hand_over_seat(turn, seat, LEFT):
            continue_after_takeover(turn)
            step_timer.start_first_turn_timer(
                episode_id=episode_id
            )  # if it was this person's page that was waited for
            return True
        is_person = seat in turn.people | turn.leaders
        return is_person and abandon_episode(episode_id=episode_id, reason=ABSENCE_REASONS[LEFT])
