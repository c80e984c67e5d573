"""Define the world `blocks_kitchen`, in which cooks gather meat and fuel, and complete orders for dishes.

It follows MindAgent's kitchen of blocks (arXiv 2309.09971, section 7). The docstring of
`kitchen.worlds.blocks` has the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from random import Random
from typing import Annotated, ClassVar

from pydantic import Strict, TypeAdapter

from kitchen.contract.data_files import Record, read_toml
from kitchen.contract.declared_settings import Setting
from kitchen.contract.metric_definitions import MetricLimits
from kitchen.contract.simple_world import SimpleWorld
from kitchen.contract.world import Command, Event, Json, Metric, TurnCommands, ordered_commands
from kitchen.words.gettext_without_django import ngettext_noop
from kitchen.worlds.blocks.block_aims import AimedWorld
from kitchen.worlds.blocks.block_grid import (
    BlockGrid,
    BlockMap,
    Bounds,
    Cell,
    is_within,
    nearest_cell,
    picture_around,
)
from kitchen.worlds.blocks.block_maps import Corner
from kitchen.worlds.blocks.item_recipes import DATA, add_items, remove_items
from kitchen.worlds.blocks.item_words import unknown_item

GO_ON: Command = ("go_on",)
GOTO, MINE, KILL, PUT_FUEL, PUT_ITEM, TAKE_OUT, PUT_IN_CHEST = ACTIONS = (
    *("goto", "mineBlock", "killMob", "putFuelFurnace", "putItemFurnace", "takeOutFurnace", "putInChest"),
)
IDLE_VERBS = ("go_on", "noop")
FURNACE, CHEST, LOG = "furnace", "chest", "oak_log"
GOTO_RANGE, WORK_RANGE, FURNACE_RANGE, CHEST_RANGE = 48, 6, 32, 8
MEAT: Mapping[str, str] = {"sheep": "mutton", "chicken": "chicken", "pig": "porkchop", "cow": "beef"}
PLACES = (FURNACE, CHEST, LOG, "sheep", "chicken", "pig")
"""The places to which `goto` leads; a cow is not among them."""
DISHES, MORE_DISHES = ("cooked_chicken", "cooked_mutton"), ("cooked_porkchop",)
EMPTY: tuple[None, int] = (None, 0)
MOST_COOKS = 3


class HouseMap(Record):
    """The content of the map file: the seats' starting cells, the furnace, the chest, and the cells of
    animals and log."""

    starts: Annotated[tuple[Corner, ...], Strict(False)]
    furnace: Corner
    chest: Corner
    things: Mapping[str, Annotated[tuple[Corner, ...], Strict(False)]]


@cache
def house_map() -> HouseMap:
    """Read `data/maps/house.toml`. Raises DataError with file, key and reason if the file is wrong."""
    source, values = read_toml(DATA / "maps" / "house.toml")
    given = source.read(TypeAdapter(HouseMap), values)
    if missing := next((kind for kind in (LOG, *MEAT) if not given.things.get(kind)), ""):
        raise source.error("things", f"{missing!r} is missing")
    if reason := unknown_item(given.things):
        raise source.error("things", reason)
    if len(given.starts) < MOST_COOKS:
        raise source.error("starts", f"must have a cell for each of {MOST_COOKS} seats")
    return given


@cache
def house_grid() -> BlockGrid:
    """Return the blocks of the map at the start: furnace, chest and log."""
    given = house_map()
    blocks = {given.furnace: FURNACE, given.chest: CHEST} | dict.fromkeys(given.things[LOG], LOG)
    cells = [*blocks, *given.starts, *chain.from_iterable(given.things.values())]
    low_x, low_y, low_z = map(min, zip(*cells, strict=True))
    high_x, high_y, high_z = map(max, zip(*cells, strict=True))
    return BlockGrid(BlockMap.of(blocks, Bounds((low_x, low_y, low_z), (high_x, high_y, high_z))))


class BlocksKitchen(AimedWorld, SimpleWorld):
    """A world in which up to three cooks share a furnace and a chest, and complete orders for dishes."""

    kind: ClassVar[str] = "blocks_kitchen"
    settings: ClassVar[tuple[Setting, ...]] = (
        Setting(
            "interval",
            "int",
            "Steps between two orders",
            5,
            help="Our comparison uses 3, 4, 5, 6 and 8; the released program has 10.",
            minimum=1,
            maximum=60,
        ),
        Setting("porkchop", "bool", "Also order cooked porkchop", False),
        Setting("steps", "int", "Steps of an episode", 60, minimum=1, maximum=1000),
    )
    idle: ClassVar[Command] = GO_ON
    moves: ClassVar[frozenset[str]] = frozenset({GOTO})
    waits: ClassVar[frozenset[str]] = frozenset(GO_ON)
    min_seats: ClassVar[int] = 1
    max_seats: ClassVar[int] = MOST_COOKS
    figures: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "success_rate",
            "share",
            "Success rate",
            undefined="blank where both are 0",
            unit="share",
            of=("completed", "failed"),
        ),
        Metric(
            "completed",
            "count",
            "Dishes completed",
            meaning="Orders completed",
            so_far="Orders completed so far",
            unit="orders",
            words=ngettext_noop("order completed", "orders completed"),
        ),
        Metric(
            "failed",
            "count",
            "Orders that ran out of time",
            so_far="Orders failed so far",
            unit="orders",
            better="lower",
            measured=False,
            words=ngettext_noop("order missed", "orders missed"),
        ),
    )
    drawn: ClassVar[str] = "orders"
    drawn_alike: ClassVar[str] = "all of them"
    news: ClassVar[str] = "orders that came in, were completed or ran out of time"
    state: ClassVar[tuple[str, ...]] = (
        *("at", "inventories", "fuel", "input", "output", "chest"),
        *("orders", "drawn_orders", "completed_dishes", "failed"),
    )

    def begin(self) -> None:
        """Put the seats on their starting cells, and draw the first order."""
        self.at: list[Cell] = list(house_map().starts[: self.seats])
        self.inventories: list[dict[str, int]] = [{} for _ in range(self.seats)]
        self.fuel = 0
        self.input: list[Json] = list(EMPTY)
        """The raw item in the furnace, and its number."""
        self.output: list[Json] = list(EMPTY)
        self.chest: dict[str, int] = {}
        self.orders: list[list[Json]] = []
        """[dish, remaining life], sorted by life."""
        self.drawn_orders = 0
        self.completed_dishes: dict[str, int] = {}
        self.failed = 0
        self.gone: set[Cell] = set()
        """Cells whose animal or log was taken in the last step; they are back before the next."""
        self._in_step = False
        self._draw_order()

    @property
    def dishes(self) -> tuple[str, ...]:
        """Return the dishes that can be ordered."""
        return (*DISHES, *(MORE_DISHES if self.chosen["porkchop"] else ()))

    @property
    def order_life(self) -> int:
        """Return the number of steps after which an open order fails."""
        return int(1.5 * self.chosen["interval"])

    @property
    def completed(self) -> int:
        """Return the number of orders completed so far."""
        return sum(self.completed_dishes.values())

    def chances(self) -> Mapping[str, MetricLimits]:
        """Return the limits of the success rate: how many orders an episode has, and how many of them can
        be missed."""
        orders = -(-self.chosen["steps"] // self.chosen["interval"])
        missable = sum(
            1
            for number in range(orders)
            if number * self.chosen["interval"] + self.order_life <= self.chosen["steps"]
        )
        because = f"Orders wait {self.order_life} steps and an episode has {self.chosen['steps']}"
        return {"success_rate": MetricLimits("orders", orders, missable, because)}

    def _draw_order(self) -> str:
        chance = Random(self.seed)  # noqa: S311 - not for secrets
        self.drawn_orders += 1
        dish = [chance.choice(self.dishes) for _ in range(self.drawn_orders)][-1]
        self.orders.append([dish, self.order_life])
        return dish

    # Knowledge

    def brief(self, seat: int) -> dict[str, Json]:
        """Return what every seat knows before the episode: the dishes, the timing, and the cells of
        furnace, chest, animals and log."""
        given = house_map()
        return {
            "dishes": list(self.dishes),
            "interval": self.chosen["interval"],
            "order_life": self.order_life,
            "steps": self.chosen["steps"],
            "places": {FURNACE: list(given.furnace), CHEST: list(given.chest)},
            "things": {kind: [list(cell) for cell in cells] for kind, cells in given.things.items()},
        }

    def public_state(self) -> dict[str, Json]:
        """Return the steps left, and the open orders as in `observe`."""
        return {**super().public_state(), "orders": self._open_orders()}

    def _open_orders(self) -> list[Json]:
        return [{"dish": dish, "steps_left": life} for dish, life in self.orders]

    def observe(self, seat: int) -> dict[str, Json]:
        """Return the observation, the whole state. It is the same for all seats."""
        return {
            "step": self.clock,
            "steps_left": self.chosen["steps"] - self.clock,
            "orders": self._open_orders(),
            "players": [
                {"seat": each, "at": list(cell), "holds": dict(sorted(held.items()))}
                for each, (cell, held) in enumerate(zip(self.at, self.inventories, strict=True))
            ],
            "furnace": {"fuel": self.fuel, "input": list(self.input), "output": list(self.output)},
            "chest": dict(sorted(self.chest.items())),
        }

    def picture(self, seat: int) -> dict[str, Json]:
        """Return the blocks and animals around this seat."""
        things = house_map().things
        animals = [(kind, cell) for kind in MEAT for cell in things[kind]]
        return picture_around(house_grid(), animals, self.at[seat])

    # Commands

    def legal_actions(self, seat: int) -> list[Command]:
        """Return every action that this seat could carry out now."""
        if self.has_ended:
            return [GO_ON]
        items = sorted(self.inventories[seat])
        offered = [
            *((GOTO, place) for place in PLACES),
            (MINE, LOG),
            *((KILL, animal) for animal in MEAT),
            (PUT_FUEL, LOG),
            *((PUT_ITEM, meat) for meat in MEAT.values()),
            (TAKE_OUT,),
            *((PUT_IN_CHEST, item) for item in items),
        ]
        return [*(command for command in offered if not self.why_not(seat, command)), GO_ON]

    def allows(self, seat: int, command: Command) -> bool:
        """Return whether this seat could carry out the action now."""
        return not self.why_not(seat, command) and (not self.has_ended or command == GO_ON)

    def why_not(self, seat: int, command: Command) -> str:
        """Return the code of the first check that the action fails; empty if it is allowed."""
        verb = command[0] if command else ""
        if verb not in (*ACTIONS, *IDLE_VERBS):
            return "unknown_verb"
        if len(command) != (1 if verb in (TAKE_OUT, *IDLE_VERBS) else 2):
            return "wrong_arguments"
        if verb in IDLE_VERBS:
            return ""
        thing = command[1] if len(command) > 1 else FURNACE
        return _misnamed(verb, thing) or self._refusal(seat, verb, thing)

    def _refusal(self, seat: int, verb: str, thing: str) -> str:
        if self._target(seat, verb, thing) is None:
            return "not_near"
        if verb in (PUT_FUEL, PUT_ITEM, PUT_IN_CHEST) and thing not in self.inventories[seat]:
            return "no_item"
        if verb == PUT_ITEM and self.input[0] not in (None, thing):
            return "furnace_taken"
        return "empty" if verb == TAKE_OUT and not self.output[1] else ""

    def _target(self, seat: int, verb: str, thing: str) -> Cell | None:
        """Return the cell of the thing that an action is about. Return None if the thing is out of the
        seat's reach."""
        given = house_map()
        if verb in (MINE, KILL):
            kind, reach = thing, WORK_RANGE
        elif verb == PUT_IN_CHEST:
            kind, reach = CHEST, CHEST_RANGE
        elif verb == GOTO:
            kind, reach = thing, GOTO_RANGE
        else:
            kind, reach = FURNACE, FURNACE_RANGE if verb == TAKE_OUT else WORK_RANGE
        if kind in (FURNACE, CHEST):
            place = given.furnace if kind == FURNACE else given.chest
            return place if is_within(self.at[seat], place, reach) else None
        gone = self.gone if self._in_step else ()
        return nearest_cell((cell for cell in given.things[kind] if cell not in gone), self.at[seat], reach)

    # Steps

    def step(self, turn: TurnCommands) -> tuple[Event, ...]:
        """Carry out one step and return its events, the events of commands first. Commands run in seat
        order. Commands of unknown seats come before all others."""
        by_seat = sorted(ordered_commands(turn), key=lambda each: (0 <= each[0] < self.seats, each[0]))
        if self.has_ended:
            return ()
        self.gone.clear()
        self._in_step = True
        news = [self._order_event("ordered", self._draw_order())] if self._order_is_due() else []
        events, given = list[Event](), dict[int, Command]()
        for seat, words in by_seat:
            events += self._act(seat, tuple(words), given)
        self._in_step = False
        self._run_furnace()
        self.clock += 1
        return (*events, *news, *self._count_orders())

    def _order_is_due(self) -> bool:
        return self.clock > 0 and self.clock % int(self.chosen["interval"]) == 0

    def carry_out(self, seat: int, command: Command) -> Iterable[Event]:
        """Carry out an action that is allowed. Always return an empty collection, because the action has
        no events of its own."""
        verb = command[0]
        if verb in IDLE_VERBS:
            return ()
        thing = command[1] if len(command) > 1 else FURNACE
        target = self._target(seat, verb, thing)
        if target is None:
            raise ValueError(f"{thing} is not near")
        if verb in (GOTO, MINE, KILL, TAKE_OUT, PUT_IN_CHEST):
            self.at[seat] = target
        self._change(self.inventories[seat], verb, thing, target)
        return ()

    def _change(self, held: dict[str, int], verb: str, thing: str, target: Cell) -> None:
        if verb in (MINE, KILL):
            self.gone.add(target)
            add_items(held, {MEAT.get(thing, thing): 1})
        elif verb in (PUT_FUEL, PUT_ITEM):
            remove_items(held, {thing: 1})
            if verb == PUT_FUEL:
                self.fuel += 1
            else:
                self.input = [thing, self.input[1] + 1]
        elif verb == TAKE_OUT:
            add_items(held, {self.output[0]: self.output[1]})
            self.output = list(EMPTY)
        elif verb == PUT_IN_CHEST:
            add_items(self.chest, {thing: held.pop(thing)})

    def _run_furnace(self) -> None:
        raw, count = self.input
        cooked = f"cooked_{raw}"
        if not count or not self.fuel or self.output[0] not in (None, cooked):
            return
        self.fuel -= 1
        self.input = [raw, count - 1] if count > 1 else list(EMPTY)
        self.output = [cooked, self.output[1] + 1]

    def _count_orders(self) -> Iterator[Event]:
        """Complete each order whose dish is in the chest. Reduce the remaining time of all other orders by
        one step. Yield the events."""
        left: list[list[Json]] = []
        for dish, life in sorted(self.orders, key=lambda order: order[1]):
            done = self.completed_dishes.get(dish, 0)
            if self.chest.get(dish, 0) > done:
                self.completed_dishes[dish] = done + 1
                yield self._order_event("completed", dish)
            elif life > 1:
                left.append([dish, life - 1])
            else:
                self.failed += 1
                yield self._order_event("failed", dish)
        self.orders = left

    def _order_event(self, kind: str, dish: str) -> Event:
        return Event(kind, None, {"dish": dish})


def _misnamed(verb: str, thing: str) -> str:
    """Return the code of a fault if the verb of an action cannot be used with this thing. Return an empty
    text if it can."""
    known: Mapping[str, tuple[Iterable[str], str]] = {
        GOTO: (PLACES, "unknown_place"),
        MINE: ((LOG,), "unknown_target"),
        KILL: (MEAT, "unknown_target"),
        PUT_FUEL: ((LOG,), "not_fuel"),
        PUT_ITEM: (MEAT.values(), "not_smeltable"),
    }
    things, code = known.get(verb, ((thing,), ""))
    return "" if thing in things else code
