"""What agents foresaw of other seats, and whether it came true, as the notes of their decisions tell.

An agent that foresees writes into its note (`Decision.note`) under FORESEEN what it foresees in this step,
and under JUDGED what of earlier steps has turned out right or wrong. Plain Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Self

from kitchen.contract.world import Json

FORESEEN, JUDGED = "foreseen", "judged"

Said = tuple[str, ...]
"""What somebody is to do, in the codes of the world."""


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What the agent in seat `by` foresaw in a step (from 1) that seat `of` would do next."""

    by: int
    of: int
    step: int
    said: Said
    done: Said = ()
    """What that seat did finish next; nothing where it finished nothing any more."""
    done_in: int | None = None
    """The step in which it did."""
    right: bool | None = None
    """Whether that is what was foreseen; None where it has not turned out."""

    @classmethod
    def read(cls, stored: Mapping[str, Json]) -> Self:
        """As `to_json` wrote it."""
        return cls(**{**stored, "said": tuple(stored["said"]), "done": tuple(stored["done"])})

    def to_json(self) -> dict[str, Json]:
        """For a note or a memory."""
        return {
            "by": self.by,
            "of": self.of,
            "step": self.step,
            "said": list(self.said),
            "done": list(self.done),
            "done_in": self.done_in,
            "right": self.right,
        }

    def judged(self, done: Said, step: int, *, right: bool) -> Self:
        """The same, and what became of it."""
        return replace(self, done=done, done_in=step, right=right)


def foreseen_in(notes: Iterable[Json]) -> list[Foreseen]:
    """All that these notes of one mind tell, in the order of steps, each once."""
    found: dict[tuple[int, int, int], Foreseen] = {}
    for note in notes:
        if isinstance(note, dict):
            told = [*note.get(FORESEEN, ()), *note.get(JUDGED, ())]
            found |= {(one.step, one.by, one.of): one for one in map(Foreseen.read, told)}
    return [found[key] for key in sorted(found)]


@dataclass(frozen=True, slots=True)
class Foresight:
    """How many came true of those that turned out."""

    right: int = 0
    judged: int = 0

    @classmethod
    def of(cls, foreseen: Iterable[Foreseen]) -> Self:
        """Of many."""
        judged = [one.right for one in foreseen if one.right is not None]
        return cls(sum(judged), len(judged))

    @property
    def share(self) -> float | None:
        """From 0 to 1; None where nothing has turned out."""
        return self.right / self.judged if self.judged else None
