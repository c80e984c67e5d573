"""Define the star targets of a round: the results at which a team earns one, two and three stars.

They are stored as a mapping of one metric to three values: `{"completed": [3, 5, 7]}`. A metric that is
better when lower, such as the steps used, has descending values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from kitchen.contract.canonical_json import Json
from kitchen.contract.metric_definitions import Metric
from kitchen.contract.world_errors import SettingsError

STARS = 3


class StarTargets(NamedTuple):
    """The values of one metric at which a team earns its stars."""

    metric: Metric
    targets: tuple[float, ...]
    """The values for one, two and three stars."""

    def earned(self, value: float | None) -> int:
        """Return the number of stars for a value of the metric, from 0 to 3. 0 if it is undefined."""
        if value is None:
            return 0
        if self.metric.better == "lower":
            return sum(value <= target for target in self.targets)
        return sum(value >= target for target in self.targets)

    def next_target(self, value: float | None) -> float | None:
        """Return the value for the next star. None if all are earned."""
        earned = self.earned(value)
        return self.targets[earned] if earned < STARS else None


def star_metrics(figures: Iterable[Metric]) -> tuple[Metric, ...]:
    """Return the metrics of a world that can earn stars: participants see them, and one direction is
    better."""
    return tuple(figure for figure in figures if figure.words and figure.better != "neither")


def read_star_targets(given: Mapping[str, Json], figures: Iterable[Metric]) -> StarTargets | None:
    """Return the star targets of a condition or an episode. `figures` are the metrics of its world. None if
    it has none.

    Raises SettingsError if there are several metrics, if participants do not see the metric, or if its values
    are not three numbers above 0, each better than the one before.
    """
    if not given:
        return None
    shown = {figure.name: figure for figure in star_metrics(figures)}
    if not shown:
        raise SettingsError("star_targets: participants see no metric of this world that could earn stars")
    if len(given) != 1 or not given.keys() <= shown.keys():
        raise SettingsError(f"star_targets: name one of {', '.join(sorted(shown))}")
    ((name, values),) = given.items()
    targets = _numbers(values)
    ascending = list(targets) if shown[name].better == "higher" else list(reversed(targets))
    if len(targets) != STARS or any(a >= b for a, b in pairwise(ascending)):
        order = "ascending" if shown[name].better == "higher" else "descending"
        raise SettingsError(f"star_targets: {name} needs three different numbers above 0, {order}")
    return StarTargets(shown[name], targets)


def known_star_targets(given: Mapping[str, Json], figures: Iterable[Metric]) -> StarTargets | None:
    """Return the star targets that an episode has stored. None if it has none, or if they fit no metric of
    its world, as in an episode of a version with other metrics."""
    try:
        return read_star_targets(given, figures)
    except SettingsError:
        return None


def _numbers(values: Json) -> tuple[float, ...]:
    if not isinstance(values, Sequence) or isinstance(values, str):
        return ()
    numbers = [
        one for one in values if isinstance(one, int | float) and not isinstance(one, bool) and one > 0
    ]
    return tuple(numbers) if len(numbers) == len(values) else ()
