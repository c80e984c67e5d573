"""Create the panel with the stars that a team has earned so far, and the result for the next one."""

from __future__ import annotations

import json
from typing import NamedTuple

from kitchen.contract.page import Panel
from kitchen.contract.page_view import SeatView
from kitchen.contract.star_targets import STARS, StarTargets
from kitchen.registry.world_metrics import achievements
from kitchen.words.gettext_without_django import gettext


class Star(NamedTuple):
    """One star on the page."""

    number: str
    """The result at which it is earned, as text."""
    is_earned: bool


class ClockedStars(NamedTuple):
    """The data with which a page under a clock lights the stars itself. It gets the score with each tick."""

    metric: str
    better: str
    targets: str
    """The values for one, two and three stars, as a JSON list."""
    sentences: str
    """The sentences for 0, 1, 2 and 3 stars, as a JSON list."""


class Stars(NamedTuple):
    """The stars of a round, as the page shows them."""

    stars: tuple[Star, ...] = ()
    earned: int = 0
    sentence: str = ""
    """The stars in words, for screen readers and the end of the game."""
    clocked: ClockedStars | None = None
    """The data for a page under a clock. None if each step brings the panel."""


def stars_of_view(view: SeatView) -> Stars:
    """Return the stars that this person's page shows. Empty without targets. No star is earned while the
    metric is unknown to the reader, or undefined.

    Of a metric that is better when lower, the stars that are still possible count as earned.
    """
    targets, result = view.result.star_targets, view.result
    if targets is None:
        return Stars()
    value = result.score.get(targets.metric.name)
    earned = targets.earned(value)
    words = [targets.metric.shown(target) for target in targets.targets]
    stars = tuple(Star(number, place < earned) for place, number in enumerate(words))
    return Stars(stars, earned, _sentence(targets, result.world, value, over=view.phase == "over"))


def star_panel(view: SeatView) -> Panel:
    """Return the panel of the stars."""
    stars, targets = stars_of_view(view), view.result.star_targets
    if targets and view.timing.tick_ms:
        stars = stars._replace(clocked=_clocked(targets, view.result.world))
    return Panel("stars", "kitchen/play/stars.jinja", stars)


def _clocked(targets: StarTargets, world: str) -> ClockedStars:
    """Return the data for a page under a clock. The sentence for each number of stars comes from one value
    that earns it."""
    fewer = 1 if targets.metric.better == "lower" else -1
    values = [targets.targets[0] + fewer / 2, *targets.targets]
    sentences = [_sentence(targets, world, value, over=False) for value in values]
    metric, numbers = targets.metric, json.dumps(targets.targets)
    return ClockedStars(metric.name, metric.better, numbers, json.dumps(sentences))


def target_sentence(targets: StarTargets, world: str) -> str:
    """Return the three targets as a sentence, before the game."""
    one, two, _ = (targets.metric.shown(target) for target in targets.targets)
    words = {"one": one, "two": two, "three": _with_noun(targets, world, targets.targets[-1])}
    if targets.metric.better == "lower":
        return gettext("Three stars for at most {three}, two for {two}, one for {one}.").format(**words)
    return gettext("One star for {one}, two for {two}, three for {three}.").format(**words)


def _sentence(targets: StarTargets, world: str, value: float | None, *, over: bool) -> str:
    if value is None:
        return "" if over else target_sentence(targets, world)
    earned, after = targets.earned(value), targets.next_target(value)
    is_lower = targets.metric.better == "lower"
    if is_lower and not over:
        return _possible_sentence(targets, world, earned)
    if after is None:
        return gettext("All three stars!")
    if is_lower:
        return gettext("{earned} of 3 stars.").format(earned=earned)
    words = {"earned": earned, "result": _with_noun(targets, world, after)}
    if earned == STARS - 1:
        return gettext("2 of 3 stars. The third needs {result}.").format(**words)
    return gettext("{earned} of 3 stars. The next needs {result}.").format(**words)


def _possible_sentence(targets: StarTargets, world: str, possible: int) -> str:
    """Return the sentence on a metric that is better when lower, during the game."""
    if not possible:
        return gettext("No star is possible any more.")
    words = {"earned": possible, "result": _with_noun(targets, world, targets.targets[possible - 1])}
    return gettext("{earned} of 3 stars are possible, with at most {result}.").format(**words)


def _with_noun(targets: StarTargets, world: str, value: float) -> str:
    ((number, noun),) = achievements(world, {targets.metric.name: value})
    return f"{number} {noun}"
