"""Write the state of a CuisineWorld episode as JSON, and read it back. Reading checks the whole state.

For the random generator, only the seed and the number of draws are stored. Reading repeats the draws and
compares the drawn dishes with the stored ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kitchen.contract.world import Json
from kitchen.contract.world_errors import StateError
from kitchen.worlds.cuisine.command_rules import AgentState, PlaceState, States
from kitchen.worlds.cuisine.level import Level, Tool
from kitchen.worlds.cuisine.order_book import MAX_ORDERS, OrderBook
from kitchen.worlds.cuisine.settings import Options


def write_agents(agents: Sequence[AgentState]) -> list[Json]:
    """Return the agents' states as JSON objects with `at`, `holds` and `busy`, in the order of the seats."""
    return [{"at": each.at, "holds": each.holds, "busy": each.busy} for each in agents]


@dataclass(frozen=True, slots=True)
class StateReader:
    """Reads the parts of a stored state for one world. Every method raises StateError if the part is
    invalid."""

    options: Options
    seats: int
    states: States

    @property
    def level(self) -> Level:
        """Return the level of the episode."""
        return self.options.level

    def clock(self, value: Json) -> int:
        """Return the stored number of steps taken."""
        return read_whole_number(value, "clock", 0, self.options.max_steps)

    def agents(self, value: Json) -> dict[int, AgentState]:
        """Return the stored states of the agents by seat."""
        require(isinstance(value, list) and len(value) == self.seats, "agents", "is not one for each seat")
        return {seat: self._agent(seat, each) for seat, each in enumerate(value)}

    def places(self, value: Json) -> dict[str, PlaceState]:
        """Return the stored states of the places by id, in the order of the kitchen."""
        places = read_object(value, "places", self.level.places)
        return {id: self._place(id, tool, places[id]) for id, tool in self.level.places.items()}

    def check_busy(self, agents: Mapping[int, AgentState], places: Mapping[str, PlaceState]) -> None:
        """Raise StateError if an agent is busy without reason. A busy agent must be at a tool that occupies
        its agent. This tool must be busy for the same number of steps."""
        for agent in agents.values():
            alike = self.level.places[agent.at].attended and places[agent.at].busy == agent.busy
            require(not agent.busy or alike, f"agents.{agent.seat}", "is busy with nothing")

    def orders(self, value: Json, clock: int) -> OrderBook:
        """Return the stored orders. `clock` is the number of steps taken. The random generator continues
        where it was stored."""
        fields = read_object(value, "orders", ("seed", "draws", "standing", "completed", "failed"))
        draws = read_whole_number(fields["draws"], "draws", 1, 1 + clock // self.options.timing.interval)
        seed = fields["seed"]
        require(isinstance(seed, int) and not isinstance(seed, bool), "seed", "is not a whole number")
        book = OrderBook(self.level.dishes, self.options.timing, seed, draws)
        book.completed = self._dishes(fields["completed"], "completed")
        book.failed = self._dishes(fields["failed"], "failed")
        book.standing = [(clock + life, dish) for dish, life in self._standing(fields["standing"])]
        self._check_draws(book)
        return book

    def _agent(self, seat: int, value: Json) -> AgentState:
        fields = read_object(value, f"agents.{seat}", ("at", "holds", "busy"))
        at, holds = fields["at"], fields["holds"]
        require(isinstance(at, str) and at in self.level.places, "at", "is no place")
        require(holds is None or self._is_item(holds), "holds", "is no item")
        tool = self.level.places[at]
        return self.states.agent(seat, at, holds, read_whole_number(fields["busy"], "busy", 0, tool.busy))

    def _place(self, id: str, tool: Tool, value: Json) -> PlaceState:
        fields = read_object(value, f"places.{id}", ("items", "busy", "done"))
        items, done = fields["items"], fields["done"]
        require(isinstance(items, list) and all(map(self._is_item, items)), id, "holds what is no item")
        require(tool.capacity is None or len(items) <= tool.capacity, id, "holds too much")
        require(tool.role != "storage" or not items, id, "holds what it never holds")
        require(isinstance(done, bool), id, "is neither done nor not")
        require(not done or (tool.role == "tool" and len(items) == 1), id, "cannot be done")
        return self.states.place(id, tuple(items), read_whole_number(fields["busy"], id, 0, tool.busy), done)

    def _standing(self, value: Json) -> list[tuple[str, int]]:
        require(isinstance(value, list) and len(value) <= MAX_ORDERS, "standing", "is no list of orders")
        standing = []
        for each in value:
            require(isinstance(each, list) and len(each) == 2, "standing", "holds what is no order")
            (dish,) = self._dishes(each[:1], "standing")
            most = self.options.timing.lifetimes[dish]
            standing.append((dish, read_whole_number(each[1], "life", 0, most)))
        require(standing == sorted(standing, key=lambda order: order[::-1]), "standing", "is not sorted")
        return standing

    def _dishes(self, value: Json, name: str) -> list[str]:
        require(isinstance(value, list), name, "is no list")
        for each in value:
            require(isinstance(each, str) and each in self.level.dishes, name, "names what is no dish")
        return list(value)

    def _is_item(self, value: Json) -> bool:
        return isinstance(value, str) and self.level.stock.has(value)

    def _check_draws(self, book: OrderBook) -> None:
        repeated = OrderBook(self.level.dishes, self.options.timing, book.seed)
        drawn = Counter(repeated.next_dish() for _ in range(book.draws))
        kept = Counter([*book.completed, *book.failed, *(dish for _, dish in book.standing)])
        require(drawn == kept, "orders", "are not those that the generator drew")


def require(holds: bool, name: str, problem: str) -> None:
    """Raise StateError with `name` and `problem` if `holds` is false."""
    if not holds:
        raise StateError(f"stored state: {name} {problem}")


def read_whole_number(value: Json, name: str, least: int, most: int) -> int:
    """Return the value, a whole number from `least` to `most`. Raises StateError for any other value."""
    require(isinstance(value, int) and not isinstance(value, bool), name, "is not a whole number")
    require(least <= value <= most, name, f"is not from {least} to {most}")
    return int(value)


def read_object(value: Json, name: str, keys: Sequence[str] | Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the value, a JSON object with exactly these keys. Raises StateError for any other value."""
    require(isinstance(value, Mapping), name, "is no object")
    for key in keys:
        require(key in value, name, f"lacks {key}")
    require(len(value) == len(keys), name, "holds keys that are not known")
    fields: Mapping[str, Json] = value
    return fields
