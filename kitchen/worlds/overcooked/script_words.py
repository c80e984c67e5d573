"""What the page says by itself of soups and pots where a clock takes the ticks
(`static/worlds/overcooked/words.js`), in the language of whoever reads. Plain Python."""

from __future__ import annotations

from collections.abc import Mapping

from kitchen.contract.world import Json
from kitchen.words.speech import gettext
from kitchen.worlds.overcooked.intents import EXPECTS, NEXT
from kitchen.worlds.overcooked.story import DID, delivery
from kitchen.worlds.overcooked.things import SERVED
from kitchen.worlds.overcooked.words import A_THING


def script_words() -> Mapping[str, Json]:
    """By the names under which the script knows them; what is between braces, it fills in."""
    return {
        "soup": gettext("soup of {ingredients}"),
        "idle": gettext("not cooking yet"),
        "ready": gettext("ready"),
        "cooking": gettext("ready in {seconds} s"),
        "delivered": delivery(1, own=False),
        "worthless": delivery(0, own=False),
        "own_delivered": delivery(1, own=True),
        "own_worthless": delivery(0, own=True),
        "did": {did: gettext(text) for did, text in DID.items() if did != SERVED},
        "a": {code: gettext(name) for code, name in A_THING.items()},
        "a_soup": gettext("a soup"),
        "soup_ready": gettext("A soup is ready."),
        "next": {code: gettext(text) for code, text in NEXT.items()},
        "expects": {code: gettext(text) for code, text in EXPECTS.items()},
    }
