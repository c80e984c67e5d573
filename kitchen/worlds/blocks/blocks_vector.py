"""Encode the observations of the worlds of blocks with a goal as one vector (not those of the kitchen).

V is the number of words for items, blocks and animals (`known_names`, sorted). A distance d is written as
(d + 64) / 128, an amount a as a / 64. The vector has these numbers:

- The share of the steps that is over, and the cell of the seat (x, y, z, as distances from 0).
- The amounts that the seat carries (V), that the goal asks for (V), and that are in the chest (V).
- The verb in progress (one-hot), and whether the seat is busy.
- For each word, the first station or thing of this kind in the observation: 1, its distance in x and in z,
  its amount (4 V).
- The other seats, up to 4, in order: 1, distance in x and in z.
- Construction only: the level in work, and the blocks left in up to 16 levels. Then up to 64 differences
  from the blueprint: 1, x and z (as distances from 0), the block that is wanted and the one that is there
  (number of the word / V).

The list of commands has each verb with each word that it can have, and `place` with each block of the
blueprint in each of its cells. Amounts are the smallest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, ClassVar

from kitchen.contract.flat_encoding import FlatEncoding, VectorWriter
from kitchen.contract.world import Command, Json
from kitchen.worlds.blocks.item_words import known_names

if TYPE_CHECKING:
    from numpy import ndarray

AMOUNT_VERBS = ("collect", "craft", "smelt", "discard", "put", "take")
PLAIN_VERBS = ("goto", "attack")
VERBS = (*PLAIN_VERBS, *AMOUNT_VERBS, "goto_seat", "give", "build", "place", "stay", "go_on")
OTHERS, LEVELS, DIFFERENCES = 4, 16, 64
FULL, FAR = 64, 64


@cache
def words() -> Mapping[str, int]:
    """Return the number of each word."""
    return {word: number for number, word in enumerate(sorted(known_names()))}


@lru_cache(maxsize=32)
def _commands(size: tuple[int, ...], blocks: tuple[str, ...]) -> Mapping[Command, int]:
    listed: list[Command] = [("go_on",), ("stay", "1")]
    listed += [(verb, word) for verb in PLAIN_VERBS for word in words()]
    listed += [(verb, word, "1") for verb in AMOUNT_VERBS for word in words()]
    for seat in map(str, range(OTHERS + 1)):
        listed += [("goto_seat", seat), *(("give", seat, word, "1") for word in words())]
    if size:
        listed += [("build", str(level)) for level in range(size[1])]
        cells = [
            (str(x), str(y), str(z)) for y in range(size[1]) for z in range(size[2]) for x in range(size[0])
        ]
        listed += [("place", block, *cell) for block in blocks for cell in cells]
    return {command: number for number, command in enumerate(listed)}


def _blocks(brief: Mapping[str, Json]) -> tuple[str, ...]:
    return tuple(sorted(set(brief.get("blueprint", {}).get("legend", {}).values())))


def _size(brief: Mapping[str, Json]) -> tuple[int, ...]:
    """Return the size of the blueprint in x, y and z; empty without one."""
    levels = brief.get("blueprint", {}).get("levels")
    return (len(levels[0][0]), len(levels), len(levels[0])) if levels else ()


@lru_cache(maxsize=32)
def _listed(size: tuple[int, ...], blocks: tuple[str, ...]) -> Sequence[Command]:
    return tuple(_commands(size, blocks))


def _near(distance: float) -> float:
    return min(max((distance + FAR) / (2 * FAR), 0), 1)


class BlocksEncoding(FlatEncoding):
    """What a seat carries, must reach and sees near it, as one vector."""

    name: ClassVar[str] = "blocks.flat/1"

    def command_numbers(self, brief: Mapping[str, Json]) -> Mapping[Command, int]:
        """Number every command that a seat can have in an episode with this brief."""
        return _commands(_size(brief), _blocks(brief))

    def commands(self, brief: Mapping[str, Json], possible: Sequence[Command]) -> Sequence[Command]:
        """Return every command that a seat can have in an episode with this brief."""
        return _listed(_size(brief), _blocks(brief))

    def shape(self, brief: Mapping[str, Json]) -> tuple[int, ...]:
        """Return the length of the vector, as a tuple."""
        building = 1 + LEVELS + 5 * DIFFERENCES
        return (4 + 3 * len(words()) + len(VERBS) + 1 + 4 * len(words()) + 3 * OTHERS + building,)

    def encode(self, brief: Mapping[str, Json], observation: Mapping[str, Json], seat: int) -> ndarray:
        """Return the vector of this seat."""
        writer = VectorWriter(*self.shape(brief))
        writer.number(observation["step"] / (brief["limit"] or 1))
        here = observation["at"]
        for value in here:
            writer.number(_near(value))
        for amounts in (observation["inventory"], goal_amounts(brief), observation.get("chest", {})):
            writer.counts(_by_number(amounts), len(words()))
        doing = observation["doing"]
        writer.one_hot(VERBS.index(doing[0]) if doing and doing[0] in VERBS else None, len(VERBS))
        writer.number(doing is not None)
        _write_things(writer, observation, here)
        others = [each["at"] for each in observation["seats"] if each["seat"] != seat][:OTHERS]
        for at in others:
            _write_place(writer, at, here)
        writer.at += 3 * (OTHERS - len(others))
        _write_building(writer, observation)
        return writer.array


def _by_number(amounts: Mapping[str, float]) -> dict[int, float]:
    known = words()
    return {known[word]: amount / FULL for word, amount in amounts.items() if word in known}


def goal_amounts(brief: Mapping[str, Json]) -> dict[str, float]:
    """Return how much of each item the goal of this brief asks for."""
    if "blueprint" in brief:
        legend, found = brief["blueprint"]["legend"], dict[str, float]()
        text = "".join(row for level in brief["blueprint"]["levels"] for row in level)
        for letter, block in legend.items():
            found[block] = found.get(block, 0) + text.count(letter)
        return found
    if "item" in brief:
        return {brief["item"]: brief["amount"]}
    return {**dict.fromkeys(brief.get("targets", ()), 1), **brief.get("target", {})}


def _write_things(writer: VectorWriter, observation: Mapping[str, Json], here: Sequence[int]) -> None:
    known, found = words(), dict[int, float]()
    for thing in (*observation["stations"], *observation["near"]):
        number = known.get(thing["kind"])
        if number is not None and 4 * number not in found:
            x, _, z = thing["at"]
            numbers = (1, _near(x - here[0]), _near(z - here[2]), thing.get("count", 1) / FULL)
            found |= {4 * number + place: value for place, value in enumerate(numbers)}
    writer.counts(found, 4 * len(known))


def _write_place(writer: VectorWriter, at: Sequence[int], here: Sequence[int]) -> None:
    for value in (1, _near(at[0] - here[0]), _near(at[2] - here[2])):
        writer.number(value)


def _write_building(writer: VectorWriter, observation: Mapping[str, Json]) -> None:
    level = observation.get("level")
    writer.number(level / LEVELS if level is not None else 0)
    left = observation.get("left_by_level", ())[:LEVELS]
    writer.counts({number: amount / FULL for number, amount in enumerate(left)}, LEVELS)
    known = words()
    for x, z, wanted, there in observation.get("differences", ())[:DIFFERENCES]:
        for value in (
            1,
            _near(x),
            _near(z),
            known.get(wanted, 0) / len(known),
            known.get(there, 0) / len(known),
        ):
            writer.number(value)


BLOCKS_ENCODING = BlocksEncoding()
