"""Everything that changes an episode. All commands come in by one door, `commands_submit`.

A step is open until every seat has its command. The last one to arrive runs the world in the same
transaction: the log row and the new state are written together or not at all. Seats that are not asked have
their command from the moment the step is open (`contract.plans`), or, where they may act, when it runs; a
step in which nobody is asked passes by itself, after a moment where a person may act in it.
Where co-players are to think for some time, the commands wait in the database until then, and a small task
runs the step (`step_run`).
Whoever comes late, twice or with a command for another step changes nothing and is told so by the `Receipt`.
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

from kitchen.contract.dialogue import ROUND, InTalk
from kitchen.contract.model import Call
from kitchen.contract.talk import Say
from kitchen.contract.world import Command
from kitchen.machine import metrics
from kitchen.machine.storable import printable
from kitchen.play import absence, clock, stream
from kitchen.play.calls import calls_store
from kitchen.play.due_answers import ask_for_answers
from kitchen.play.kept import bring_up_to_date, turn_taken
from kitchen.play.models import Decision, Episode, Message, SeatCommand
from kitchen.play.past import StepAhead
from kitchen.play.queue import ask_coplayers, is_aside, run_step_later
from kitchen.play.saying import heard_note, jobs_settle, messages_store, says_made, seats_call
from kitchen.play.sealing import episode_seal
from kitchen.play.told import EpisodeNews
from kitchen.play.turns import OpenTurn
from kitchen.registry.worlds import get_world
from kitchen.uptime.selectors import time_is_charged
from kitchen.words.speech import marked

log = logging.getLogger(__name__)

MOST_AT_ONCE = 20
"""Steps that run in one transaction, where nobody is asked in one after another."""
OVERDUE_SECONDS = 2.0
"""A step that was to run so long ago is looked after by whoever sees it."""

RECEIPTS = {
    "accepted": marked("Your choice is in."),
    "repeated": marked("Your choice was in already."),
    "double": marked("You had already chosen for this step; your first choice stands."),
    "late": marked("That step had already been played. Here is where things are now."),
    "early": marked("That step has not begun yet. Here is where things are now."),
    "too_late": marked("Too late: the step is over, and you did nothing in it."),
    "over": marked("This episode has ended."),
    "elsewhere": marked("This is open in another tab: continue there, or choose to play here instead."),
    "clocked": marked("The clock takes the steps here: press a key."),
    "passed_by": marked("There is nothing to choose in this step."),
    "taken": marked("Another worker is deciding this step."),
    "not_offered": marked("That is not possible at this moment. Choose one of the actions shown."),
}
"""Every answer of `commands_submit`, for the person who asked, to be looked up in their language."""


@dataclass(frozen=True, slots=True)
class GivenCommand:
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
class MadeDecision:
    """What one mind decided, with the calls of models that it took: stored with the commands or not."""

    row: Decision
    calls: tuple[Call, ...] = ()
    member: int = 0
    """Who the mind is among the members of the episode."""
    says: tuple[Say, ...] = ()
    """What it says with it, as far as it may."""
    plans: Mapping[int, Sequence[Command]] = field(default_factory=dict)
    """New plans for seats that have one already, and so are not commanded with it."""
    talk: InTalk | None = None
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


def commands_submit(
    *,
    episode_id: int,
    step: int,
    commands: Sequence[GivenCommand],
    decisions: Sequence[MadeDecision] = (),
    claim: str = "",
) -> Receipt:
    """Hand in commands for one step (the first is 1), and what the minds behind them want to keep.

    All of them are taken, or none; decisions are not taken while another worker than the one with this
    `claim` is making them. The step runs as soon as no seat is left without a command and the co-players
    have thought for as long as they are to. Episode.DoesNotExist.
    """
    with turn_taken(episode_id) as turn:
        return hand_in(turn, step=step, commands=commands, decisions=decisions, claim=claim)


def hand_in(
    turn: OpenTurn,
    *,
    step: int,
    commands: Sequence[GivenCommand],
    decisions: Sequence[MadeDecision] = (),
    claim: str = "",
) -> Receipt:
    """`commands_submit` for a turn that the caller has taken; it is up to date afterwards."""
    ahead, began = _work_ahead(turn, step, commands), perf_counter()
    with transaction.atomic():
        same = bring_up_to_date(turn, lock=True)
        metrics.lock_wait_seconds.observe(perf_counter() - began)
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
        messages_store(turn, said)
        _replan(turn, decisions)
        _count_decisions(decisions)
        go_on(turn, ahead, asked=bool(decisions))
        calls_store([(each.row, each.calls) for each in decisions])  # last: it locks what others need
        _seal(turn)
        _nudge(turn, commands)
    return Receipt("accepted", turn.episode.step)


def _said(turn: OpenTurn, decisions: Sequence[MadeDecision]) -> list[Message]:
    """What the minds say, mind by mind; those that talked with one another, round by round."""
    said: list[Message] = []
    rounds = sorted({say.data.get(ROUND, 0) for each in decisions for say in each.says})
    for number in rounds:
        for each in decisions:
            says = [say for say in each.says if say.data.get(ROUND, 0) == number]
            said += says_made(turn, each.member, says, each.row)
    for each in decisions:
        if each.talk:
            heard_note(turn, each.member, each.talk, each.row, said)
    return said


def _replan(turn: OpenTurn, decisions: Sequence[MadeDecision]) -> None:
    for made in decisions:
        for seat, then in made.plans.items():
            turn.replan(seat, then, chosen_by=made.row.played_by, fallback=made.row.fallback)


def _work_ahead(turn: OpenTurn, step: int, commands: Sequence[GivenCommand]) -> StepAhead | None:
    """The step as it will be if the turn is still what it was when it was read, so that the lock is held for
    as short as can be; None where that is not to be seen, or where the step will not run at once."""
    more = [(given.seat, given.command) for given in commands if given.seat not in turn.given]
    seats = turn.given.keys() | {seat for seat, _ in more}
    if not turn.is_open or step != turn.step or turn.thinking_seconds or turn.numbers != seats | turn.may_act:
        return None
    more += [(seat, idle) for seat, idle in turn.left_idle if seat not in seats]
    return turn.work_out(turn.running_order(more)) if _offered(turn, commands) else None


def step_run(*, episode_id: int, step: int) -> bool:
    """Run a step for which every command is in, if the co-players have thought long enough; False, and
    nothing changed, if it is not so far or over."""
    with suppress(Episode.DoesNotExist), turn_taken(episode_id) as turn, transaction.atomic():
        bring_up_to_date(turn, lock=True)
        if turn.is_open and turn.step == step and turn.is_complete:
            go_on(turn)
            _seal(turn)
            _nudge(turn)
            return turn.episode.step >= step
    return False


def turn_close(*, episode_id: int, step: int) -> bool:
    """Close the turn of a step whose time is over: people who have not commanded wait in it, and the log says
    that time ran out. Where no person acts, the co-players are asked. False, and nothing changed, if it is
    not over or the step was taken already."""
    with suppress(Episode.DoesNotExist), turn_taken(episode_id) as turn, transaction.atomic():
        bring_up_to_date(turn, lock=True)
        return turn.step == step and (_in_time(turn) or _led_on(turn))
    return False


def _led_on(turn: OpenTurn) -> bool:
    """Where no person acts the co-players are asked when the time of who leads is over, unless something of
    ours was away; whether they are."""
    closes_at = turn.episode.turn_closes_at
    if not (turn.is_open and turn.is_paced and closes_at) or turn.is_held or not time_is_charged(closes_at):
        return False
    go_on(turn)
    _seal(turn)
    _nudge(turn)
    return True


def _in_time(turn: OpenTurn) -> bool:
    """A turn whose time is over is closed by whoever comes first, unless something of ours was away; whether
    this one was."""
    overdue, closes_at = turn.overdue, turn.episode.turn_closes_at
    if not overdue or closes_at is None or not time_is_charged(closes_at):
        return False
    idle, why = get_world(turn.episode.world).idle, clock.why_it_ran_out(turn.episode, turn.asked_at)
    turn.add([_row(turn, GivenCommand(seat, idle, why, why)) for seat in overdue])
    if why == clock.TIMEOUT:
        _count(partial(metrics.timed_out.labels(turn.episode.world).inc, len(overdue)))
    go_on(turn)
    _see_to_absent(turn)
    _seal(turn)
    _nudge(turn)
    return True


def _see_to_absent(turn: OpenTurn) -> None:
    """Whoever has missed too many turns is gone: their seat is handed over, or the episode ends."""
    for seat in absence.away(turn) if turn.is_open else ():
        if not absence.hand_over(turn, seat, absence.AWAY):
            _end(turn.episode.pk, Episode.Status.ABANDONED, reason=absence.WHY[absence.AWAY], sealed=False)
            bring_up_to_date(turn)
            return
        go_on(turn)


def go_on_after(turn: OpenTurn) -> None:
    """What follows where a co-player has taken a seat over: the step may run, or co-players are asked."""
    go_on(turn)
    ask_for_answers(turn)
    _seal(turn)
    _nudge(turn)
    transaction.on_commit(partial(stream.nudge_pages, turn.episode.pk))


def _seal(turn: OpenTurn) -> None:
    """Seal what the episode has come to, if this was its last step."""
    if not turn.is_open:
        episode_seal(turn.episode)


def _nudge(turn: OpenTurn, commands: Sequence[GivenCommand] = ()) -> None:
    """Have the pages of people look, after the commit, but for one that waits for the answer to its
    command."""
    waits = {given.page for given in commands if given.page}
    if {turn.pages[seat] for seat in turn.people | turn.leaders} - waits and not is_aside():
        transaction.on_commit(partial(stream.nudge_pages, turn.episode.pk, turn.stamp))


def _row(turn: OpenTurn, given: GivenCommand) -> SeatCommand:
    to_follow = [list(command) for command in given.then] or None
    return turn.row(
        given.seat, given.command, chosen_by=given.chosen_by, fallback=given.fallback, to_follow=to_follow
    )


def _refusal(turn: OpenTurn, step: int, commands: Sequence[GivenCommand], *, offered: bool) -> str | None:
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


def _ran_out(episode: Episode, step: int, commands: Sequence[GivenCommand]) -> bool:
    """Whether time ran out for one of these seats in that step."""
    if episode.step_seconds is None:
        return False
    rows = SeatCommand.objects.filter(episode=episode, step=step, chosen_by__in=clock.NOBODY)
    return rows.filter(seat__in=[given.seat for given in commands]).exists()


def _is_stored(episode: Episode, step: int, commands: Sequence[GivenCommand]) -> bool:
    """Whether these very commands were taken for that step: the answer to them may have been lost."""
    rows = SeatCommand.objects.filter(episode=episode, step=step).values_list("seat", "command")
    taken = {seat: tuple(command) for seat, command in rows}
    return all(taken.get(given.seat) == given.command for given in commands)


def _offered(turn: OpenTurn, commands: Sequence[GivenCommand]) -> bool:
    """A person may do what the menu offers; what a co-player commands in error, the world refuses and
    logs."""
    if {given.seat for given in commands} - turn.numbers:
        return False
    people = [given for given in commands if given.seat in turn.people]
    if any(given.then for given in people) and not turn.episode.offers_plans:
        return False
    return all(turn.world.accepts(given.seat, given.command) for given in people)


def go_on(turn: OpenTurn, ahead: StepAhead | None = None, *, asked: bool = False) -> None:
    """The step runs, now or when it is due, and with it those after it in which nobody is asked; or the
    co-players are asked, unless they were `asked` for this step. Tasks begin after the commit. Nothing
    happens where a clock takes the steps (`kitchen.ticking`)."""
    if turn.episode.tick_ms:
        return
    before = turn.step
    while turn.is_complete and not turn.is_held and _may_run(turn, before) and _is_due(turn):
        rows, asked = turn.take(ahead), False
        ahead = None
        jobs_settle(turn)
        seats_call(turn)
        _count_step(turn, rows)
        _tell_audience(turn.episode, rows)
    if turn.step != before:
        clock.arm(turn.episode)
        ask_for_answers(turn)
    if turn.waits_for_minds and not asked and not is_aside():
        for party in turn.parties:
            transaction.on_commit(partial(ask_coplayers, turn.episode.pk, turn.step, *party))


def _may_run(turn: OpenTurn, first: int) -> bool:
    """Whether this transaction may run one more step, having begun with the `first`; if not, a task does."""
    if is_aside() or turn.step - first < MOST_AT_ONCE:
        return True
    transaction.on_commit(partial(run_step_later, turn.episode.pk, turn.step, 0.0))
    return False


def _count_step(turn: OpenTurn, rows: Collection[SeatCommand]) -> None:
    """How long the last person who chose waited for the step that was just taken."""
    chosen = (row for row in rows if row.chosen_by in clock.OF_PEOPLE and row.planned_in is None)
    episode, came = turn.episode, [row.received_at for row in chosen]
    if came:
        seconds = (episode.turn_opened_at - max(came)).total_seconds()
        timed = "untimed" if episode.step_seconds is None else "timed"
        _count(partial(metrics.step_taken, episode.world, timed, seconds))


def _count_decisions(decisions: Sequence[MadeDecision]) -> None:
    made = [(each.row.mind.kind, each.row.milliseconds, each.row.fallback) for each in decisions]
    if made:
        _count(partial(metrics.decisions_made, made))


def _count(counted: Callable[[], None]) -> None:
    """What is stored is counted, once it is, unless nobody is to know."""
    if not is_aside():
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
    waited = sum(row.chosen_by in clock.NOBODY for row in commands)
    news = EpisodeNews(
        episode=str(episode.key),
        step=episode.step,
        status=str(episode.status),
        fallbacks=sum(bool(row.fallback) for row in commands) - waited,
        ran_out=sum(row.chosen_by == clock.TIMEOUT for row in commands),
    )
    transaction.on_commit(partial(stream.tell_audience, episode.audience, news))


def episode_end(*, episode_id: int, reason: str) -> bool:
    """Staff end an episode, and say why; False if it had ended already.

    ValueError without a reason. The page says that the episode was ended, not why, and leads on.
    """
    if not reason.strip():
        raise ValueError("reason: say why the episode is ended")
    ended = _end(episode_id, Episode.Status.ABORTED, reason=printable(reason.strip()))
    if ended:
        log.info("episode %s was ended by staff", episode_id)
    return ended


def episode_abandon(*, episode_id: int, reason: str) -> bool:
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
        episode_seal(episode)
    _tell_audience(episode)
    transaction.on_commit(partial(stream.nudge_pages, episode_id))
    return True
