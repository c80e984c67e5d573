"""Handle one open play page on the server: process the page's messages and compute replies.

Only one page can play for a seat (a player's place). If a seat has several open pages, the newest one plays
(`Seat.page`), and the older pages are notified. Each method of `OpenPage` queries the database, so it must be
called in a thread. It returns the messages to send.
"""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from django.conf import settings
from django.db import transaction
from django.db.models import Case, Value, When

from kitchen.contract.agent import MAX_PLAN_STEPS
from kitchen.contract.page import TypedTextError
from kitchen.contract.page_view import DRAWING_AND_TABLES
from kitchen.contract.team_messages import REQUESTS_KEY, MessageDraft
from kitchen.contract.world import Command
from kitchen.infra.db_errors import database_problem
from kitchen.infra.log_context import error_traceback
from kitchen.play.coplayers.agent_situations import UNSTORABLE_ERRORS, AskedMind, commands_and_decisions
from kitchen.play.coplayers.answer_messages import (
    MessageReceipt,
    answer_without_words,
    send_message_in_turn,
)
from kitchen.play.coplayers.instant_decisions import (
    InstantDecisions,
    begin_instant_decisions,
    start_agent_processes,
)
from kitchen.play.episode.advance_episode import answer_probes, submit_to_turn
from kitchen.play.episode.answer_probes import rate
from kitchen.play.live import seat_view
from kitchen.play.live.render_page import Screen
from kitchen.play.models import Episode, Seat, new_key
from kitchen.play.turn import page_broadcast, step_timer
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.speaking_order import NOT_YOUR_TURN, held_seats
from kitchen.play.turn.step_store import store_plan
from kitchen.play.turn.submitted_commands import Receipt, SubmittedCommand
from kitchen.play.turn.turn_cache import exclusive_turn, read_turn, refresh_turn
from kitchen.play.turn.turn_rules import PROBING, can_all_be_planned, choosing_people
from kitchen.play.turn.websocket_messages import (
    HEADSET,
    SOUND_IN_PART,
    CommandMessage,
    NoticeMessage,
    PlanMessage,
    ProbeMessage,
    SayMessage,
    SceneMessage,
    SliderMessage,
    SoundMessage,
    TurnStamp,
    ViewMessage,
    message_to_json,
)
from kitchen.registry.world_registry import get_page
from kitchen.words.gettext_without_django import gettext, in_language


def replace_plan(
    turn: OpenTurn, *, seat: int, then: Sequence[Command], page: str, step: int | None = None
) -> Receipt:
    """Replace the commands that a person has planned for later steps. Return a receipt, which also reports a
    refusal. An empty `then` cancels the plan.

    `page` is the id of the page that sent the plan. `step` is the step that the page showed. If another step
    is open by now, the plan is refused, but an earlier plan can still be cancelled. Call this inside
    `exclusive_turn`, which supplies `turn`.
    """
    with transaction.atomic():
        refresh_turn(turn, lock=True)
        if code := _plan_refusal(turn, seat, page) or _not_now(turn, seat, then, step):
            return Receipt(code, turn.episode.step)
        if not can_all_be_planned(turn, seat, then):
            return Receipt("not_offered", turn.episode.step)
        store_plan(turn, seat, then, chosen_by=step_timer.PERSON)
        if then and seat in turn.people_to_answer:
            answer_without_words(turn, seat, then)
        if len(turn.people) > 1:  # other pages may show the plan, and the stamp does not cover plans
            transaction.on_commit(partial(page_broadcast.nudge_pages, turn.episode.pk))
    return Receipt("accepted", turn.episode.step)


def _plan_refusal(turn: OpenTurn, seat: int, page: str) -> str | None:
    """Return the reason code if this seat may not plan commands now. Return None if it may. A seat that still
    has to choose must send its plan together with the command."""
    if not turn.is_open:
        return "over"
    if page != turn.pages.get(seat):
        return "elsewhere"
    if turn.is_probing:
        return PROBING
    if seat in held_seats(turn):
        return NOT_YOUR_TURN
    choosing = choosing_people(turn) - turn.people_to_answer
    plans = turn.episode.offers_plans and seat in turn.people and seat not in choosing
    return None if plans else "not_offered"


def _not_now(turn: OpenTurn, seat: int, then: Sequence[Command], step: int | None) -> str | None:
    """Return the reason code if a plan that was made in the step `step` comes too late or too early. Return
    None if it can be used. After that step, an empty plan can still cancel an earlier plan."""
    if step is None or step == turn.step:
        return None
    if step > turn.step:
        return "early"
    left = turn.plans.get(seat)
    return None if not then and left and left.step <= step else "late"


_NAME = re.compile(r"[A-Za-z0-9_-]{8,32}")


def page_name(asked: str) -> str:
    """Return `asked`, the id that a page chose for itself, if it is valid. Otherwise return a new random
    id."""
    return asked if _NAME.fullmatch(asked) else secrets.token_urlsafe(16)


def take_seat(seat: Seat, *, page: str, newest: bool) -> bool:
    """Let this page play the seat. Return False, and change nothing, if a newer page plays it.

    `page` is the page's id, and `newest` says whether it is the newest page. A page may also play if it
    already plays, or if no page has played yet. `seat` must be freshly read.
    """
    if seat.page == page:
        return True
    seats = Seat.objects.filter(pk=seat.pk, key=seat.key)
    if not newest:
        seats = seats.filter(page="")
    with transaction.atomic():
        taken = seats.update(page=page)
        clocked = taken and seat.episode.step_seconds is not None
        begun = clocked and step_timer.start_first_turn_timer(episode_id=seat.episode_id)
        if begun or (taken and seat.page):  # notify an older page, or the others that wait for the timer
            transaction.on_commit(partial(page_broadcast.nudge_pages, seat.episode_id))
    return bool(taken)


@transaction.atomic
def replace_seat_key(*, episode_id: int, seat: int) -> None:
    """Give a person's seat a new key. The old key stops working, and pages opened with it are closed."""
    seats = Seat.objects.filter(episode=episode_id, number=seat, mind=None)
    if seats.update(key=new_key(), page=""):
        transaction.on_commit(partial(page_broadcast.nudge_pages, episode_id))


log = logging.getLogger(__name__)

NO_SEAT_CLOSE_CODE = 4404
"""Close code: the key gives access to no seat (any more)."""
ELSEWHERE_CLOSE_CODE = 4409
"""Close code: a newer page plays this seat."""

TAKEN_OVER_CLOSE_CODE = 4410
"""Close code: an agent has taken this seat over."""

RETRY_CLOSE_CODE = 4503
"""Close code: the database cannot read or write at the moment."""


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """An answer to a page: texts to send in this order, and the websocket close code to send afterwards,
    if any."""

    texts: tuple[str, ...] = ()
    close: int | None = None


EPISODE_ERASED = PageAnswer(close=NO_SEAT_CLOSE_CODE)


class OpenPage:
    """One open page of a seat. It answers with HTML fragments for a browser, or with JSON for a program.

    Every method that returns an answer raises Episode.DoesNotExist if the episode was erased.
    """

    def __init__(self, seat: Seat, name: str, *, json: bool, language: str = "en") -> None:
        self.seat = seat
        self.name = name
        self.language = language
        """Language of the texts for a browser. Programs receive codes."""
        self.stamp: TurnStamp | None = None
        """The stamp of the state last sent."""
        self.others: Mapping[int, int] = {}
        """Seats of the other people whom this page may wait for, or who play in the same real-time episode:
        ids with numbers."""
        self.away: frozenset[int] = frozenset()
        """Numbers of those whose page is not connected (see `page_presence`)."""
        self.turned_away: frozenset[int] = frozenset()
        """Numbers of those who have turned away from their page."""
        self.is_away = False
        """True if this page's own person has turned away from it."""
        self._away_shown: tuple[frozenset[int], frozenset[int]] = frozenset(), frozenset()
        self.news_is_late = False
        """True if notifications do not reach this page (see `page_watchdog`)."""
        self._late_shown = False
        self._json = json
        self._screen = Screen()
        self._notice_code = ""
        """Code of the notice that a browser's page shows. Empty without a notice."""
        self._state_sent: tuple[object, ...] | None = None
        """The state last sent to a program, with the step's stamp, without the time left."""

    def shows(self, stored: Mapping[int, tuple[str, str, TurnStamp]]) -> bool:
        """Return whether the page already shows the stored state of its seat. `stored` is the result of
        `seat_view.seat_states`."""
        return stored.get(self.seat.pk) == (self.seat.key, self.name, self.stamp)

    def show(self) -> PageAnswer:
        """Return an answer with everything that the player of this seat may see now."""
        with read_turn(self.seat.episode_id) as turn:
            start_agent_processes(turn)
            return PageAnswer(tuple(self._state(turn, whole=True)))

    def look(self) -> PageAnswer:
        """Return an answer with everything that has changed since this page's last answer. If the page no
        longer plays the seat, the answer has a close code."""
        with read_turn(self.seat.episode_id) as turn:
            if code := self._closed_with(turn):
                return PageAnswer(close=code)
            shown = self.stamp, self._away_shown, self._late_shown
            is_current = shown == (turn.stamp, (self.away, self.turned_away), self.news_is_late)
            return PageAnswer(() if is_current else tuple(self._news(turn)))

    def read_typed(self, message: CommandMessage) -> CommandMessage | PageAnswer:
        """Parse the text that the person typed, and return a message with the commands in the text. If the
        text is invalid, return an answer that shows what is wrong."""
        with read_turn(self.seat.episode_id) as turn:
            try:
                first, *then = self._read(turn, message.typed, asks=False)
            except TypedTextError as error:
                return self._unread(error)
        return CommandMessage(message.step, first, tuple(then))

    def _read(self, turn: OpenTurn, text: str, *, asks: bool) -> tuple[Command, ...]:
        page = get_page(turn.episode.world)
        most = MAX_PLAN_STEPS if asks or turn.episode.offers_plans else 1
        with in_language(self.language):
            return page.read_typed(turn.world, self.seat.number, text, asks=asks, most=most)

    def _unread(self, error: TypedTextError) -> PageAnswer:
        return PageAnswer((self._shown_notice(NoticeMessage("not_read", str(error), "warning")),))

    def command(self, message: CommandMessage) -> PageAnswer | InstantDecisions:
        """Submit the person's command, and return the answer.

        If agents in child processes must be asked first, return an `InstantDecisions` object instead. The
        caller then runs its `finish`, and calls `decided`.
        """
        with exclusive_turn(self.seat.episode_id) as turn:
            if message.step != turn.step or not turn.is_read or turn.episode.organisation:
                refresh_turn(turn)  # messages from other processes reach the agents this way
            deciding = begin_instant_decisions(turn, message.step, self.seat.number, message.command)
        if deciding and deciding.question:
            return deciding
        return self.decided(message, deciding.asked if deciding else None)

    def decided(self, message: CommandMessage, asked: Sequence[AskedMind] | None) -> PageAnswer:
        """Submit the person's command together with the agents' decisions in `asked`, and return the answer.

        If `asked` is None, or if the decisions cannot be stored, a worker asks the agents later.
        """
        try:
            with exclusive_turn(self.seat.episode_id) as turn:
                return self._submit(turn, message, asked or ())
        except UNSTORABLE_ERRORS as failure:
            if not asked or database_problem(failure):
                raise
            log.error("what co-players decided at once could not be stored: %s", error_traceback(failure))
            return self.decided(message, None)

    def plan(self, message: PlanMessage) -> PageAnswer:
        """Replace the commands that the person has planned, and return the answer."""
        with exclusive_turn(self.seat.episode_id) as turn:
            receipt = replace_plan(
                turn, seat=self.seat.number, then=message.then, page=self.name, step=message.step
            )
            return self._answered(turn, receipt)

    def answer(self, message: ProbeMessage) -> PageAnswer:
        """Store the person's answers to the probes that hold the game, and return the answer."""
        with exclusive_turn(self.seat.episode_id) as turn:
            receipt = answer_probes(
                turn, seat=self.seat.number, step=message.step, answers=message.answers, page=self.name
            )
            return self._answered(turn, receipt)

    def rate(self, message: SliderMessage, step: int | None = None) -> PageAnswer:
        """Store the value of the slider, which the person moved after `step` steps. None: the step that the
        page shows. Return an empty answer."""
        number = self.stamp[0] if step is None and self.stamp else step or 0
        rate(
            episode_id=self.seat.episode_id,
            seat=self.seat.number,
            step=number,
            value=message.value,
            page=self.name,
        )
        return PageAnswer()

    def seen_as_scene(self, message: SceneMessage) -> PageAnswer:
        """Record that the person views the world in 3D on a screen or in a headset, if the episode offers 3D.
        Return an empty answer.

        A later headset replaces the record of a screen, but not the reverse.
        """
        seats = Seat.objects.filter(pk=self.seat.pk, key=self.seat.key, episode__three_dimensions=True)
        seats.exclude(scene__in=(message.way, HEADSET)).update(scene=message.way)
        return PageAnswer()

    def heard_sound(self, message: SoundMessage) -> PageAnswer:
        """Record whether the person hears sounds. Return an empty answer.

        Once they were switched on or off during the episode, the record stays `part`.
        """
        seats = Seat.objects.filter(pk=self.seat.pk, key=self.seat.key)
        seats.exclude(sound__in=(message.state, SOUND_IN_PART)).update(sound=message.state)
        return PageAnswer()

    def say(self, message: SayMessage) -> PageAnswer:
        """Send the person's message to other members, and return the answer. If the message is refused,
        the answer gives the reason."""
        say = MessageDraft(message.text, message.kind, message.to, message.data)
        with exclusive_turn(self.seat.episode_id) as turn:
            if message.typed:
                try:
                    typed = self._read(turn, message.typed, asks=True)
                except TypedTextError as error:
                    return self._unread(error)
                asked = (*message.data.get(REQUESTS_KEY, ()), *map(list, typed))
                say = replace(say, data={**say.data, REQUESTS_KEY: list(asked)})
            receipt = send_message_in_turn(
                turn,
                seat=self.seat.number,
                say=say,
                page=self.name,
                after=message.after,
                step=message.step,
            )
            return self._answered(turn, receipt, harmless=())

    def seen_in_view(self, message: ViewMessage) -> PageAnswer:
        """Record the view (drawing or tables) that the person used when choosing, if the episode offers both.
        Return an empty answer.

        If the person has used each view, `both` is recorded.
        """
        seats = Seat.objects.filter(pk=self.seat.pk, key=self.seat.key, episode__shown=DRAWING_AND_TABLES)
        seen = Case(When(view="", then=Value(message.view)), default=Value(DRAWING_AND_TABLES))
        seats.exclude(view__in=(message.view, DRAWING_AND_TABLES)).update(view=seen)
        return PageAnswer()

    def note_away(self, seat: int, *, away: bool) -> bool:
        """Record that the person in the seat `seat` has turned away from the game, or is back. Return whether
        this changes what the page shows."""
        if seat not in self.others.values():
            return False
        before = self.away, self.turned_away
        self.turned_away = self.turned_away | {seat} if away else self.turned_away - {seat}
        if not away:  # before the next check of all pages
            self.away -= {seat}
        return before != (self.away, self.turned_away)

    def show_notice(self, message: NoticeMessage) -> PageAnswer:
        """Return an answer that shows this notice on the page."""
        return PageAnswer((self._notice(message),))

    def _notice(self, message: NoticeMessage) -> str:
        if self._json:
            return message_to_json(message)
        with in_language(self.language):
            return self._shown_notice(replace(message, text=gettext(message.text)))

    def _shown_notice(self, message: NoticeMessage) -> str:
        """Return a notice whose text is in the person's language. It may contain what the person typed, so it
        is not looked up among the translations, which are cached."""
        if self._json:
            return message_to_json(message)
        self._notice_code = message.code
        with in_language(self.language):
            return self._screen.notice(message)

    def _submit(self, turn: OpenTurn, message: CommandMessage, asked: Sequence[AskedMind]) -> PageAnswer:
        given = SubmittedCommand(self.seat.number, message.command, page=self.name, then=message.then)
        more, made = commands_and_decisions(asked, step=message.step, idle=turn.world.idle)
        receipt = submit_to_turn(turn, step=message.step, commands=[given, *more], decisions=made)
        if receipt.code in ("taken", "decided"):  # an agent answers a message, or has decided meanwhile
            receipt = submit_to_turn(turn, step=message.step, commands=[given])
        return self._answered(turn, receipt)

    def _answered(
        self,
        turn: OpenTurn,
        receipt: Receipt | MessageReceipt,
        harmless: Collection[str] = ("repeated", "over", "probe_over"),
    ) -> PageAnswer:
        """Return the page's answer to a submission: the current state, and before it a notice if the
        submission was refused. Notices with a code in `harmless` are not shown as warnings."""
        if receipt.accepted:
            return PageAnswer(tuple(self._silence() + self._state(turn)))
        tone = "info" if receipt.code in harmless else "warning"
        notice = self._notice(NoticeMessage(receipt.code, receipt.text, tone))
        state = [] if receipt.code == "elsewhere" else self._state(turn)
        return PageAnswer((notice, *state), self._closed_with(turn))

    def _silence(self) -> list[str]:
        """Return the HTML that removes the notice of an earlier refusal from a browser's page, in a list. The
        list is empty for a program."""
        return [] if self._json else [self._notice(NoticeMessage("", ""))]

    def _news(self, turn: OpenTurn) -> list[str]:
        """Return the message that shows the current state, in a list. Return an empty list if the page
        belongs to a program for which nothing has changed. Repeating the state would reveal that others write
        to each other."""
        before = self._state_sent
        state = self._state(turn)
        return state if before is None or before != self._state_sent else []

    def _state(self, turn: OpenTurn, *, whole: bool = False) -> list[str]:
        """Return the message that shows the state of this turn to the page's player, in a list. A browser
        gets only the panels that have changed since the last message. With `whole`, it gets all panels."""
        if whole:
            self._forget()
        try:
            state = self._text(turn)
        except Exception:  # the page's content is now unknown: send everything next time
            self._forget()
            raise
        self.stamp = turn.stamp
        return [state]

    def _text(self, turn: OpenTurn) -> str:
        with in_language(self.language):
            self.others = _other_people(turn, self.seat.number)
            away, turned_away = self._away_shown = self.away, self.turned_away
            self._late_shown = self.news_is_late
            view = seat_view.seat_view_in_turn(turn, self.seat.number)
            view = replace(view, away=away, turned_away=turned_away, news_is_late=self._late_shown)
            if self._json:
                message = seat_view.state_message(turn.episode.world, view)
                self._state_sent = (turn.stamp[:3], replace(message, seconds_left=None))
                return message_to_json(message)
            fragments = self._screen.fragments(get_page(turn.episode.world), view)
        is_outdated = self._notice_code == NOT_YOUR_TURN and not view.talk.waits_to_speak
        return "".join([*(self._silence() if is_outdated else ()), fragments])

    def _forget(self) -> None:
        self._screen, self.stamp, self._state_sent = Screen(), None, None

    def _closed_with(self, turn: OpenTurn) -> int | None:
        """Return a close code if this page may no longer play the seat, else None. Reasons: another page or
        an agent plays the seat, or the key is no longer valid."""
        seat = next(seat for seat in turn.seats if seat.number == self.seat.number)
        if seat.key == self.seat.key and not seat.is_person:
            return TAKEN_OVER_CLOSE_CODE
        if seat.key != self.seat.key:
            return NO_SEAT_CLOSE_CODE
        return ELSEWHERE_CLOSE_CODE if seat.page != self.name else None


def _other_people(turn: OpenTurn, number: int) -> dict[int, int]:
    """Return the seats of the people whom the page of seat `number` may wait for, or with whom its person
    plays in real time: ids with numbers. Empty after the end."""
    if not turn.is_open:
        return {}
    waited = turn.seats if turn.can_wait_for_leaders else turn.acting
    return {seat.pk: seat.number for seat in waited if seat.is_person and seat.number != number}


def open_page(
    key: str,
    name: str,
    *,
    newest: bool,
    json: bool,
    language: str = "",
    kind: type[OpenPage] = OpenPage,
) -> tuple[OpenPage | None, PageAnswer]:
    """Open a page for the seat with this key. Return the page and its first answer.

    `name` is the id that the page chose. `newest` is True if the page may replace an older one. `language`
    is the page's language; an unknown one is replaced by the default. If the page may not play, return
    None and an answer with a close code.
    """
    seat = seat_view.seat_by_key(key)
    if seat is None:
        return None, PageAnswer(close=TAKEN_OVER_CLOSE_CODE) if seat_view.is_taken_over(
            key
        ) else EPISODE_ERASED
    if not take_seat(seat, page=name, newest=newest):
        return None, PageAnswer(close=ELSEWHERE_CLOSE_CODE)
    known = language if language in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE
    page = kind(seat, name, json=json, language=known)
    try:
        return page, page.show()
    except Episode.DoesNotExist:  # erased at this moment
        return None, EPISODE_ERASED
