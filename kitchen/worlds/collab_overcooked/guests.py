"""Give each order a guest with a name, a wish, and words at the end of the game.

The page draws the same guest behind the hatch (`room_dressing`). What the guest says changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kitchen.contract.world import Json
from kitchen.words.gettext_without_django import gettext, gettext_noop
from kitchen.worlds.collab_overcooked.order_tasks import room_dressing


class Guest(NamedTuple):
    """A guest: the name, and what the guest says before the dish, after a fast one, and after a slow one."""

    name: str
    wish: str
    glad: str
    content: str


GUESTS = (
    Guest(
        gettext_noop("Mr Park"),
        gettext_noop("My lunch break is short."),
        gettext_noop("Back at my desk before anybody noticed. Superb!"),
        gettext_noop("Very good. Only my break is over now."),
    ),
    Guest(
        gettext_noop("Ms Rossi"),
        gettext_noop("I write about restaurants."),
        gettext_noop("Five lines of praise, and I rarely write three!"),
        gettext_noop("Well cooked. You two could be a little faster."),
    ),
    Guest(
        gettext_noop("Grandma Lund"),
        gettext_noop("No hurry, my dears. Well, a little."),
        gettext_noop("Faster than I ever was, my dears!"),
        gettext_noop("Just as at home: there, too, I wait a little."),
    ),
    Guest(
        gettext_noop("Amara"),
        gettext_noop("I have been on my feet since five."),
        gettext_noop("You two dance! I could watch you all evening."),
        gettext_noop("That warms me up. It was worth the wait."),
    ),
    Guest(
        gettext_noop("Captain Bruno"),
        gettext_noop("My ship sails soon."),
        gettext_noop("Full speed ahead! You may sail with me."),
        gettext_noop("Delicious. If I run, I can still catch my ship."),
    ),
    Guest(
        gettext_noop("Jules"),
        gettext_noop("My bicycle stands in the way out there."),
        gettext_noop("You are faster than my bicycle. Respect!"),
        gettext_noop("Great. Now I have to pedal harder."),
    ),
)
"""The guests, in the order in which the page draws them."""
SERVED = gettext_noop("Thank you. That is just what I ordered.")
"""The words of a guest who got the dish, where the study does not tell the pace."""
HUNGRY = gettext_noop("What a pity. I will come again.")
"""The words of a guest who got nothing."""


def guest_of(brief: Mapping[str, Json]) -> Guest:
    """Return the guest of the order that a brief names."""
    return GUESTS[room_dressing(str(brief["order"])) % len(GUESTS)]


def quote(guest: Guest, words: str) -> str:
    """Return what a guest says, with the name before it, in the reader's language."""
    return gettext("{name}: “{words}”").format(name=gettext(guest.name), words=gettext(words))
