"""Build the play page of Overcooked: grid, orders, score, guide, and what other cooks are about to do.

All content is computed from the `SeatView` (all that one player may see).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kitchen.contract.page import Beat, Panel, PublicFact
from kitchen.contract.page_view import SeatView
from kitchen.contract.team_messages import TeamMessage
from kitchen.contract.world import Aim, Command, Json
from kitchen.pages.default_page import PanelMaker, history_panel, spoken_panel
from kitchen.pages.grid_page import FLOOR_LETTER, CellLook, GridPage
from kitchen.words.gettext_without_django import gettext, gettext_lazy, gettext_noop, ngettext
from kitchen.worlds.overcooked.display_text import (
    SENTENCES,
    command_label,
    delivery_text,
    duration_text,
    furniture_name,
    ingredient_list,
    intents_panel,
    past_step,
    pot_text,
    thing_name,
    thing_phrase,
    translated,
)
from kitchen.worlds.overcooked.fast_slow.work_answers import stored_work_text, work_examples
from kitchen.worlds.overcooked.game_rules import DISH, FILLED, LAID, POTTED, SERVED, STARTED, TOOK
from kitchen.worlds.overcooked.layout import (
    COUNTER,
    DISPENSERS,
    FLOOR,
    POT,
    POT_CAPACITY,
    SERVING,
    cell_ahead,
    is_floor,
)
from kitchen.worlds.overcooked.partners.grid_snapshot import layout_from_brief
from kitchen.worlds.overcooked.skill_names import DELIVER, FILL, PUT_VERBS, START

_TEMPLATES = "worlds/overcooked"


class ShownOrder(NamedTuple):
    """One ordered soup: `parts` are its ingredients, shown as pictures, and `name` is its description as
    text."""

    parts: tuple[str, ...]
    name: str
    points: int
    time: str
    """Cooking time, in words."""
    bonus: bool


class OrderList(NamedTuple):
    """All orders; they stay the same for the whole episode."""

    orders: tuple[ShownOrder, ...]


class ScoreContent(NamedTuple):
    """Points, number of soups and ticks left. `tick_ms` is the length of a tick in milliseconds; 0 if the
    world waits for both seats."""

    points: int
    soups: int
    left: int
    tick_ms: int


def orders_panel(view: SeatView) -> Panel:
    """Return the panel that lists the ordered soups with their points and cooking times."""
    shows = tuple(
        ShownOrder(
            tuple(each["ingredients"]),
            ingredient_list(each["ingredients"]),
            each["points"],
            duration_text(each["ticks"], view.brief),
            each["bonus"],
        )
        for each in view.brief["orders"]
    )
    return Panel("orders", f"{_TEMPLATES}/orders.jinja", OrderList(shows))


def _order_text(order: Mapping[str, Json]) -> str:
    text = ngettext("{soup}: {number} point", "{soup}: {number} points", order["points"])
    points = text.format(soup=ingredient_list(order["ingredients"]), number=order["points"])
    return f"{points} ({gettext('counts twice')})" if order["bonus"] else points


class FacedCell(NamedTuple):
    """The cell that a seat faces: its letter (a space for floor), and the thing or the pot in it."""

    letter: str
    thing: Json
    """The object on the cell, as in an observation; None if nothing lies there or the cell is no counter."""
    pot: Mapping[str, Json] | None


def faced_cell(brief: Mapping[str, Json], observation: Mapping[str, Json], seat: int) -> FacedCell:
    """Return the cell in front of this seat, with the thing or the pot in it."""
    me = observation["players"][seat]
    x, y = cell = cell_ahead(tuple(me["at"]), me["face"])
    letter = brief["grid"][y][x]
    things = {tuple(each["at"]): each["thing"] for each in observation["counters"]}
    pots = {tuple(each["at"]): each for each in observation["pots"]}
    return FacedCell(FLOOR if is_floor(letter) else letter, things.get(cell), pots.get(cell))


def interact_effect(found: FacedCell, holds: Json) -> tuple[str, Json]:
    """Return (effect, thing) of an `interact` command with this cell, such as (POTTED, `onion`). The command
    must be legal.

    `holds` is what the seat holds. The thing is None if the effect is to start a pot or to fill a dish.
    """
    if found.letter == COUNTER:
        return (LAID, holds) if holds else (TOOK, found.thing)
    if found.letter == SERVING:
        return SERVED, holds
    if found.letter != POT:
        return TOOK, DISPENSERS.get(found.letter)
    if holds is None:
        return STARTED, None
    return (FILLED, None) if holds == DISH else (POTTED, holds)


def use_label(view: SeatView, found: FacedCell) -> str:
    """Return the label of the `interact` command for the page's reader and this cell, such as `Put an
    onion into the pot`."""
    did, what = interact_effect(found, view.observation["players"][view.seat]["holds"])
    return translated("uses", did).format(thing=thing_phrase(what))


def _cells_of(letter: str, brief: Mapping[str, Json]) -> list[list[int]]:
    """Return the cells ([column, row], from 0) with this letter."""
    return [[x, y] for y, row in enumerate(brief["grid"]) for x, each in enumerate(row) if each == letter]


def _interact_rules(brief: Mapping[str, Json]) -> dict[str, Json]:
    """Return the rules by which the page shows an `interact` command before the server confirms it."""
    return {
        "grid": brief["grid"],
        "uses": {COUNTER: "counter", POT: "pot", SERVING: "serving", **DISPENSERS},
        "capacity": POT_CAPACITY,
        "starts_itself": brief["cooking"] == "auto",
    }


def _look(letter: str) -> CellLook:
    name = SENTENCES["furniture"]["floor" if letter == FLOOR_LETTER else letter]
    if letter in (FLOOR_LETTER, COUNTER):
        return CellLook(name, walkable=letter == FLOOR_LETTER)
    empty = gettext_noop("empty") if letter == POT else ""
    return CellLook(name, picture=f"box-{letter}", empty=empty)


class OvercookedPage(GridPage):
    """Shows the grid, the orders and the score. If the condition allows it, the page also shows what the
    other cook will do next."""

    cover = f"{_TEMPLATES}/cover.webp"
    layout = f"{_TEMPLATES}/layout.jinja"
    overview_layout = f"{_TEMPLATES}/overview.jinja"
    guide = f"{_TEMPLATES}/guide.jinja"
    styles = (*GridPage.styles, f"{_TEMPLATES}/overcooked.css")
    scripts = (
        "js/pressing.js",
        f"{_TEMPLATES}/board.js",
        f"{_TEMPLATES}/words.js",
        f"{_TEMPLATES}/interact_effects.js",
        "js/grid_characters.js",
        "js/grid_prediction.js",
        "js/grid_motion.js",
        "js/grid.js",
        "js/grid_words.js",
        f"{_TEMPLATES}/refusals.js",
    )
    pictures = f"{_TEMPLATES}/overcooked.svg"
    looks = {letter: _look(letter) for letter in (COUNTER, *DISPENSERS, POT, SERVING, FLOOR_LETTER)}
    layers = ("pots", "counters")
    names = SENTENCES["things"]
    reasons = SENTENCES["refusals"]
    title = gettext_lazy("The soup kitchen")
    body = gettext_lazy("cook")
    if_possible = gettext_lazy("if the other cook makes it possible")
    first_steps = (
        gettext_noop("Your cook has a ring around it. Arrow keys or the buttons move it."),
        gettext_noop("Turn to what you want to use. Then press space or the large button."),
    )
    beats = (
        Beat(
            "move",
            gettext_noop("Move"),
            gettext_noop("Walk with the arrow keys. Face what you want to use, and press space."),
            gettext_noop("Walk with the arrow buttons. Face what you want to use, then tap the big button."),
        ),
        Beat(
            "cook",
            gettext_noop("Cook"),
            gettext_noop("Fill the pot, and fetch a dish while it cooks."),
            gettext_noop("Fill the pot, and fetch a dish while it cooks."),
        ),
        Beat(
            "serve",
            gettext_noop("Serve"),
            gettext_noop("Fill the dish at the pot, and hand it over. In the game, your partner helps."),
            gettext_noop("Fill the dish at the pot, and hand it over. In the game, your partner helps."),
        ),
    )
    beat_of = {
        **dict.fromkeys((*PUT_VERBS.values(), START), "cook"),
        **dict.fromkeys((FILL, DELIVER), "serve"),
    }
    aim = gettext_lazy("Practice ends when a soup has been delivered, or after {steps} steps.")
    missed = gettext_lazy("Time is up and no soup has been delivered. That is all right.")

    def makers(self, view: SeatView) -> tuple[PanelMaker, ...]:
        """Return the functions that build the page's panels, in reading order.

        The panel of orders replaces the panel of general facts. Intents are included if the view shows
        them.
        """
        ours: list[PanelMaker] = []
        for make in super().makers(view):
            ours.append(orders_panel if make == self.facts else make)
            if make == self.grid and view.plans.shows_intents:
                ours.insert(-1, intents_panel)
        return tuple(ours)

    def score(self, view: SeatView) -> Panel:
        """Return the panel with points, number of soups and ticks left."""
        seen = view.observation
        tick_ms = view.brief["tick_ms"] if view.brief["clock"] == "tick" else 0
        shows = ScoreContent(seen["points"], seen["soups"], seen["ticks_left"], tick_ms)
        return Panel("score", f"{_TEMPLATES}/score.jinja", shows)

    def story(self, view: SeatView) -> Panel:
        """Return the panel that describes the last ticks, newest first."""
        return history_panel(view, lambda step: past_step(step, view))

    def spoken(self, view: SeatView) -> Panel:
        """Return the panel for screen readers. It reports deliveries, ready soups and the reader's refused
        command, but no moves."""
        return spoken_panel(view, lambda step: past_step(step, view))

    def entry_words(self, layer: str, entry: Mapping[str, Json], brief: Mapping[str, Json]) -> str:
        """Return the text for one object on the grid: `onion`, or for a pot `onion, onion; not cooking yet`.

        `layer` is `pots` or `counters`, and `entry` is the object in the observation.
        """
        if layer == "pots":
            return pot_text(entry["contents"], entry["left"], brief)
        return super().entry_words(layer, entry, brief)

    def thing_words(self, item: Json) -> str:
        """Return the name of a thing: `onion`, `soup of onion, onion, onion`; `nothing` if it is None."""
        return thing_name(item)

    def pad_text(self, verb: str, view: SeatView) -> str:
        """Return the label of the `interact` button, which says what the button would do now. Empty for
        the other buttons."""
        if verb != "interact":
            return ""
        return use_label(view, faced_cell(view.brief, view.observation, view.seat))

    def goal(self, brief: Mapping[str, Json]) -> str:
        """Return the goal of the game as text, for a leader who does not see it."""
        return gettext(
            "You lead two cooks in a small kitchen. They make soups and deliver as many as they can."
        )

    def public_facts(self, view: SeatView) -> tuple[PublicFact, ...]:
        """Return the ordered soups with their points as text. They are the same for the whole episode."""
        return (PublicFact(gettext("Orders"), tuple(map(_order_text, view.brief["orders"]))),)

    def aimed(self, brief: Mapping[str, Json], aim: Aim) -> str:
        """Return the aim as an instruction, such as `Take an onion`."""
        return translated("aims", " ".join(aim))

    def translated_message(self, message: TeamMessage) -> str:
        """Return the text of an answer that the agent `fast_and_slow` wrote; empty for other messages."""
        return stored_work_text(message.data)

    def message_examples(self, view: SeatView) -> tuple[str, ...]:
        """Return messages that the agent `fast_and_slow` understands. Empty if nobody reads messages."""
        reads = bool(set(view.talk.addressees) - set(view.talk.unread))
        return self.guide_sentences(view.brief) if reads else ()

    def guide_sentences(self, brief: Mapping[str, Json]) -> tuple[str, ...]:
        """Return messages that the agent `fast_and_slow` understands, in the reader's language."""
        return work_examples(layout_from_brief(brief).food)

    def aim_group(self, aim: Aim) -> str:
        """Return the heading under which the aim is listed. Aims with the same verb share a heading."""
        return translated("aim_groups", aim[0])

    def script_rules(self, view: SeatView) -> Mapping[str, Json]:
        """Return the rules of the game that the page script needs: the cooking times for the progress rings
        of pots (`time`), the serving places, and the words that name who helped with a soup. Under a clock,
        also what `interact` does with each letter of the grid."""
        return {
            **super().script_rules(view),
            **(_interact_rules(view.brief) if view.timing.tick_ms else {}),
            "time": view.brief["time"],
            "serving": _cells_of(SERVING, view.brief),
            "credits": {code: translated("credits", code) for code in SENTENCES["credits"]},
            "names": [player.name for player in view.players],
        }

    def script_words(self, view: SeatView) -> Mapping[str, Json]:
        """Return the translated texts that the page script shows, including texts about pots, soups and
        deliveries."""
        return {
            **super().script_words(view),
            "soup": gettext("soup of {ingredients}"),
            "idle": gettext("not cooking yet"),
            "ready": gettext("ready"),
            "cooking": gettext("ready in {seconds} s"),
            "delivered": delivery_text(1, own=False),
            "worthless": delivery_text(0, own=False),
            "own_delivered": delivery_text(1, own=True),
            "own_worthless": delivery_text(0, own=True),
            "did": {did: translated("done", did) for did in SENTENCES["done"] if did != SERVED},
            "a": {code: translated("thing_phrases", code) for code in SENTENCES["thing_phrases"]},
            "a_soup": gettext("a soup"),
            "soup_ready": gettext("A soup is ready."),
            "next": {code: translated("next", code) for code in SENTENCES["next"]},
            "expects": {code: translated("expected", code) for code in SENTENCES["expected"]},
        }

    def handbook(self, brief: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the data of the guide: ordered soups, furniture by letter, durations and keyboard keys."""
        letters = dict.fromkeys(letter for row in brief["grid"] for letter in row if not is_floor(letter))
        return {
            "orders": [
                {
                    "parts": list(each["ingredients"]),
                    "soup": ingredient_list(each["ingredients"]),
                    "points": each["points"],
                    "time": duration_text(each["ticks"], brief),
                    "bonus": each["bonus"],
                }
                for each in brief["orders"]
            ],
            "places": [(letter, furniture_name(letter)) for letter in letters if letter != COUNTER],
            "whole": duration_text(brief["ticks"], brief),
            "ticking": brief["clock"] == "tick",
            "starts_itself": brief["cooking"] == "auto",
            "keys": [(gettext(key.label), command_label((verb,))) for verb, key in self.pad.items()],
        }

    def phrase(self, command: Command) -> str:
        """Return the command as text, such as `Go left`; empty for an unknown command."""
        return command_label(command)


PAGE = OvercookedPage()
