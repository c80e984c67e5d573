"""Write hints of the practice in blocks that invite the participant to write a message and to give something.

The participant can do something else instead. Each invitation disappears when it was followed, or with time.
"""

from __future__ import annotations

from collections.abc import Sequence

from kitchen.contract.page_view import SeatView
from kitchen.contract.world import Command
from kitchen.words.gettext_without_django import gettext

LESSON_STEPS = 12
"""The number of steps at the start in which the hints invite the participant."""
GIVE = "give"


def lesson_hint(view: SeatView, example: str) -> str:
    """Return an invitation to write a message like `example` or, after a message, to give something. Return
    an empty text if nothing is left to try, or nobody reads messages."""
    if view.step >= LESSON_STEPS or not set(view.talk.addressees) - set(view.talk.unread):
        return ""
    if not any(one.sender == view.talk.member for one in view.talk.messages):
        return gettext("You can also try to write. For example, write “{example}” and press “Send”.").format(
            example=example
        )
    gives = any(command[:1] == (GIVE,) for command in view.choice.legal)
    given = any(_own_command(view, number)[:1] == (GIVE,) for number in range(len(view.history)))
    if gives and not given:
        return gettext("You can also try to give something: choose an action that begins with “Give”.")
    return ""


def with_lesson(hint: str, view: SeatView, examples: Sequence[str]) -> str:
    """Return a hint with the invitation of `lesson_hint` behind it, if there is one."""
    example = examples[0] if examples else gettext("Player 2, bring a log to the furnace.")
    return f"{hint} {lesson_hint(view, example)}".rstrip()


def _own_command(view: SeatView, number: int) -> Command:
    return view.history[number].commands.get(view.seat, ())
