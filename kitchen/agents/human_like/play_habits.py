"""Define how a person plays, as rates of useful commands, pauses and detours, and read and write such rates.

Each step of a person is of one kind. `useful`: the command that the world's adviser program recommends.
`pause`: a command that only waits, although another one was recommended. `other`: anything else, such as an
error or a plan of one's own. The kind of a step depends on the kind of the step before (a Markov chain), so
that pauses and detours last as long as those of people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from kitchen.contract.world_errors import SettingsError

USEFUL, PAUSE, OTHER = "useful", "pause", "other"
KINDS = (USEFUL, PAUSE, OTHER)
Changes = Counter[tuple[str, str]]
"""Number of steps by (kind of the step before, kind of the step)."""

POOLED_STEPS = 10
"""Weight of all people together in one person's rates, in steps. So rates of somebody with few steps stay
near those of the others."""
MAX_PEOPLE = 200
"""Maximum number of people in a text."""
NUMBERS_IN_LINE = len(KINDS) ** 2 + 1
TOLERANCE = 0.01
"""Allowed difference between the sum of three rates and 1, because rates are rounded in texts."""


@dataclass(frozen=True, slots=True)
class PlayHabits:
    """How one person plays."""

    name: str
    """A pseudonym without spaces, such as `p7`."""
    rates: Mapping[str, tuple[float, float, float]]
    """Probabilities of a useful step, a pause and an other step, by the kind of the step before. Each three
    sum to 1."""
    steps: int
    """Number of steps from which the rates were counted; 0 for rates that were made up."""

    def next_kind(self, before: str, chance: Random) -> str:
        """Return a random kind for the step after one of the kind `before`."""
        return chance.choices(KINDS, self.rates[before])[0]

    def shares(self) -> dict[str, float]:
        """Return the share of each kind of step in a long episode (the stationary distribution)."""
        held = dict.fromkeys(KINDS, 1 / len(KINDS))
        for _ in range(200):
            held = {
                kind: sum(held[before] * self.rates[before][place] for before in KINDS)
                for place, kind in enumerate(KINDS)
            }
        return held


def fitted_habits(counted: Sequence[Changes]) -> tuple[PlayHabits, ...]:
    """Return the habits of people, named `p1`, `p2` and so on, from the counts of each. People without a
    counted step are left out."""
    everybody: Changes = Counter()
    for one in counted:
        everybody.update(one)
    pooled = {before: _shares_after(before, everybody, {}) for before in KINDS}
    return tuple(
        PlayHabits(f"p{number}", {each: _shares_after(each, one, pooled) for each in KINDS}, one.total())
        for number, one in enumerate((one for one in counted if one.total()), 1)
    )


def _shares_after(
    before: str, counted: Changes, pooled: Mapping[str, tuple[float, float, float]]
) -> tuple[float, float, float]:
    """Return the share of each kind among the steps after a step of the kind `before`. `pooled` are shares of
    all people, which count as `POOLED_STEPS` steps. Without steps and shares, steps are useful."""
    weight = POOLED_STEPS if pooled else 0
    prior = pooled.get(before, (1.0, 0.0, 0.0))
    numbers = [counted[before, kind] + weight * prior[place] for place, kind in enumerate(KINDS)]
    useful, pause, other = (number / sum(numbers) for number in numbers) if sum(numbers) else prior
    return useful, pause, other


def made_up_habits(number: int = 12, seed: int = 0) -> tuple[PlayHabits, ...]:
    """Return habits of people who do not exist, for studies without data of people. Nobody measured them."""
    chance = Random(seed)  # noqa: S311
    return tuple(_made_up(f"m{each}", chance) for each in range(1, number + 1))


def _made_up(name: str, chance: Random) -> PlayHabits:
    skill, share, lasts = chance.betavariate(9, 2), chance.uniform(0.3, 0.7), chance.uniform(0.3, 0.7)
    pause, other = (1 - skill) * share, (1 - skill) * (1 - share)
    ends = (1 - lasts) / (skill + other), (1 - lasts) / (skill + pause)
    rates = {
        USEFUL: (skill, pause, other),
        PAUSE: (ends[0] * skill, lasts, ends[0] * other),
        OTHER: (ends[1] * skill, ends[1] * pause, lasts),
    }
    return PlayHabits(name, rates, 0)


def habits_text(people: Iterable[PlayHabits]) -> str:
    """Return habits as text: one line for each person. It has the name, the nine rates in percent in the
    order of `KINDS`, and the number of steps."""
    lines = []
    for each in people:
        rates = " ".join(f"{100 * rate:.1f}" for before in KINDS for rate in each.rates[before])
        lines.append(f"{each.name} {rates} {each.steps}")
    return "\n".join(lines)


def read_habits(text: str) -> tuple[PlayHabits, ...]:
    """Return the people in a text of `habits_text`. Empty lines, and lines that begin with `#`, are ignored.

    Raises SettingsError, which names the line, for a wrong number of values, a value that is no percentage,
    or rates that do not sum to 100.
    """
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                found.append(_read_line(line))
            except ValueError as error:
                raise SettingsError(f"people: line {number}: {error}") from error
    if len(found) > MAX_PEOPLE:
        raise SettingsError(f"people: {len(found)} are more than {MAX_PEOPLE}")
    return tuple(found)


def _read_line(line: str) -> PlayHabits:
    name, *numbers = line.split()
    if len(numbers) != NUMBERS_IN_LINE:
        raise ValueError(f"{name!r} has {len(numbers)} numbers, and needs {NUMBERS_IN_LINE}")
    percent = [_percentage(each) for each in numbers[:-1]]
    if not numbers[-1].isdecimal() or len(numbers[-1]) > 9:
        raise ValueError(f"{numbers[-1]!r} is no number of steps")
    rates: dict[str, tuple[float, float, float]] = {}
    for place, before in enumerate(KINDS):
        three = percent[3 * place : 3 * place + 3]
        total = sum(three)
        if abs(total - 100) > 100 * TOLERANCE:
            raise ValueError(f"the rates after a step of the kind {before} sum to {total:g}, not to 100")
        useful, pause, other = (rate / total for rate in three)
        rates[before] = useful, pause, other
    return PlayHabits(name, rates, int(numbers[-1]))


def _percentage(word: str) -> float:
    try:
        number = float(word)
    except ValueError:
        raise ValueError(f"{word!r} is no percentage") from None
    if not 0 <= number <= 100:
        raise ValueError(f"{word!r} is no percentage")
    return number
