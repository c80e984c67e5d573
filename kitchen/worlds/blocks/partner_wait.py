"""Show the button to wait for the other builder, what ends the wait, and what the other builder asks for.

The page waits step after step with the idle command, until this module or the menu reports something new
(see `partner_wait.js`). A message also ends a stay of several steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kitchen.contract.page import Panel
from kitchen.contract.page_view import SeatView
from kitchen.contract.team_messages import CODE_KEY, TeamMessage
from kitchen.contract.world import Command, Json, canonical_json
from kitchen.words.gettext_without_django import gettext
from kitchen.worlds.blocks.item_words import item_words
from kitchen.worlds.blocks.planner_messages import PARTS_KEY, PLANNER_CODE, PLEASE_PUT

IDLE: tuple[Command, ...] = (("go_on",), ("noop",))
"""The commands to do nothing, in the world of macros and in the kitchen."""
STAY, GIVE = "stay", "give"


class PartnerWait(NamedTuple):
    """The content of the panel. Without `name`, there is nobody to wait for."""

    name: str
    idle: str = ""
    """The idle command as JSON. Empty if this builder cannot choose now, because its steps pass anyway."""
    stays: bool = False
    """True during a stay, which a message ends."""
    message: int = 0
    """Number of the newest message from others; 0 if there is none."""
    gift_step: int = 0
    """The newest step in which this builder was given something; 0 if there is none."""
    wanted: str = ""
    """The blocks that the other builder asks for, as JSON: item, level, rows and columns from 0."""
    wanted_words: str = ""
    """The sentence about them, with places for `built` and `total`."""


def partner_wait_panel(view: SeatView) -> Panel:
    """Return the panel for this person's page."""
    return Panel("partner-wait", "worlds/blocks/partner_wait.jinja", _content(view))


def _content(view: SeatView) -> PartnerWait:
    others = [player for player in view.players if player.seat != view.seat]
    if not others or not view.acts or view.phase == "over":
        return PartnerWait("")
    name = others[0].name if len(others) == 1 else gettext("the others")
    chooses = view.phase == "choose" and not view.choice.may_act
    idle = next((command for command in IDLE if chooses and command in view.choice.legal), None)
    heard = [one for one in view.talk.messages if one.sender not in (None, view.talk.member)]
    wanted = wanted_blocks_of(view, heard)
    return PartnerWait(
        name,
        canonical_json(list(idle)) if idle else "",
        (view.observation.get("doing") or [""])[0] == STAY,
        max((one.number for one in heard), default=0),
        max(_gift_steps(view), default=0),
        canonical_json(wanted) if wanted else "",
        _wanted_words(name, str(wanted[0])) if wanted else "",
    )


def _gift_steps(view: SeatView) -> Iterator[int]:
    for step in view.history:
        for event in step.events:
            if event.kind == "done" and tuple(event.data.get("macro", ())[:2]) == (GIVE, str(view.seat)):
                yield step.number


def wanted_blocks_of(view: SeatView, heard: list[TeamMessage]) -> list[Json]:
    """Return the blocks that the planner last asked this person to place, if this builder holds the
    material: item, level, rows and columns. Empty if there are none."""
    for message in reversed(heard):
        if message.data.get(CODE_KEY) != PLANNER_CODE:
            continue
        asked = [part for part in message.data[PARTS_KEY] if part[0] == PLEASE_PUT]
        held = [part for part in asked if part[1] in view.observation.get("inventory", {})]
        if asked:
            return list(held[0][1:5]) if held else []
    return []


def _wanted_words(name: str, item: str) -> str:
    text = gettext("{name} asks for {item}: {{built}} of {{total}} in place")
    return text.format(name=name, item=item_words(item))
