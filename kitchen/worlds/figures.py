"""Figures as others use them: of one episode in words, of several worlds side by side. Plain Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count

from kitchen.worlds.base import Figure, Json
from kitchen.worlds.registry import WORLDS, get_world


def figures_of(world: str) -> tuple[Figure, ...]:
    """What a world measures; nothing for one that this program does not have any more."""
    return get_world(world).figures if world in WORLDS else ()


def achieved(world: str, score: Mapping[str, Json]) -> tuple[tuple[str, str], ...]:
    """What was achieved in an episode, for who played it: (number, what it counts)."""
    values = ((figure, score.get(figure.name)) for figure in figures_of(world) if figure.words)
    return tuple(_in_words(figure, value) for figure, value in values if value is not None)


def _in_words(figure: Figure, value: Json) -> tuple[str, str]:
    assert figure.words  # noqa: S101 - asked for one that has words
    return figure.shown(value), figure.words[value != 1 or figure.kind == "share"]


@dataclass(frozen=True, slots=True)
class NamedFigure:
    """A figure among those of several worlds, under a name and a label that no other of them has."""

    name: str
    label: str
    figure: Figure
    worlds: tuple[str, ...]
    """Those that measure it."""

    def value(self, world: str, score: Mapping[str, Json]) -> Json:
        """What an episode in this world scored; None where the world does not measure it."""
        return score.get(self.figure.name) if world in self.worlds else None


def side_by_side(worlds: Iterable[str]) -> tuple[NamedFigure, ...]:
    """The figures of these worlds. What two of them declare alike is one figure; one that shares no more than
    the name or label of an earlier one is told apart by its world: adding a world renames nothing."""
    found: list[NamedFigure] = []
    for world in dict.fromkeys(worlds):
        for figure in figures_of(world):
            _add(found, figure, world)
    return tuple(found)


def _add(found: list[NamedFigure], figure: Figure, world: str) -> None:
    for place, one in enumerate(found):
        if one.figure == figure:
            found[place] = NamedFigure(one.name, one.label, figure, (*one.worlds, world))
            return
    names, labels = {one.name for one in found}, {one.label for one in found}
    name = next(name for name in _names(figure.name, world) if name not in names)
    label = next(label for label in _labels(figure.label, world) if label not in labels)
    found.append(NamedFigure(name, label, figure, (world,)))


def _names(name: str, world: str) -> Iterator[str]:
    yield from (name, f"{name}_{world}")
    yield from (f"{name}_{world}_{number}" for number in count(2))


def _labels(label: str, world: str) -> Iterator[str]:
    yield from (label, f"{label} ({world})")
    yield from (f"{label} ({world} {number})" for number in count(2))
