"""What the page says by itself where a clock takes the ticks (`static/worlds/overcooked/words.js`), in the
language of whoever reads. Plain Python."""

from __future__ import annotations

from collections.abc import Mapping

from kitchen.contract.page import SeatView
from kitchen.contract.world import Json
from kitchen.words.speech import gettext, pgettext
from kitchen.worlds.overcooked.intents import EXPECTS, NEXT
from kitchen.worlds.overcooked.story import DID, WHY, delivery
from kitchen.worlds.overcooked.things import SERVED
from kitchen.worlds.overcooked.words import A_THING, FACES, FURNITURE, THINGS


def script_words(view: SeatView) -> Mapping[str, Json]:
    """By the names under which the script knows them; what is between braces, it fills in."""
    return {
        "things": {code: gettext(name) for code, name in THINGS.items()},
        "nothing": pgettext("what somebody holds", "nothing"),
        "soup": gettext("soup of {ingredients}"),
        "faces": {face: gettext(name) for face, name in FACES.items()},
        "furniture": {letter: gettext(name) for letter, name in FURNITURE.items()},
        "idle": gettext("not cooking yet"),
        "ready": gettext("ready"),
        "cooking": gettext("ready in {seconds} s"),
        "empty": gettext("empty"),
        "cook": gettext("column {column}, row {row}, {face}, holds {thing}"),
        "delivered": delivery(1, own=False),
        "worthless": delivery(0, own=False),
        "own_delivered": delivery(1, own=True),
        "own_worthless": delivery(0, own=True),
        "did": {did: gettext(text) for did, text in DID.items() if did != SERVED},
        "in_vain": gettext("did nothing"),
        "why": {code: gettext(text) for code, text in WHY.items()},
        "a": {code: gettext(name) for code, name in A_THING.items()},
        "a_soup": gettext("a soup"),
        "soup_ready": gettext("A soup is ready."),
        "you": gettext("You"),
        "next": {code: gettext(text) for code, text in NEXT.items()},
        "expects": {code: gettext(text) for code, text in EXPECTS.items()},
        "players": [player.name for player in view.players],
        "grid": view.brief["grid"],
        "ticks": view.brief["ticks"],
        "tick_ms": view.brief["tick_ms"],
    }
