"""Compute a participant's own result of a round: the own share, what went well, the best result, the stars.

The own share is the share of all actions of the team. Waiting is no action. Results are compared by the first
metric that the world shows to players, and only between rounds with the same world, settings and team size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import Count

from kitchen.contract.page import Page
from kitchen.contract.star_targets import STARS, known_star_targets
from kitchen.play.models import Episode, SeatCommand
from kitchen.play.turn.state_store import event_from_json
from kitchen.registry.world_metrics import achievements, metrics_of_world
from kitchen.registry.world_registry import get_page, get_world
from study.participants.models import Round


class OwnShare(NamedTuple):
    """A participant's actions in an episode, and those of the whole team."""

    own: int
    team: int

    @property
    def percent(self) -> int:
        """Return the share in percent, rounded."""
        return round(100 * self.own / self.team)


class BestResult(NamedTuple):
    """The best result so far, as text: a number, and what it counts."""

    number: str
    what: str
    is_this: bool
    """True if it is the result of the round that has just ended."""


class StarTotal(NamedTuple):
    """The stars of all games so far that had star targets."""

    games: tuple[int, ...]
    """The stars of each game, in the order in which they were played."""
    is_last: bool
    """True if no game follows."""

    @property
    def earned(self) -> int:
        """Return the number of all stars that were earned."""
        return sum(self.games)

    @property
    def possible(self) -> int:
        """Return the number of stars that could have been earned."""
        return STARS * len(self.games)

    @property
    def medal(self) -> str:
        """Return `gold`, `silver` or `bronze` by the share of the stars, after the last game; else empty."""
        share = self.earned / self.possible
        return next((name for name, least in MEDALS if self.is_last and share >= least), "")

    @property
    def pictures(self) -> tuple[str, ...]:
        """Return the stars of each game as characters."""
        return tuple("★" * stars + "☆" * (STARS - stars) for stars in self.games)


MEDALS = (("gold", 5 / 6), ("silver", 2 / 3), ("bronze", 1 / 2))
"""Medals for the stars of all games, with the least share of the stars that each needs."""


def star_total(rounds: Sequence[Round], current: Round) -> StarTotal | None:
    """Return the stars of the rounds up to `current`. None without stars, and for a single game with others
    to come: its stars are shown already. `rounds` have their episodes."""
    played = [one.episode for one in rounds if one.episode and one.position <= current.position]
    targets = [known_star_targets(one.star_targets, metrics_of_world(one.world)) for one in played]
    games = tuple(
        target.earned(one.score.get(target.metric.name))
        for one, target in zip(played, targets, strict=True)
        if target
    )
    is_last = all(one.position <= current.position for one in rounds)
    return StarTotal(games, is_last) if len(games) > 1 else None


def own_share(episode: Episode, seat: int) -> OwnShare | None:
    """Return the share of the participant in this seat. None if the participant did nothing, which would only
    be a reproach, or plays alone or without a seat of the world."""
    if not episode.seats.filter(number=seat, acts=True).exists() or episode.seats.count() < 2:
        return None
    acted = SeatCommand.objects.filter(episode=episode, step__lte=episode.step)
    world, counts = get_world(episode.world), Counter[int]()
    for number, command, times in acted.order_by().values_list("seat", "command").annotate(Count("pk")):
        counts[number] += 0 if world.is_wait(tuple(command)) else times
    return OwnShare(counts[seat], sum(counts.values())) if counts[seat] else None


def highlights(episode: Episode) -> tuple[str, ...]:
    """Return sentences about what went well in an episode that is over, in the reader's language, from its
    log. They are the same for the whole team. Empty if its world has none."""
    page, kind = get_page(episode.world), get_world(episode.world)
    if type(page).highlights is Page.highlights or kind.version != episode.world_version:
        return ()
    world = kind.create(seats=episode.seats.filter(acts=True).count(), settings=episode.settings)
    world.reset(episode.seed)
    rows = episode.steps.order_by("number").values_list("events", flat=True)
    steps = (tuple(map(event_from_json, events)) for events in rows)
    return page.highlights(world.brief(0), world.public_state(), steps)


def best_result(rounds: Sequence[Round], current: Round) -> BestResult | None:
    """Return the best result of the rounds up to `current` with the same world, settings and number of
    seats, by the world's first metric with words for players. None if there is none, or if nothing can be
    compared yet. `rounds` have their episodes."""
    assert current.episode  # noqa: S101 - asked after an episode
    world = current.episode.world
    figure = next((one for one in metrics_of_world(world) if one.words and one.better != "neither"), None)
    same = (world, current.episode.settings, current.condition.teammates)
    scores = [
        one.episode.score
        for one in rounds
        if one.episode and one.position <= current.position
        if (one.episode.world, one.episode.settings, one.condition.teammates) == same
    ]
    values = [score[figure.name] for score in scores if figure and score.get(figure.name) is not None]
    if figure is None or len(values) < 2:
        return None
    best = max(values) if figure.better == "higher" else min(values)
    if figure.better == "higher" and best <= 0:  # nothing was reached yet: no praise
        return None
    ((number, what),) = achievements(world, {figure.name: best})
    return BestResult(number, what, current.episode.score.get(figure.name) == best)
