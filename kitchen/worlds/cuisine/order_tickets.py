"""Build the panel that shows each open order as a ticket.

A ticket shows the time left, and which needed items the kitchen already has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from kitchen.contract.page import Panel
from kitchen.contract.page_view import PlayerView, SeatView
from kitchen.contract.world import Json
from kitchen.words.gettext_without_django import gettext
from kitchen.worlds.cuisine import task_graph
from kitchen.worlds.cuisine.activity_text import dishes_with_event
from kitchen.worlds.cuisine.display_text import (
    BriefLookup,
    KitchenWords,
    ProductLine,
    join_sentence,
    picture_of,
)
from kitchen.worlds.cuisine.order_chains import offers_chains

_TEMPLATES = "worlds/cuisine"
GUEST_LOOKS = 6
"""The number of guests that `templates/kitchen/play/characters.html` draws: `guest-1` to `guest-6`."""
LAST_CALL = 3
"""The most steps left with which the ticket of an order shakes."""


class OrderBoard(NamedTuple):
    """The board with all tickets."""

    interval: int
    over: bool
    lost: tuple[str, ...]
    """The ids of orders that ran out in the last step."""


class OrderTicket(NamedTuple):
    """The parts of a ticket that never change."""

    name: str
    icon: str
    left: str
    """The id of the panel with its time left."""
    face: str
    """The id of the panel with the face of its guest."""
    steps: str
    """The id of the panel with its needs."""
    recipe: tuple[str, ...]
    """The recipe as sentences."""
    acts: bool
    """True if a press on it lets the reader's robot work for this order (`order_chains`)."""


class TimeLeft(NamedTuple):
    """The time that an order has left."""

    life: int
    lifetime: int
    heat: str
    fresh: bool
    ready: bool
    is_last_call: bool
    """True if the order has so few steps left that its ticket shakes."""


class TicketFace(NamedTuple):
    """The face of the guest who waits for an order."""

    look: int
    """The number of the drawing, from 1."""
    mood: str
    """`late` if the order runs out soon, else `calm`."""


class ItemsInKitchen(NamedTuple):
    """Counts of the items in the kitchen. `there` counts items in hands and in places that are not busy.
    `making` counts items in busy tools.

    `at_hand` starts as a copy of `there`; `take` reduces it. `hands` lists for each item the seats that
    hold the item or attend a tool that makes the item.
    """

    there: Counter[str]
    making: Counter[str]
    at_hand: Counter[str]
    hands: dict[str, list[int]]

    def take(self, dish: str) -> bool:
        """Reserve one ready dish for an order. Return whether one was left."""
        self.at_hand[dish] -= 1
        return self.at_hand[dish] >= 0

    def whose(self, item: str) -> int | None:
        """Return the seat of a robot that holds or makes this item. Further calls return the other robots,
        then None."""
        seats = self.hands.get(item)
        return seats.pop(0) if seats else None


class DishNeeds(NamedTuple):
    """A dish's recipe, and the state of each item in the kitchen by code: `here`, `making` or `past`
    (already used)."""

    dish: str
    recipe: tuple[ProductLine, ...]
    names: tuple[tuple[str, str], ...]
    """Names by code, in English: they are translated once, when the graph is drawn."""
    states: tuple[tuple[str, str], ...]
    hands: tuple[tuple[str, int, str], ...]
    """(item, seat, name) of the robots that work on each item."""


def orders_panel(view: SeatView, lookup: BriefLookup) -> Panel:
    """Return the panel with a ticket for each order, most urgent first.

    Each item in the kitchen is shown on one ticket only: the ticket of the most urgent order that needs
    the item.
    """
    shows = OrderBoard(
        lookup.brief["interval"], view.phase == "over", tuple(name for name, _ in lost_tickets(view, lookup))
    )
    return Panel("orders", f"{_TEMPLATES}/orders.jinja", shows, parts=tuple(_tickets(view, lookup)))


def _tickets(view: SeatView, lookup: BriefLookup) -> Iterator[Panel]:
    stock, fresh, orders = (
        items_in_kitchen(view),
        dishes_with_event(view, "ordered"),
        view.observation["orders"],
    )
    for order, own in zip(orders, ticket_ids(orders, view.step, lookup), strict=True):
        look = guest_look(view.step + order["life"], order["dish"], lookup)
        yield _ticket(own, order, lookup, stock, fresh, view.players, look, acts=offers_chains(view))


def ticket_ids(orders: Sequence[Mapping[str, Json]], step: int, lookup: BriefLookup) -> list[str]:
    """Return the ids of the tickets of these open orders on the page of this step."""
    alike = Counter[str]()
    return [_name(step + order["life"], order["dish"], lookup, alike) for order in orders]


def _name(end: int, dish: str, lookup: BriefLookup, alike: Counter[str]) -> str:
    """Return the id of an order on the page, made from the order's last step and its dish. If several orders
    have the same id, a number is added. `alike` counts the ids."""
    name = f"t{end}-{lookup.numbers[dish]}"
    alike[name] += 1
    return name if alike[name] == 1 else f"{name}-{alike[name]}"


def lost_tickets(view: SeatView, lookup: BriefLookup) -> Iterator[tuple[str, str]]:
    """Yield the ids of the tickets whose time ran out in the last step, with their dishes."""
    alike = Counter[str]()
    for dish in sorted(dishes_with_event(view, "failed").elements()):
        yield _name(view.step - 1, dish, lookup, alike), dish  # it was open for a step with no time left


def guest_look(end: int, dish: str, lookup: BriefLookup) -> int:
    """Return how the guest looks whose order ends at this step. Guests who came one after the other look
    different."""
    came = end - int(lookup.brief["lifetimes"].get(dish, 0))
    return came // max(int(lookup.brief["interval"]), 1) % GUEST_LOOKS + 1


def is_late(order: Mapping[str, Json], brief: Mapping[str, Json]) -> bool:
    """Return True if the order has at most a quarter of its time left."""
    return bool(order["life"] * 4 <= _lifetime(order, brief))


def _lifetime(order: Mapping[str, Json], brief: Mapping[str, Json]) -> int:
    life: int = order["life"]
    return max(int(brief["lifetimes"].get(order["dish"], life)), life)


def _ticket(
    name: str,
    order: Mapping[str, Json],
    lookup: BriefLookup,
    stock: ItemsInKitchen,
    fresh: Counter[str],
    players: Sequence[PlayerView],
    look: int,
    *,
    acts: bool,
) -> Panel:
    dish, life = order["dish"], order["life"]
    lifetime = _lifetime(order, lookup.brief)
    states = task_graph.items_present(dish, lookup.brief["recipes"], stock.there, stock.making)
    heat = "late" if is_late(order, lookup.brief) else "soon" if life * 2 <= lifetime else "calm"
    new = fresh[dish] > 0 and life == lifetime
    begun = [item for item, state in states.items() if state != "past"]
    working = [(item, seat) for item in begun if (seat := stock.whose(item)) is not None]
    hands = tuple((item, seat, players[seat].name) for item, seat in working)
    left, face, steps = f"{name}-l", f"{name}-f", f"{name}-s"
    is_last_call = heat == "late" and life <= LAST_CALL
    time_left = TimeLeft(life, lifetime, heat, new, stock.take(dish), is_last_call)
    parts = (
        Panel(left, f"{_TEMPLATES}/left.jinja", time_left),
        Panel(face, f"{_TEMPLATES}/face.jinja", TicketFace(look, "late" if heat == "late" else "calm")),
        Panel(steps, f"{_TEMPLATES}/needs.jinja", _needs(dish, lookup, states, hands), needs_drawing),
    )
    shows = OrderTicket(
        lookup.words.name(dish), picture_of(dish), left, face, steps, tuple(_made(dish, lookup)), acts
    )
    return Panel(name, f"{_TEMPLATES}/ticket.jinja", shows, parts=parts)


def _made(dish: str, lookup: BriefLookup) -> Iterator[str]:
    """Yield sentences about how to make a dish, one for each product."""
    words = lookup.words
    for product, tool, parts in lookup.recipes[dish]:
        made = gettext("{product} is made of {parts} with {tool}.")
        names = {"product": words.name(product), "parts": words.items(parts), "tool": words.place(tool)}
        yield join_sentence(made.format(**names))


def _needs(
    dish: str, lookup: BriefLookup, states: Mapping[str, str], hands: tuple[tuple[str, int, str], ...]
) -> DishNeeds:
    recipe = lookup.recipes[dish]
    parts = (part for product in recipe for part in (product[0], *product[2]))
    names = tuple((code, lookup.words.english(code)) for code in dict.fromkeys([dish, *parts]))
    return DishNeeds(dish, recipe, names, tuple(states.items()), hands)


def needs_drawing(needs: DishNeeds) -> dict[str, Json]:
    """Return the drawing of the dish's task graph (`graph`), and sentences about items and robots
    (`told`)."""
    words, states = KitchenWords(dict(needs.names)), dict(needs.states)
    recipes = {product: {"tool": tool, "ingredients": parts} for product, tool, parts in needs.recipe}
    task = task_graph.task_graph(needs.dish, recipes, serve=False)
    hands = {item: seat for item, seat, _ in needs.hands}
    return {
        "graph": task_graph.graph_drawing(task, words, task_graph.compact_size(task), states, hands),
        "told": list(_progress_sentences(needs, words)),
    }


def _progress_sentences(needs: DishNeeds, words: KitchenWords) -> Iterator[str]:
    """Yield sentences about an order's items: which ones exist, which ones are being made, and which
    robots work on them."""
    here, making = ([item for item, state in needs.states if state == which] for which in ("here", "making"))
    if here:
        yield gettext("In the kitchen for it: {items}.").format(items=words.items(here))
    if making:
        yield gettext("Being made for it: {items}.").format(items=words.items(making))
    if not here and not making:
        yield gettext("Nothing for it is in the kitchen yet.")
    for item, _, name in needs.hands:
        yield gettext("{robot} is working on the {item}.").format(robot=name, item=words.mid(item))


def items_in_kitchen(view: SeatView) -> ItemsInKitchen:
    """Return counts of the items in tools, on the table and in robots' hands."""
    places, agents = view.observation["locations"], view.observation["agents"]
    held = [agent["holds"] for agent in agents if agent["holds"]]
    making = [item for place in places.values() if place["busy"] for item in place["items"]]
    ready = [item for place in places.values() if not place["busy"] for item in place["items"]]
    hands: dict[str, list[int]] = {}
    for seat, agent in enumerate(agents):
        made = places[agent["at"]]["items"] if agent["busy"] else []
        for item in [agent["holds"]] if agent["holds"] else made:
            hands.setdefault(item, []).append(seat)
    return ItemsInKitchen(Counter(ready + held), Counter(making), Counter(ready + held), hands)
