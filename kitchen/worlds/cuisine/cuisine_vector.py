"""Encode CuisineWorld's observations as one vector, with a fixed list of commands for each level.

For L locations, I items and D dishes, the vector has these numbers:

- Each seat, first the own one, then in the order of seats: its location (one-hot, L), the item that it holds
  (one-hot, I), `busy`.
- Each location: how often each item is there (I), `busy`.
- Each of `max_orders` orders: the dish (one-hot, D), and the share of its lifetime that is left.
- The share of the steps that is over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from kitchen.contract.flat_encoding import FlatEncoding, VectorWriter
from kitchen.contract.world import Command, Json

if TYPE_CHECKING:
    from numpy import ndarray

VERBS = ("goto", "get", "put", "activate", "noop")


@dataclass(frozen=True, slots=True)
class CuisineTable:
    """The numbers of all names in one level."""

    locations: Mapping[str, int]
    items: Mapping[str, int]
    dishes: Mapping[str, int]
    commands: Mapping[Command, int]
    command_list: Sequence[Command]


@lru_cache(maxsize=128)
def _table(
    names: tuple[str, ...], tools: tuple[str, ...], locations: tuple[str, ...], dishes: tuple[str, ...]
) -> CuisineTable:
    items = sorted({*names} - {*tools, *locations, *VERBS})
    commands: list[Command] = [("noop",), *(("goto", place) for place in locations)]
    commands += [("get", place, item) for place in locations for item in items]
    commands += [(verb, place) for verb in ("put", "activate") for place in locations]
    numbered = {command: number for number, command in enumerate(commands)}
    return CuisineTable(_numbered(locations), _numbered(items), _numbered(dishes), numbered, commands)


def _numbered(names: Sequence[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


def table_of(brief: Mapping[str, Json]) -> CuisineTable:
    """Return the numbers of all names in the level of this brief."""
    return _table(
        tuple(brief["names"]), tuple(brief["tools"]), tuple(brief["locations"]), tuple(brief["dishes"])
    )


class CuisineEncoding(FlatEncoding):
    """The kitchen as one vector, which begins with the seat itself."""

    name: ClassVar[str] = "cuisine.flat/1"

    def command_numbers(self, brief: Mapping[str, Json]) -> Mapping[Command, int]:
        """Number `noop`, then `goto`, `get` (location first), `put` and `activate` for each location."""
        return table_of(brief).commands

    def commands(self, brief: Mapping[str, Json], possible: Sequence[Command]) -> Sequence[Command]:
        """Return the list of commands of this level."""
        return table_of(brief).command_list

    def shape(self, brief: Mapping[str, Json]) -> tuple[int, ...]:
        """Return the length of the vector, as a tuple."""
        table = table_of(brief)
        places, items, dishes = len(table.locations), len(table.items), len(table.dishes)
        seats, orders = brief["agents"], brief["max_orders"]
        return (seats * (places + items + 1) + places * (items + 1) + orders * (dishes + 1) + 1,)

    def encode(self, brief: Mapping[str, Json], observation: Mapping[str, Json], seat: int) -> ndarray:
        """Return the vector of this seat."""
        table, writer = table_of(brief), VectorWriter(*self.shape(brief))
        agents, items = observation["agents"], len(table.items)
        for agent in (*agents[seat:], *agents[:seat]):
            writer.one_hot(table.locations[agent["at"]], len(table.locations))
            writer.one_hot(table.items.get(agent["holds"]), items)
            writer.number(agent["busy"])
        for name in table.locations:
            place = observation["locations"][name]
            lying = place["items"]
            writer.counts({table.items[item]: lying.count(item) for item in {*lying}}, items)
            writer.number(place["busy"])
        orders = observation["orders"]
        for order in orders:
            writer.one_hot(table.dishes[order["dish"]], len(table.dishes))
            writer.number(order["life"] / brief["lifetimes"][order["dish"]])
        writer.at += (brief["max_orders"] - len(orders)) * (len(table.dishes) + 1)
        writer.number(observation["step"] / brief["max_steps"])
        return writer.array


CUISINE_ENCODING = CuisineEncoding()
