"""What using does: the words on the button of the pad. Plain Python."""

from __future__ import annotations

from collections.abc import Mapping

from kitchen.contract.page import SeatView
from kitchen.words.speech import gettext, marked
from kitchen.worlds.overcooked.ahead import Ahead, deed
from kitchen.worlds.overcooked.things import FILLED, LAID, POTTED, SERVED, STARTED, TOOK
from kitchen.worlds.overcooked.words import a_thing

USES: Mapping[str, str] = {
    TOOK: marked("Take {thing}"),
    LAID: marked("Put {thing} down"),
    POTTED: marked("Put {thing} into the pot"),
    STARTED: marked("Start the pot"),
    FILLED: marked("Take the soup out"),
    SERVED: marked("Deliver the soup"),
}


def use(view: SeatView, found: Ahead) -> str:
    """What an interact that has an effect does: `Put an onion into the pot`."""
    did, what = deed(found, view.observation["players"][view.seat]["holds"])
    return gettext(USES[did]).format(thing=a_thing(what))
