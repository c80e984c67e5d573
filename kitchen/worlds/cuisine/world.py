"""Play CuisineWorld: apply the commands of a step, and return events.

The rules are in the package docstring.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from typing import ClassVar, Self

from kitchen.contract.metric_definitions import MetricLimits
from kitchen.contract.world import (
    Aim,
    Command,
    Event,
    Json,
    Metric,
    Setting,
    SettingsError,
    StateError,
    TurnCommands,
    World,
    ordered_commands,
)
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
    """Return level, dishes, recipes, tools, places and readable names; the same for every seat."""
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
    version: ClassVar[int] = 1
    settings: ClassVar[tuple[Setting, ...]] = declared_settings(shipped_catalogue())
    moves: ClassVar[frozenset[str]] = frozenset(("goto",))
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
        """Return a world with these settings; `catalogue` takes levels and recipes from another folder.

        Raises SettingsError for wrong settings. A level with a dish that cannot be cooked gives an
        UncookableDishWarning.
        """
        world = cls(seats, read_options(settings, catalogue))
        world.level.warn()
        return world

    def reset(self, seed: int) -> None:
        """Put all agents at the serving table with empty hands, empty all places, and draw one order."""
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
        """Steps taken since `reset`."""
        return self._clock

    @property
    def length(self) -> int:
        """Steps of the episode (setting `max_steps`)."""
        return self._length

    @property
    def over(self) -> bool:
        """Return whether the last step has been taken."""
        return self._clock >= self._length

    def step(self, turn: TurnCommands) -> tuple[Event, ...]:
        """Run the commands one after another, then advance busy times, serve, and draw orders.

        Return the events: one `performed` or `refused` per command, in order; `all_idle` if no command but
        noop was carried out; and `failed` {dish}, `completed` {dish}, `ordered` {dish, life} of the kitchen
        itself. After the end of the episode, nothing happens and no events are returned.
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
        """Carry out commands of different seats; return whether no agent acted."""
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
        """Carry out a list in which a seat may occur twice: its second command is refused."""
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
        """Return the effect of a malformed command, or of a command that is not cached for this state."""
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
        """Make every busy agent and place one step less busy."""
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
        """Fail the orders whose life is over, then serve the dishes on the table."""
        events += [Event("failed", None, {"dish": dish}) for dish in self._orders.expire(self._clock)]
        lying = self._places[self._table].items
        for dish in self._orders.serve(lying):
            events.append(Event("completed", None, {"dish": dish}))
            lying = without_item(lying, dish)
        self._places[self._table] = self._kitchen.states.place(self._table, lying)

    def _order(self, events: list[Event]) -> None:
        """Draw an order, if there is room."""
        dish = self._orders.draw(self._clock)
        if dish is not None:
            life = self.options.timing.lifetimes[dish]
            events.append(Event("ordered", None, {"dish": dish, "life": life}))

    def brief(self, seat: int) -> dict[str, Json]:
        """Return the level, its timing, recipes, tools and names: the same for every seat (`level_brief`)."""
        values = self.options.values
        return {
            **level_brief(self.level, self.options.timing),
            "alpha": values["alpha"],
            "beta": values["beta"],
            "max_steps": self.options.max_steps,
            "agents": self.seats,
        }

    def observe(self, seat: int) -> dict[str, Json]:
        """Return the whole state of the kitchen and the seat's number; all else is the same for every seat.

        `busy` and `life` are in steps. Orders are in list order, `delivered` in order of completion.
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
            "orders": [{"dish": dish, "life": life} for dish, life in self._orders.lives(self._clock)],
            "completed": len(self._orders.completed),
            "failed": len(self._orders.failed),
            "delivered": list(self._orders.completed),
        }

    def legal_actions(self, seat: int) -> list[Command]:
        """Return gotos, gets (each names its item), put, activate, and noop last; after the end only noop."""
        if self.over:
            return [NOOP]
        agent = self._agents[seat]
        return list(self._kitchen.legal(agent, self._places[agent.at]))

    def asks(self, seat: int) -> bool:
        """Return whether the seat can choose a command; a busy agent can only wait."""
        return not self._agents[seat].busy

    def anticipated_actions(self, seat: int, earlier: Container[int] | None = None) -> list[Command]:
        """Return gets, puts and activations that become legal once another seat here has acted."""
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
        """Return the commands that a plan may have in this level."""
        return list(plannable_commands(self.level))

    def aims(self, seat: int) -> list[Aim]:
        """Return all aims: serve a dish, make an item, fetch one, free a tool (`aims`)."""
        return list(level_aims(self.level))

    def aim_mark(self, seat: int, aim: Aim) -> Json:
        """Return how many of a dish were served before the aim was given."""
        return aim_mark(self.observe(seat), aim)

    def aim_status(self, seat: int, aim: Aim, since: Json) -> str:
        """Return the status of an aim from the state, whichever robot did the work (`aims`)."""
        return aim_status(self.observe(seat), self.brief(seat), seat, aim, since)

    def score(self) -> dict[str, Json]:
        """Return `completed` and `failed` orders, `success_rate` = completed / (completed + failed), and
        `dishes`.

        Open orders count in neither. The rate is None if both are 0. `dishes` holds {completed, failed} by
        dish.
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
        """Return the limits of the success rate: the orders that come, and those that can expire."""
        return {"success_rate": order_limits(self.options.timing, self._length)}

    def to_dict(self) -> dict[str, Json]:
        """Return the whole state; `saved_state` reads it."""
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
        """Return the world that `to_dict` described. Raises StateError for anything else."""
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
    """Return the items without one item of this kind."""
    at = items.index(item)
    return items[:at] + items[at + 1 :]


def command_as_texts(command: object) -> Command:
    """Return any submitted value as a tuple of strings, for the log."""
    return tuple(str(part) for part in command) if isinstance(command, list | tuple) else (str(command),)
