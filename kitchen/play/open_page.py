"""What one open page of a browser is sent: each method is one visit to the database, for a thread of its own
(`machine.hops`). The consumer carries it to and fro.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.conf import settings
from django.utils import translation

from kitchen.contract.talk import Say
from kitchen.machine.failures import traced
from kitchen.machine.storage import trouble_of
from kitchen.play import seating, selectors
from kitchen.play.asking import UNSTORABLE, Asked, to_hand_in
from kitchen.play.at_once import Deciding, deciding_at_once, make_ready
from kitchen.play.kept import bring_up_to_date, turn_now, turn_taken
from kitchen.play.messages import CommandMessage, PlanMessage, SayMessage, SceneMessage, ViewMessage
from kitchen.play.models import Episode, Seat
from kitchen.play.planning import plan_replace
from kitchen.play.render import Screen
from kitchen.play.services import GivenCommand, Receipt, hand_in
from kitchen.play.talking import message_hand_in
from kitchen.play.told import NoticeMessage, Stamp, to_json
from kitchen.play.turns import OpenTurn
from kitchen.registry.worlds import get_page
from kitchen.words.speech import gettext

log = logging.getLogger(__name__)

NO_SUCH_SEAT = 4404
"""Close code: the key opens nothing (any more)."""
ELSEWHERE = 4409
"""Close code: a newer page plays this seat."""

TAKEN_OVER = 4410
"""Close code: a co-player has taken this seat over."""

LATER = 4503
"""Close code: nothing can be read or stored at the moment."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes to the browser: texts in order, and the code with which it is closed then."""

    texts: tuple[str, ...] = ()
    close: int | None = None


GONE = Answer(close=NO_SUCH_SEAT)


class OpenPage:
    """A page that shows one seat, as JSON for programs or as fragments for browsers. Every method that
    answers raises Episode.DoesNotExist when the episode was erased."""

    def __init__(self, seat: Seat, name: str, *, json: bool, language: str = "en") -> None:
        self.seat = seat
        self.name = name
        self.language = language
        """In which a browser is told; programs are told in codes."""
        self.stamp: Stamp | None = None
        """Of what it was last sent."""
        self._json = json
        self._screen = Screen()
        self._told: tuple[object, ...] | None = None
        """What a program was last sent, with how the step stood; but for the time that was left."""

    def shows(self, stored: Mapping[int, tuple[str, str, Stamp]]) -> bool:
        """Whether it shows what is stored (`selectors.seats_stand`): if not, it is to `look`."""
        return stored.get(self.seat.pk) == (self.seat.key, self.name, self.stamp)

    def show(self) -> Answer:
        """All that the seat may see now."""
        with turn_now(self.seat.episode_id) as turn:
            make_ready(turn)
            return Answer(tuple(self._state(turn, whole=True)))

    def look(self) -> Answer:
        """What has changed since it was last sent."""
        with turn_now(self.seat.episode_id) as turn:
            if code := self._closed_with(turn):
                return Answer(close=code)
            return Answer(tuple(self._news(turn)) if turn.stamp != self.stamp else ())

    def command(self, message: CommandMessage) -> Answer | Deciding:
        """Hand in a command and say what came of it; or whom to ask first, and then it is `decided`."""
        with turn_taken(self.seat.episode_id) as turn:
            if message.step != turn.step or not turn.is_read or turn.episode.organisation:
                bring_up_to_date(turn)  # co-players are told what was said elsewhere meanwhile
            deciding = deciding_at_once(turn, message.step, self.seat.number, message.command)
        if deciding and deciding.question:
            return deciding
        return self.decided(message, deciding.asked if deciding else None)

    def decided(self, message: CommandMessage, asked: Sequence[Asked] | None) -> Answer:
        """Hand in a command with what the co-players decided; None if that is left to a worker, as it is
        where this cannot be stored."""
        try:
            with turn_taken(self.seat.episode_id) as turn:
                return self._handed_in(turn, message, asked or ())
        except UNSTORABLE as failure:
            if not asked or trouble_of(failure):
                raise
            log.error("what co-players decided at once could not be stored: %s", traced(failure))
            return self.decided(message, None)

    def plan(self, message: PlanMessage) -> Answer:
        """Put another plan in the place of what is left."""
        with turn_taken(self.seat.episode_id) as turn:
            receipt = plan_replace(
                turn, seat=self.seat.number, then=message.then, page=self.name, step=message.step
            )
            return self._answered(turn, receipt)

    def seen_as_scene(self, message: SceneMessage) -> Answer:
        """Note how the person sees it; nothing is to be said."""
        seating.scene_note(self.seat, way=message.way)
        return Answer()

    def say(self, message: SayMessage) -> Answer:
        """Send what the person says, and tell them if it was not sent."""
        say = Say(message.text, message.kind, message.to, message.data)
        with turn_taken(self.seat.episode_id) as turn:
            receipt = message_hand_in(turn, seat=self.seat.number, say=say, page=self.name)
            if receipt.accepted:
                return Answer(tuple(self._silence() + self._state(turn)))
            notice = self._notice(NoticeMessage(receipt.code, receipt.text, "warning"))
            state = [] if receipt.code == "elsewhere" else self._state(turn)
            return Answer((notice, *state), self._closed_with(turn))

    def seen_in_view(self, message: ViewMessage) -> Answer:
        """Note what the person saw when they chose; nothing is to be said."""
        seating.view_note(self.seat, view=message.view)
        return Answer()

    def said(self, message: NoticeMessage) -> Answer:
        """An answer in words."""
        return Answer((self._notice(message),))

    def _notice(self, message: NoticeMessage) -> str:
        if self._json:
            return to_json(message)
        with translation.override(self.language):
            return self._screen.notice(replace(message, text=gettext(message.text)))

    def _handed_in(self, turn: OpenTurn, message: CommandMessage, asked: Sequence[Asked]) -> Answer:
        given = GivenCommand(self.seat.number, message.command, page=self.name, then=message.then)
        more, made = to_hand_in(asked, step=message.step, idle=turn.world.idle)
        receipt = hand_in(turn, step=message.step, commands=[given, *more], decisions=made)
        if receipt.code == "taken":  # it has begun to answer what was written to it: a worker asks it then
            receipt = hand_in(turn, step=message.step, commands=[given])
        return self._answered(turn, receipt)

    def _answered(self, turn: OpenTurn, receipt: Receipt) -> Answer:
        if receipt.accepted:
            return Answer(tuple(self._silence() + self._state(turn)))
        tone = "info" if receipt.code in {"repeated", "over"} else "warning"
        notice = self._notice(NoticeMessage(receipt.code, receipt.text, tone))
        state = [] if receipt.code == "elsewhere" else self._state(turn)
        return Answer((notice, *state), self._closed_with(turn))

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
            view = selectors.turn_view(turn, self.seat.number)
            if self._json:
                message = selectors.state_message(turn.episode.world, view)
                self._told = (turn.stamp[:3], replace(message, seconds_left=None))
                return to_json(message)
            return self._screen.fragments(get_page(turn.episode.world), view)

    def _forget(self) -> None:
        self._screen, self.stamp, self._told = Screen(), None, None

    def _closed_with(self, turn: OpenTurn) -> int | None:
        """Why this page plays no longer: another one does, a co-player does, or its key opens nothing any
        more."""
        seat = next(seat for seat in turn.seats if seat.number == self.seat.number)
        if seat.key == self.seat.key and not seat.is_person:
            return TAKEN_OVER
        if seat.key != self.seat.key:
            return NO_SUCH_SEAT
        return ELSEWHERE if seat.page != self.name else None


def page_opened(
    key: str,
    name: str,
    *,
    newest: bool,
    json: bool,
    language: str = "",
    kind: type[OpenPage] = OpenPage,
) -> tuple[OpenPage | None, Answer]:
    """A page of this `kind` that asks to play the seat that this key opens, and what it is sent; no page if
    it may not. It says in which language it was made."""
    seat = selectors.seat_by_key(key)
    if seat is None:
        return None, Answer(close=TAKEN_OVER) if selectors.is_taken_over(key) else GONE
    if not seating.seat_take(seat, page=name, newest=newest):
        return None, Answer(close=ELSEWHERE)
    page = kind(seat, name, json=json, language=_spoken(language))
    try:
        return page, page.show()
    except Episode.DoesNotExist:  # erased at this moment
        return None, GONE


def _spoken(language: str) -> str:
    """This language, if there are words in it."""
    return language if language in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE
