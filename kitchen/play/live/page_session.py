"""The server side of one open page: handle its messages, replace its plan, and decide which page plays a
seat.

Each method of `OpenPage` is one visit to the database, in a thread of its own; the consumer carries the
results.

The page that was opened last plays the seat; `Seat.page` names it. Taking the seat is one conditional update
of one row, so the database decides the order for all processes. Older pages are nudged and find that they
lost the seat.
"""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from django.conf import settings
from django.db import transaction
from django.db.models import Case, Value, When
from django.utils import translation

from kitchen.contract.page import DRAWING_AND_TABLES
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world import Command
from kitchen.infra.db_errors import database_problem
from kitchen.infra.log_context import error_traceback
from kitchen.play.coplayers.answer_messages import send_message_in_turn
from kitchen.play.coplayers.ask_agents import UNSTORABLE_ERRORS, AskedMind, commands_and_decisions
from kitchen.play.coplayers.instant_decisions import (
    InstantDecisions,
    begin_instant_decisions,
    start_agent_processes,
)
from kitchen.play.episode.change_episode import Receipt, SubmittedCommand, submit_to_turn
from kitchen.play.live import seat_view
from kitchen.play.live.render_page import Screen
from kitchen.play.models import Episode, Seat, new_key
from kitchen.play.turn import page_broadcast, step_timer
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.turn_cache import exclusive_turn, read_turn, refresh_turn
from kitchen.play.turn.websocket_messages import (
    HEADSET,
    CommandMessage,
    NoticeMessage,
    PlanMessage,
    SayMessage,
    SceneMessage,
    TurnStamp,
    ViewMessage,
    message_to_json,
)
from kitchen.registry.world_registry import get_page
from kitchen.words.translation import gettext


def replace_plan(
    turn: OpenTurn, *, seat: int, then: Sequence[Command], page: str, step: int | None = None
) -> Receipt:
    """Put another plan in the place of what is left of a person's, or end it where that is empty. What the
    seat does in the open step stands. With `step`, the one that was open where the person did that, nothing
    comes of it in another one; but a plan that was there then is ended later, too. The caller has taken the
    turn; it is up to date afterwards."""
    with transaction.atomic():
        refresh_turn(turn, lock=True)
        if code := _plan_refusal(turn, seat, page) or _not_now(turn, seat, then, step):
            return Receipt(code, turn.episode.step)
        turn.replan(seat, then, chosen_by=step_timer.PERSON)
        if len(turn.people) > 1:  # the others may be shown it, and the stamp knows nothing of plans
            transaction.on_commit(partial(page_broadcast.nudge_pages, turn.episode.pk))
    return Receipt("accepted", turn.episode.step)


def _plan_refusal(turn: OpenTurn, seat: int, page: str) -> str | None:
    """Whose command is still to come plans with it."""
    if not turn.is_open:
        return "over"
    if page != turn.pages.get(seat):
        return "elsewhere"
    plans = turn.episode.offers_plans and seat in turn.people and seat not in turn.choosing
    return None if plans else "not_offered"


def _not_now(turn: OpenTurn, seat: int, then: Sequence[Command], step: int | None) -> str | None:
    """Why nothing comes of what was meant for that step."""
    if step is None or step == turn.step:
        return None
    if step > turn.step:
        return "early"
    left = turn.plans.get(seat)
    return None if not then and left and left.step <= step else "late"


_NAME = re.compile(r"[A-Za-z0-9_-]{8,32}")


def page_name(asked: str) -> str:
    """The name that a page gave itself, or a new one if that is none."""
    return asked if _NAME.fullmatch(asked) else secrets.token_urlsafe(16)


def take_seat(seat: Seat, *, page: str, newest: bool) -> bool:
    """Let this page play the seat, which was read just now, if it is the `newest`, or has played it last, or
    if nobody has yet.

    False, and nothing changed, if a newer page plays.
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
        if begun or (taken and seat.page):  # there is an older page, or others see the clock begin
            transaction.on_commit(partial(page_broadcast.nudge_pages, seat.episode_id))
    return bool(taken)


def note_scene(seat: Seat, *, way: str) -> None:
    """Note how this seat's person sees the world in three dimensions, where that is offered: a headset
    outdoes a screen."""
    seats = Seat.objects.filter(pk=seat.pk, key=seat.key, episode__three_dimensions=True)
    seats.exclude(scene__in=(way, HEADSET)).update(scene=way)


def note_view(seat: Seat, *, view: str) -> None:
    """Note that this seat's person saw this view when they chose, where there are two: `both` where it was
    now this one, now that."""
    seats = Seat.objects.filter(pk=seat.pk, key=seat.key, episode__shown=DRAWING_AND_TABLES)
    seen = Case(When(view="", then=Value(view)), default=Value(DRAWING_AND_TABLES))
    seats.exclude(view__in=(view, DRAWING_AND_TABLES)).update(view=seen)


@transaction.atomic
def replace_seat_key(*, episode_id: int, seat: int) -> None:
    """A new key for a person's seat: the old one opens nothing any more; pages that have it are closed."""
    seats = Seat.objects.filter(episode=episode_id, number=seat, mind=None)
    if seats.update(key=new_key(), page=""):
        transaction.on_commit(partial(page_broadcast.nudge_pages, episode_id))


log = logging.getLogger(__name__)

NO_SEAT_CLOSE_CODE = 4404
"""Close code: the key opens nothing (any more)."""
ELSEWHERE_CLOSE_CODE = 4409
"""Close code: a newer page plays this seat."""

TAKEN_OVER_CLOSE_CODE = 4410
"""Close code: a co-player has taken this seat over."""

RETRY_CLOSE_CODE = 4503
"""Close code: nothing can be read or stored at the moment."""


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """What goes to the browser: texts in order, and the code with which it is closed then."""

    texts: tuple[str, ...] = ()
    close: int | None = None


EPISODE_ERASED = PageAnswer(close=NO_SEAT_CLOSE_CODE)


class OpenPage:
    """A page that shows one seat, as JSON for programs or as fragments for browsers. Every method that
    answers raises Episode.DoesNotExist when the episode was erased."""

    def __init__(self, seat: Seat, name: str, *, json: bool, language: str = "en") -> None:
        self.seat = seat
        self.name = name
        self.language = language
        """In which a browser is told; programs are told in codes."""
        self.stamp: TurnStamp | None = None
        """Of what it was last sent."""
        self._json = json
        self._screen = Screen()
        self._told: tuple[object, ...] | None = None
        """What a program was last sent, with how the step stood; but for the time that was left."""

    def shows(self, stored: Mapping[int, tuple[str, str, TurnStamp]]) -> bool:
        """Whether it shows what is stored (`selectors.seats_stand`): if not, it is to `look`."""
        return stored.get(self.seat.pk) == (self.seat.key, self.name, self.stamp)

    def show(self) -> PageAnswer:
        """All that the seat may see now."""
        with read_turn(self.seat.episode_id) as turn:
            start_agent_processes(turn)
            return PageAnswer(tuple(self._state(turn, whole=True)))

    def look(self) -> PageAnswer:
        """What has changed since it was last sent."""
        with read_turn(self.seat.episode_id) as turn:
            if code := self._closed_with(turn):
                return PageAnswer(close=code)
            return PageAnswer(tuple(self._news(turn)) if turn.stamp != self.stamp else ())

    def command(self, message: CommandMessage) -> PageAnswer | InstantDecisions:
        """Hand in a command and say what came of it; or whom to ask first, and then it is `decided`."""
        with exclusive_turn(self.seat.episode_id) as turn:
            if message.step != turn.step or not turn.is_read or turn.episode.organisation:
                refresh_turn(turn)  # co-players are told what was said elsewhere meanwhile
            deciding = begin_instant_decisions(turn, message.step, self.seat.number, message.command)
        if deciding and deciding.question:
            return deciding
        return self.decided(message, deciding.asked if deciding else None)

    def decided(self, message: CommandMessage, asked: Sequence[AskedMind] | None) -> PageAnswer:
        """Hand in a command with what the co-players decided; None if that is left to a worker, as it is
        where this cannot be stored."""
        try:
            with exclusive_turn(self.seat.episode_id) as turn:
                return self._handed_in(turn, message, asked or ())
        except UNSTORABLE_ERRORS as failure:
            if not asked or database_problem(failure):
                raise
            log.error("what co-players decided at once could not be stored: %s", error_traceback(failure))
            return self.decided(message, None)

    def plan(self, message: PlanMessage) -> PageAnswer:
        """Put another plan in the place of what is left."""
        with exclusive_turn(self.seat.episode_id) as turn:
            receipt = replace_plan(
                turn, seat=self.seat.number, then=message.then, page=self.name, step=message.step
            )
            return self._answered(turn, receipt)

    def seen_as_scene(self, message: SceneMessage) -> PageAnswer:
        """Note how the person sees it; nothing is to be said."""
        note_scene(self.seat, way=message.way)
        return PageAnswer()

    def say(self, message: SayMessage) -> PageAnswer:
        """Send what the person says, and tell them if it was not sent."""
        say = MessageDraft(message.text, message.kind, message.to, message.data)
        with exclusive_turn(self.seat.episode_id) as turn:
            receipt = send_message_in_turn(turn, seat=self.seat.number, say=say, page=self.name)
            if receipt.accepted:
                return PageAnswer(tuple(self._silence() + self._state(turn)))
            notice = self._notice(NoticeMessage(receipt.code, receipt.text, "warning"))
            state = [] if receipt.code == "elsewhere" else self._state(turn)
            return PageAnswer((notice, *state), self._closed_with(turn))

    def seen_in_view(self, message: ViewMessage) -> PageAnswer:
        """Note what the person saw when they chose; nothing is to be said."""
        note_view(self.seat, view=message.view)
        return PageAnswer()

    def said(self, message: NoticeMessage) -> PageAnswer:
        """An answer in words."""
        return PageAnswer((self._notice(message),))

    def _notice(self, message: NoticeMessage) -> str:
        if self._json:
            return message_to_json(message)
        with translation.override(self.language):
            return self._screen.notice(replace(message, text=gettext(message.text)))

    def _handed_in(self, turn: OpenTurn, message: CommandMessage, asked: Sequence[AskedMind]) -> PageAnswer:
        given = SubmittedCommand(self.seat.number, message.command, page=self.name, then=message.then)
        more, made = commands_and_decisions(asked, step=message.step, idle=turn.world.idle)
        receipt = submit_to_turn(turn, step=message.step, commands=[given, *more], decisions=made)
        if receipt.code == "taken":  # it has begun to answer what was written to it: a worker asks it then
            receipt = submit_to_turn(turn, step=message.step, commands=[given])
        return self._answered(turn, receipt)

    def _answered(self, turn: OpenTurn, receipt: Receipt) -> PageAnswer:
        if receipt.accepted:
            return PageAnswer(tuple(self._silence() + self._state(turn)))
        tone = "info" if receipt.code in {"repeated", "over"} else "warning"
        notice = self._notice(NoticeMessage(receipt.code, receipt.text, tone))
        state = [] if receipt.code == "elsewhere" else self._state(turn)
        return PageAnswer((notice, *state), self._closed_with(turn))

    def _silence(self) -> list[str]:
        """A browser shows no notice any more."""
        return [] if self._json else [self._screen.notice(NoticeMessage("", ""))]

    def _news(self, turn: OpenTurn) -> list[str]:
        """As `_state`; nothing for a program to which nothing is new: that others write to one another is not
        to be seen by being sent the same again."""
        before = self._told
        state = self._state(turn)
        return state if before is None or before != self._told else []

    def _state(self, turn: OpenTurn, *, whole: bool = False) -> list[str]:
        """All that the seat may see in this turn; a browser is only sent what has changed, unless the `whole`
        is wanted."""
        if whole:
            self._forget()
        try:
            state = self._text(turn)
        except Exception:  # what the page has is not known any more: the next look sends all of it
            self._forget()
            raise
        self.stamp = turn.stamp
        return [state]

    def _text(self, turn: OpenTurn) -> str:
        with translation.override(self.language):
            view = seat_view.seat_view_in_turn(turn, self.seat.number)
            if self._json:
                message = seat_view.state_message(turn.episode.world, view)
                self._told = (turn.stamp[:3], replace(message, seconds_left=None))
                return message_to_json(message)
            return self._screen.fragments(get_page(turn.episode.world), view)

    def _forget(self) -> None:
        self._screen, self.stamp, self._told = Screen(), None, None

    def _closed_with(self, turn: OpenTurn) -> int | None:
        """Why this page plays no longer: another one does, a co-player does, or its key opens nothing any
        more."""
        seat = next(seat for seat in turn.seats if seat.number == self.seat.number)
        if seat.key == self.seat.key and not seat.is_person:
            return TAKEN_OVER_CLOSE_CODE
        if seat.key != self.seat.key:
            return NO_SEAT_CLOSE_CODE
        return ELSEWHERE_CLOSE_CODE if seat.page != self.name else None


def open_page(
    key: str,
    name: str,
    *,
    newest: bool,
    json: bool,
    language: str = "",
    kind: type[OpenPage] = OpenPage,
) -> tuple[OpenPage | None, PageAnswer]:
    """A page of this `kind` that asks to play the seat that this key opens, and what it is sent; no page if
    it may not. It says in which language it was made."""
    seat = seat_view.seat_by_key(key)
    if seat is None:
        return None, PageAnswer(close=TAKEN_OVER_CLOSE_CODE) if seat_view.is_taken_over(
            key
        ) else EPISODE_ERASED
    if not take_seat(seat, page=name, newest=newest):
        return None, PageAnswer(close=ELSEWHERE_CLOSE_CODE)
    page = kind(seat, name, json=json, language=_spoken(language))
    try:
        return page, page.show()
    except Episode.DoesNotExist:  # erased at this moment
        return None, EPISODE_ERASED


def _spoken(language: str) -> str:
    """This language, if there are words in it."""
    return language if language in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE
