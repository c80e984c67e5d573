"""Encode Collab-Overcooked's observations as one vector, with one list of commands for all tasks.

The vector has these numbers, where T is the number of things in the kitchen (`food_rules().things`, sorted):

- The order: the food (one-hot, T), whether it is served in a dish, how often the recipe names each ingredient
  (T), and its utensils (4). A seat that does not know the recipe gets zeros.
- The seat (1 for the assistant), and the share of the steps that is over.
- The rooms: the letter of each of 25 cells (one-hot, 11), row by row.
- Both cooks, the own one first: its row (one-hot, 5), its direction (one-hot, 4), the thing in its hands
  (one-hot, T), whether it is in a dish, the verb in progress (one-hot, 9), and whether it is busy.
- Up to 8 counters, by y, then x: the thing on it (one-hot, T), and whether it is in a dish.
- The utensils: how often each thing is inside (T), the share of the job that is left, whether a job runs, and
  the thing that is ready (one-hot, T).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from kitchen.contract.flat_encoding import FlatEncoding, VectorWriter
from kitchen.contract.world import Command, Json
from kitchen.worlds.collab_overcooked.food_rules import IN_DISH, JOB_STEPS, UTENSILS, base_food, food_rules
from kitchen.worlds.collab_overcooked.macro_checks import (
    DELIVER,
    FILL,
    GO_ON,
    PICKUP,
    PLACE,
    PUT,
    STARTED_BY,
    WAIT,
    WAIT_ONE,
    known_macros,
)
from kitchen.worlds.collab_overcooked.room_layout import SEAT_NAMES, SEATS

if TYPE_CHECKING:
    from numpy import ndarray

VERBS = (PICKUP, PLACE, PUT, FILL, DELIVER, *STARTED_BY)
FACES = ("north", "south", "east", "west")
ROWS = 5
CELLS, LETTERS = 25, "XCS POBMIDG"
MAX_COUNTERS, COUNTER_LETTERS = 8, "CS"


@cache
def things() -> Mapping[str, int]:
    """Return the number of each thing of the kitchen."""
    return {thing: number for number, thing in enumerate(sorted(food_rules().things))}


@cache
def numbered_commands() -> Mapping[Command, int]:
    """Return the number of each command: `go_on`, `wait 1`, what the chef can do in some state, then what
    only the assistant can."""
    known = [macro for seat in SEATS for macro in known_macros(food_rules(), seat)]
    return {macro: number for number, macro in enumerate(dict.fromkeys((GO_ON, WAIT_ONE, *known)))}


class CollabEncoding(FlatEncoding):
    """Both rooms as one vector."""

    name: ClassVar[str] = "collab_overcooked.flat/1"

    def command_numbers(self, brief: Mapping[str, Json]) -> Mapping[Command, int]:
        """Number all commands of both cooks."""
        return numbered_commands()

    def commands(self, brief: Mapping[str, Json], possible: Sequence[Command]) -> Sequence[Command]:
        """Return the commands of both cooks."""
        return _command_list()

    def shape(self, brief: Mapping[str, Json]) -> tuple[int, ...]:
        """Return the length of the vector, as a tuple."""
        kinds = len(things())
        cook = ROWS + len(FACES) + kinds + 1 + len(VERBS) + 1
        return (
            2 * kinds + len(UTENSILS) + 3
            + CELLS * len(LETTERS)
            + 2 * cook
            + MAX_COUNTERS * (kinds + 1)
            + len(UTENSILS) * (2 * kinds + 2),
        )  # fmt: skip

    def encode(self, brief: Mapping[str, Json], observation: Mapping[str, Json], seat: int) -> ndarray:
        """Return the vector of this seat."""
        writer = VectorWriter(*self.shape(brief))
        _write_task(writer, brief, observation)
        for letter in "".join(brief["grid"]):
            writer.one_hot(LETTERS.index(letter), len(LETTERS))
        for player in (observation["players"][seat], observation["players"][1 - seat]):
            writer.one_hot(player["at"][1], ROWS)
            writer.one_hot(FACES.index(player["face"]), len(FACES))
            _write_thing(writer, player["holds"])
            _write_verb(writer, player["doing"])
        lying = {tuple(each["at"]): each["thing"] for each in observation["counters"]}
        rows = enumerate(brief["grid"])
        counters = [(x, y) for y, row in rows for x, letter in enumerate(row) if letter in COUNTER_LETTERS]
        for cell in counters:
            _write_thing(writer, lying.get(cell))
        writer.at += (MAX_COUNTERS - len(counters)) * (len(things()) + 1)
        for utensil in observation["utensils"]:
            inside = utensil["contents"]
            writer.counts({things()[thing]: inside.count(thing) for thing in {*inside}}, len(things()))
            writer.number((utensil["left"] or 0) / JOB_STEPS)
            writer.number(utensil["left"] is not None)
            writer.one_hot(things().get(utensil["ready"]), len(things()))
        return writer.array


@cache
def _command_list() -> tuple[Command, ...]:
    return tuple(numbered_commands())


def _write_task(writer: VectorWriter, brief: Mapping[str, Json], observation: Mapping[str, Json]) -> None:
    recipe = brief.get("recipe", {})
    writer.one_hot(things()[brief["order"]], len(things()))
    writer.number(brief["in_dish"])
    amounts = {things()[name]: _amount(amount) for name, amount in recipe.get("ingredients", ())}
    writer.counts(amounts, len(things()))
    used = {UTENSILS.index(step[0]): 1 for step in recipe.get("steps", ())}
    writer.counts(used, len(UTENSILS))
    writer.number(SEAT_NAMES.index(brief["seat"]))
    writer.number(observation["step"] / brief["limit"])


def _amount(text: Json) -> float:
    return float(text) if str(text).isdigit() else 1.0


def _write_thing(writer: VectorWriter, thing: str | None) -> None:
    writer.one_hot(None if thing is None else things()[base_food(thing)], len(things()))
    writer.number(thing is not None and thing.endswith(IN_DISH))


def _write_verb(writer: VectorWriter, doing: Sequence[str] | None) -> None:
    verb = doing[0] if doing else WAIT
    writer.one_hot(VERBS.index(verb) if verb in VERBS else None, len(VERBS))
    writer.number(doing is not None)


COLLAB_ENCODING = CollabEncoding()
