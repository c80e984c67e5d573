"""The door for what people say. What minds say comes in with their decisions; both are checked and stored by
`kitchen.play.saying`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from django.db import transaction

from kitchen.contract.talk import Say
from kitchen.play import stream
from kitchen.play.answering import answer_wanted
from kitchen.play.kept import bring_up_to_date, turn_taken
from kitchen.play.saying import member_of, message_add
from kitchen.play.turns import OpenTurn
from kitchen.words.speech import marked

RECEIPTS = {
    "accepted": marked("Your message was sent."),
    "not_allowed": marked("You cannot write that to them."),
    "empty": marked("Write something first."),
    "too_long": marked("That message is too long: shorten it, and send it again."),
    "too_many": marked("You can write again in the next step."),
    "busy": marked("They are talking with somebody else, and did not get that."),
    "talking": marked("You are talking with somebody else: end that conversation first."),
    "choose_one": marked("Choose one whom you write to: you talk with one at a time."),
    "no_such_job": marked("That job is not there any more."),
    "no_aim": marked("Choose what is to be done, or write it."),
    "no_such_aim": marked("That cannot be asked of them."),
    "over": marked("This episode has ended."),
    "elsewhere": marked("This is open in another tab: continue there, or choose to play here instead."),
}
"""Every answer of `message_send`, for the person who asked, to be looked up in their language."""


@dataclass(frozen=True, slots=True)
class MessageReceipt:
    """The answer to a message handed in: `code` is a key of `RECEIPTS`."""

    code: str

    @property
    def accepted(self) -> bool:
        """Whether it was sent."""
        return self.code == "accepted"

    @property
    def text(self) -> str:
        """The answer in English words."""
        return RECEIPTS[self.code]


def message_send(*, episode_id: int, seat: int, say: Say, page: str = "") -> MessageReceipt:
    """Send what the person in this seat says, if the organisation of the episode lets them; `page` is the
    browser's page that it comes from, empty for programs. Episode.DoesNotExist."""
    with turn_taken(episode_id) as turn:
        return message_hand_in(turn, seat=seat, say=say, page=page)


def message_hand_in(turn: OpenTurn, *, seat: int, say: Say, page: str = "") -> MessageReceipt:
    """`message_send` for a turn that the caller has taken; it is up to date afterwards."""
    with transaction.atomic():
        bring_up_to_date(turn, lock=True)
        if page and page != turn.pages.get(seat):
            return MessageReceipt("elsewhere")
        member = member_of(turn, seat) if seat in turn.people | turn.leaders else None
        if member is None:
            return MessageReceipt("not_allowed")
        if code := message_add(turn, member.number, say):
            return MessageReceipt(code)
        answer_wanted(turn, member.number)
        if len(turn.people | turn.leaders) > 1 or not page:
            transaction.on_commit(partial(stream.nudge_pages, turn.episode.pk, turn.stamp))
    return MessageReceipt("accepted")
