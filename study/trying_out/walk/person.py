"""Who a synthetic participant is: a temper that follows from seed and number, and answers to Likert items.

Plain Python. Everything by chance is drawn from a generator named by seed, number and what is drawn, so that
the same question at the same place gets the same answer, however often it is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random


@dataclass(frozen=True, slots=True)
class Temper:
    """`skill`: share of steps in which the sensible thing is done; `leniency`: added to every rating, and
    `spread`: standard deviation of a rating, both in parts of a scale; `pace`: thinking time, 1 is usual."""

    skill: float
    leniency: float
    spread: float
    pace: float


@dataclass(frozen=True, slots=True)
class Experience:
    """What somebody went through in one episode. All but `teammates` are from 0 to 1."""

    teammates: int = 0
    success: float | None = None
    """How well it went; None where that cannot be said."""
    output: float = 0.0
    """What came out, of the most that anybody could expect."""
    figure: str = field(default="", compare=False)
    """The first that its world compares episodes by and that can be said, in words, for who sent it."""
    expected: float = 0.0
    """Share of the teammates' steps in which they did what a sensible one would do; 0 without teammates."""

    @property
    def company(self) -> float:
        """How much of a team it was: 0 alone, 1 with three or more."""
        return min(self.teammates, 3) / 3

    @property
    def help(self) -> float:
        """How much the others did for the result; 0 alone."""
        return (self.success or 0.0) * self.expected if self.teammates else 0.0


WEIGHTS: dict[str, Mapping[str, float]] = {
    "assisting": {"base": 0.1, "help": 0.8, "company": 0.1},
    "dependability": {"base": 0.1, "company": 0.3, "help": 0.4},
    "enjoyment": {"base": 0.25, "success": 0.4, "company": 0.15},
    "fun": {"base": 0.1, "help": 0.4, "company": 0.3},
    "predictability": {"base": 0.1, "expected": 0.8},
    "productivity": {"output": 0.6, "success": 0.35},
    "trust": {"base": 0.15, "help": 0.5, "expected": 0.25},
}
"""What the known items are about: parts of a scale for each feature of the experience."""
GENERAL: Mapping[str, float] = {"base": 0.2, "success": 0.5, "help": 0.2}
"""What every other item is taken to be about: general satisfaction."""


class Person:
    """One synthetic participant: who they are is settled by `seed` and `number`."""

    def __init__(self, seed: int, number: int) -> None:
        self.seed = seed
        self.number = number
        self.temper = temper_of(self.chance("temper"))

    def chance(self, *what: object) -> Random:
        """A generator of this person's for this purpose: the same one whenever it is asked for."""
        return Random(":".join(str(part) for part in (self.seed, self.number, *what)))  # noqa: S311

    def answer(
        self,
        item: str,
        points: Sequence[int],
        experience: Experience,
        *,
        episode: int,
        known: float | None = None,
    ) -> int:
        """One of the points (in rising order) of a Likert scale; `known` is what is to be thought of the item
        whatever the experience was, as a part of its scale."""
        rng = self.chance("answer", episode, item)
        level = opinion(item, experience) if known is None else known
        level += self.temper.leniency + rng.gauss(0, self.temper.spread)
        return points[round(min(max(level, 0.0), 1.0) * (len(points) - 1))]


def temper_of(rng: Random) -> Temper:
    """A temper drawn from what people are like: most play well, few rate at the ends, some are slow."""
    return Temper(
        skill=rng.betavariate(9, 2),
        leniency=rng.gauss(0, 0.08),
        spread=rng.uniform(0.05, 0.18),
        pace=rng.lognormvariate(0, 0.4),
    )


def opinion(item: str, experience: Experience) -> float:
    """What the experience says about an item, as a part of its scale; may lie a little outside of 0 to 1."""
    features = {
        "base": 1.0,
        "success": experience.success or 0.0,
        "output": experience.output,
        "expected": experience.expected,
        "company": experience.company,
        "help": experience.help,
    }
    return sum(weight * features[name] for name, weight in WEIGHTS.get(item, GENERAL).items())
