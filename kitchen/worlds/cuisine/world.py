"""Implement CuisineWorld: carry out the commands of each step, and return its events.

The docstring of `kitchen.worlds.cuisine` has the rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from typing import ClassVar, Self

from kitchen.contract.declared_settings import Setting
from kitchen.contract.metric_definitions import MetricLimits
from kitchen.contract.world import Aim, Command, Event, Json, Metric, TurnCommands, World, ordered_commands
from kitchen.contract.world_errors import SettingsError, StateError
from kitchen.worlds.cuisine.aim_pursuit import aim_mark, aim_status, level_aims
from kitchen.worlds.cuisine.command_table import (
    NOOP,
    NOTHING,
    STARTED,
    CommandOutcome,
    anticipated_commands,
    command_table_of,
    plannable_commands,
    refused_event,
)
from kitchen.worlds.cuisine.level import Catalogue, Level, recipe_items, shipped_catalogue
from kitchen.worlds.cuisine.order_book import MAX_ORDERS, OrderBook, Timing
from kitchen.worlds.cuisine.saved_state import (
    StateReader,
    read_object,
    require,
    write_agents,
)
from kitchen.worlds.cuisine.settings import METRICS, Options, declared_settings, order_limits, read_options

VERB_NAMES: Mapping[str, str] = {
    "goto": "Go to",
    "get": "Take",
    "put": "Put down",
    "activate": "Start",
    "noop": "Wait",
}


def level_brief(level: Level, timing: Timing) -> dict[str, Json]:
    """Return the unchanging facts of a level: dishes, recipes, tools, places, timing and readable names.
    They are the same for every seat."""
    used = {node for dish in level.dishes for node in recipe_items(dish, level.recipes)}
    products = {recipe.product: recipe.name for recipe in level.recipes.values()}
    return {
        "level": level.code,
        "title": level.title,
        "interval": timing.interval,
        "max_orders": MAX_ORDERS,
        "dishes": list(level.dishes),
        "lifetimes": dict(timing.lifetimes),
        "recipes": {
            product: {"tool": recipe.tool, "ingredients": list(recipe.ingredients)}
            for product, recipe in level.recipes.items()
        },
        "base": [item for item in level.stock.ingredients if item in used],
        "tools": {
            tool.code: {"capacity": tool.capacity, "busy": tool.busy, "attended": tool.attended}
            for tool in level.places.values()
        },
        "locations": {place: tool.code for place, tool in level.places.items()},
        "names": {**level.stock.ingredients, **products, **_place_names(level), **VERB_NAMES},
        "uncookable": list(level.uncookable),
    }


def _place_names(level: Level) -> dict[str, str]:
    """Return readable names of types and places, numbered from 1 if the kitchen has several of a type."""
    tools = {*level.kitchen, *(recipe.tool for recipe in level.recipes.values())}
    names = {code: tool.name for code, tool in level.stock.tools.items() if code in tools}
    several, seen = Counter(level.kitchen), Counter[str]()
    for place, tool in level.places.items():
        seen[tool.code] += 1
        names[place] = f"{tool.name} {seen[tool.code]}" if several[tool.code] > 1 else tool.name
    return names


ALL_IDLE = Event("all_idle")


class CuisineWorld(World):
    """A kitchen in which 1 to 8 agents cook the ordered dishes before the orders expire."""

    kind: ClassVar[str] = "cuisine"
    event_kinds: ClassVar[Mapping[str, str]] = {
        "completed": "an order was served",
        "failed": "an order was missed",
        "ordered": "an order came",
    }
    version: ClassVar[int] = 1
    settings: ClassVar[tuple[Setting, ...]] = declared_settings(shipped_catalogue())
    moves: ClassVar[frozenset[str]] = frozenset(("goto",))
    planned_step_seconds: ClassVar[float] = 0.3
    max_seats: ClassVar[int] = 8
    figures: ClassVar[tuple[Metric, ...]] = METRICS
    drawn: ClassVar[str] = "dishes"
    drawn_alike: ClassVar[str] = (
        "in the same order. They come at the same steps, unless six orders are open: then no order comes, "
        "and the following ones come later"
    )
    news: ClassVar[str] = "completed, failed and new orders"

    def __init__(self, seats: int, options: Options) -> None:
        if isinstance(seats, bool) or not isinstance(seats, int):
            raise SettingsError(f"seats: {seats!r} is not a whole number")
        if not self.min_seats <= seats <= self.max_seats:
            raise SettingsError(f"seats: {seats} is not from {self.min_seats} to {self.max_seats}")
        self.seats = seats
        self.options = options
        self.level = options.level
        self._kitchen = command_table_of(options.level)
        self._table = options.level.serving_table
        self._length = options.max_steps
        self._interval = options.timing.interval
        self.reset(0)

    @classmethod
    def create(cls, *, seats: int, settings: Mapping[str, Json], catalogue: Catalogue | None = None) -> Self:
        """Return a new world with these settings. Raises SettingsError for wrong settings.

        `catalogue` has the levels and recipes; None uses the project's own. A level with a dish that cannot
        be cooked gives an UncookableDishWarning.
        """
        world = cls(seats, read_options(settings, catalogue))
        world.level.warn()
        return world

    def reset(self, seed: int) -> None:
        """Start a new episode: all agents are at the serving table with empty hands, all places are empty,
        and one order is open.

        `seed` determines the orders.
        """
        timing = self.options.timing
        states = self._kitchen.states
        self._clock = 0
        self._agents = {seat: states.agent(seat, self._table) for seat in range(self.seats)}
        self._places = self._kitchen.start.copy()
        self._going: list[str] = []
        self._orders = OrderBook(self.level.dishes, timing, seed)
        self._orders.draw(0)

    @property
    def clock(self) -> int:
        """Return the number of steps taken since `reset`."""
        return self._clock

    @property
    def length(self) -> int:
        """Return the number of steps of an episode (setting `max_steps`)."""
        return self._length

    @property
    def over(self) -> bool:
        """Return whether the last step has been taken."""
        return self._clock >= self._length

    def step(self, turn: TurnCommands) -> tuple[Event, ...]:
        """Run the commands of one step in order, then update busy times, dishes and orders. Return the
        events. After the end of the episode, nothing happens and there are no events.

        There is one event `performed` or `refused` for each command, in order. `all_idle` follows if no agent
        acted. Events of the kitchen are `failed` {dish}, `completed` {dish} and `ordered` {dish, life}.
        """
        clock = self._clock
        if clock >= self._length:
            return ()
        events: list[Event] = []
        idle = self._run(turn.items(), events) if type(turn) is dict else self._run_list(turn, events)
        if idle:
            events.append(ALL_IDLE)
        if self._going:
            self._rest()
        waiting = self._orders.standing
        if waiting and (waiting[0][0] <= clock or self._places[self._table].items):
            self._settle(events)
        self._clock = clock = clock + 1
        if clock % self._interval == 0:
            self._order(events)
        return tuple(events)

    def _run(self, pairs: Iterable[tuple[int, Command]], events: list[Event]) -> bool:
        """Carry out commands of different seats, and add their events to `events`. Return True if no agent
        acted."""
        agents, places, known = self._agents, self._places, self._kitchen.plays
        idle = True
        for seat, command in pairs:
            try:
                place = places[command[1]] if len(command) > 1 else None
                agent, place, event, change = known[agents[seat], place, command]
            except (KeyError, TypeError):
                agent, place, event, change = self._work_out(seat, command)
            events.append(event)
            if change and place is not None:
                idle = False
                agents[seat] = agent
                places[place.id] = place
                if change == STARTED:
                    self._going.append(place.id)
        return idle

    def _run_list(self, turn: TurnCommands, events: list[Event]) -> bool:
        """Carry out the commands of a step in order, and add their events to `events`. A second command of
        the same seat is refused. Return True if no agent acted."""
        seen: set[int] = set()
        idle = True
        for seat, command in ordered_commands(turn):
            if seat in seen:
                events.append(refused_event(seat, command, ("duplicate_agent",)))
            else:
                seen.add(seat)
                idle = self._run([(seat, command)], events) and idle
        return idle

    def _work_out(self, seat: int, command: Command) -> CommandOutcome:
        """Return the outcome of a command that is malformed, or whose outcome is not cached for this
        state."""
        agent = self._agents.get(seat)
        if agent is None:
            return (
                self._agents[0],
                None,
                refused_event(seat, command_as_texts(command), ("unknown_agent",)),
                NOTHING,
            )
        if not (isinstance(command, list | tuple) and all(isinstance(part, str) for part in command)):
            return agent, None, refused_event(seat, command_as_texts(command), ("unknown_verb",)), NOTHING
        command = tuple(command)
        place = self._places.get(command[1]) if len(command) > 1 else None
        return self._kitchen.play(agent, place, command)

    def _rest(self) -> None:
        """Reduce by one the number of steps for which each agent and each place stays busy."""
        states, places = self._kitchen.states, self._places
        for seat, agent in self._agents.items():
            self._agents[seat] = states.rested_agent(agent)
        for place in self._going:
            places[place] = states.rested_place(places[place])
        self._going = self._busy_places()

    def _busy_places(self) -> list[str]:
        """Return the ids of busy places; if an agent is busy, its place is busy too."""
        return [place.id for place in self._places.values() if place.busy]

    def _settle(self, events: list[Event]) -> None:
        """Remove orders whose time is over, and count them as failed. Then complete orders with the dishes on
        the table."""
        events += [Event("failed", None, {"dish": dish}) for dish in self._orders.expire(self._clock)]
        lying = self._places[self._table].items
        for dish in self._orders.serve(lying):
            events.append(Event("completed", None, {"dish": dish}))
            lying = without_item(lying, dish)
        self._places[self._table] = self._kitchen.states.place(self._table, lying)

    def _order(self, events: list[Event]) -> None:
        """Add an order for a random dish, unless the maximum number of orders is open."""
        dish = self._orders.draw(self._clock)
        if dish is not None:
            life = self.options.timing.lifetimes[dish]
            events.append(Event("ordered", None, {"dish": dish, "life": life}))

    def brief(self, seat: int) -> dict[str, Json]:
        """Return the unchanging facts of the episode: level, timing, recipes, tools and names. They are
        the same for every seat."""
        values = self.options.values
        return {
            **level_brief(self.level, self.options.timing),
            "alpha": values["alpha"],
            "beta": values["beta"],
            "max_steps": self.options.max_steps,
            "agents": self.seats,
        }

    def public_state(self) -> dict[str, Json]:
        """Return the steps left, and the open orders as in `observe`."""
        return {**super().public_state(), "orders": self._open_orders()}

    def _open_orders(self) -> list[Json]:
        return [{"dish": dish, "life": life} for dish, life in self._orders.lives(self._clock)]

    def observe(self, seat: int) -> dict[str, Json]:
        """Return the whole state of the kitchen. Only `seat` differs between seats.

        `busy` and `life` are in steps. Orders are sorted by urgency, `delivered` by the time of completion.
        """
        shows_open = self._kitchen.shows_open
        return {
            "seat": seat,
            "step": self._clock,
            "max_steps": self.options.max_steps,
            "agents": write_agents(list(self._agents.values())),
            "locations": {
                id: {"items": list(place.items), "busy": place.busy, "open": shows_open(place)}
                for id, place in self._places.items()
            },
            "orders": self._open_orders(),
            "completed": len(self._orders.completed),
            "failed": len(self._orders.failed),
            "delivered": list(self._orders.completed),
        }

    def legal_actions(self, seat: int) -> list[Command]:
        """Return all commands that are legal for this seat now, noop last. After the end only noop is legal.

        Each get command names its item.
        """
        if self.over:
            return [NOOP]
        agent = self._agents[seat]
        return list(self._kitchen.legal(agent, self._places[agent.at]))

    def asks(self, seat: int) -> bool:
        """Return whether the seat can choose a command. It cannot while its agent is busy."""
        return not self._agents[seat].busy

    def anticipated_actions(self, seat: int, earlier: Container[int] | None = None) -> list[Command]:
        """Return this seat's commands that are not legal yet, but become legal if other agents at the same
        place act first.

        Only the seats in `earlier` are considered as acting first; None means all other seats.
        """
        agent = self._agents[seat]
        if self.over or agent.busy:
            return []
        others = [
            other
            for number, other in self._agents.items()
            if number != seat and (earlier is None or number in earlier)
        ]
        return anticipated_commands(self._kitchen, agent, others, self._places[agent.at])

    def plannable(self, seat: int) -> list[Command]:
        """Return all commands that a plan for later steps may contain in this level."""
        return list(plannable_commands(self.level))

    def aims(self, seat: int) -> list[Aim]:
        """Return all aims of the level (`aim_pursuit`): serve a dish, make an item, fetch an item, or free
        a tool."""
        return list(level_aims(self.level))

    def aim_mark(self, seat: int, aim: Aim) -> Json:
        """Return how often the dish of a `serve` aim was served so far; None for other aims. `aim_status`
        needs this value later."""
        return aim_mark(self.observe(seat), aim)

    def aim_status(self, seat: int, aim: Aim, since: Json) -> str:
        """Return SUCCESS if the aim is reached, no matter which robot did the work. Return FAIL if the item
        to fetch exists nowhere, else UNKNOWN.

        `since` is what `aim_mark` returned when the aim was given.
        """
        return aim_status(self.observe(seat), self.brief(seat), seat, aim, since)

    def score(self) -> dict[str, Json]:
        """Return the numbers of `completed` and `failed` orders, their `success_rate`, and both counts for
        each dish (`dishes`).

        `success_rate` is completed / (completed + failed), None if both are 0. Open orders are not counted.
        """
        completed, failed = Counter(self._orders.completed), Counter(self._orders.failed)
        ended = completed.total() + failed.total()
        return {
            "completed": completed.total(),
            "failed": failed.total(),
            "success_rate": completed.total() / ended if ended else None,
            "dishes": {d: {"completed": completed[d], "failed": failed[d]} for d in self.level.dishes},
        }

    def chances(self) -> Mapping[str, MetricLimits]:
        """Return for `success_rate` how many orders arrive in an episode, and how many of them can expire."""
        return {"success_rate": order_limits(self.options.timing, self._length)}

    def to_dict(self) -> dict[str, Json]:
        """Return the whole state as JSON, from which `from_dict` restores the world."""
        orders = self._orders
        return {
            "kind": self.kind,
            "version": self.version,
            "seats": self.seats,
            "settings": dict(self.options.values),
            "clock": self._clock,
            "agents": write_agents(list(self._agents.values())),
            "places": {
                id: {"items": list(place.items), "busy": place.busy, "done": place.done}
                for id, place in self._places.items()
            },
            "orders": {
                "seed": orders.seed,
                "draws": orders.draws,
                "standing": [list(each) for each in orders.lives(self._clock)],
                "completed": list(orders.completed),
                "failed": list(orders.failed),
            },
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Json], catalogue: Catalogue | None = None) -> Self:
        """Return the world restored from the JSON of `to_dict`. Raises StateError if it is invalid."""
        fields = read_object(stored, "it", _PARTS)
        require(fields["kind"] == cls.kind, "kind", f"is not {cls.kind}")
        require(fields["version"] == cls.version, "version", f"{fields['version']!r} is not {cls.version}")
        require(isinstance(fields["settings"], Mapping), "settings", "is no object")
        try:
            world = cls(fields["seats"], read_options(fields["settings"], catalogue))
        except SettingsError as error:
            raise StateError(f"stored state: {error}") from error
        world._restore(fields)
        return world

    def _restore(self, fields: Mapping[str, Json]) -> None:
        read = StateReader(self.options, self.seats, self._kitchen.states)
        self._clock = read.clock(fields["clock"])
        self._agents = read.agents(fields["agents"])
        self._places = read.places(fields["places"])
        read.check_busy(self._agents, self._places)
        self._orders = read.orders(fields["orders"], self._clock)
        self._going = self._busy_places()


_PARTS = ("kind", "version", "seats", "settings", "clock", "agents", "places", "orders")


def without_item(items: tuple[str, ...], item: str) -> tuple[str, ...]:
    """Return the items with one occurrence of `item` removed. Raises ValueError if there is none."""
    at = items.index(item)
    return items[:at] + items[at + 1 :]


def command_as_texts(command: object) -> Command:
    """Return any submitted value as a tuple of strings, so that the log can store it as a command."""
    return tuple(str(part) for part in command) if isinstance(command, list | tuple) else (str(command),)
