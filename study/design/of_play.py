"""What is measured of play beside the figures that worlds declare, in one table. Imports no models."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from kitchen.contract.world import WorldError
from kitchen.registry.names import UnknownNameError
from kitchen.registry.worlds import get_world
from study.design.measurable import Set
from study.design.plan import foretold, seats_of
from study.design.team import is_apart


@dataclass(frozen=True, slots=True)
class OfPlay:
    """One of them, for a participant in an episode."""

    key: str
    label: str
    kind: Literal["share", "seconds"]
    meaning: str
    """For the codebook, with when it is blank."""
    where: Callable[[Set], bool]
    """Whether it is measured in a condition."""
    places: str
    """Those conditions' episodes in words: `every episode`."""
    better: str = ""
    exploratory: bool = True
    """No test of it decides on anything, and none counts where p is corrected over measures."""

    @property
    def words(self) -> str:
        """As in `share of right predictions (higher is better)`."""
        label = f"{self.label[:1].lower()}{self.label[1:]}"
        return f"{label} ({self.better} is better)" if self.better else label


def has_seat(played: Set) -> bool:
    """Whether participants command a seat of the world themselves."""
    return not is_apart(played.organisation)


def shares_work(played: Set) -> bool:
    """Whether somebody works beside the participant, who works too."""
    return has_seat(played) and played.teammates > 0


def waits_for_people(played: Set) -> bool:
    """Whether participants have turns of their own: no clock takes the steps. Not where nothing is played."""
    if not has_seat(played):
        return False
    with suppress(WorldError, UnknownNameError), warnings.catch_warnings(action="ignore"):
        world = get_world(played.world).create(seats=seats_of(played), settings=played.settings)
        return world.tick_ms is None
    return False


FORESIGHT = OfPlay(
    "predictions_share",
    "Share of right predictions",
    "share",
    "What came true of what co-players foresaw of others; blank if none has turned out",
    foretold,
    "episodes beside a co-player that says what others will do",
    "higher",
    exploratory=False,
)
REFUSED = OfPlay(
    "refused_share",
    "Share of refused commands",
    "share",
    "Of the participant's commands, those that the game refused; blank if they gave none",
    has_seat,
    "every episode that participants play in a seat of their own",
    "lower",
)
IDLE = OfPlay(
    "idle_share",
    "Share of idle steps",
    "share",
    "Of the participant's steps, those in which they did nothing: they waited, were refused, or gave no "
    "command; not counted are steps in which there was nothing to choose, or that an outage of ours closed; "
    "blank if there is none",
    has_seat,
    REFUSED.places,
)
THINKING = OfPlay(
    "thinking_seconds",
    "Thinking time",
    "seconds",
    "Mean time from when a turn opened to the participant's command, of turns in which they were asked and "
    "gave one; blank if there is none, and under a clock",
    waits_for_people,
    "episodes that wait for people",
)
WORK = OfPlay(
    "work_share",
    "Share of work",
    "share",
    "Of all commands in the episode that were carried out and neither waited nor moved, the participant's; "
    "blank if there is none",
    shares_work,
    "episodes with teammates",
)
CONDUCT = (REFUSED, IDLE, THINKING, WORK)
"""What participants did, from the log (`kitchen.play.conduct`)."""
OF_PLAY: Mapping[str, OfPlay] = {one.key: one for one in (FORESIGHT, *CONDUCT)}
"""By key, in the order of all files."""
LABELS = frozenset(one.label for one in OF_PLAY.values())


def of_play_in(played: Set) -> list[OfPlay]:
    """Those that are measured in a condition."""
    return [one for one in OF_PLAY.values() if one.where(played)]


def conditions_of(played: Iterable[tuple[str, Set]], taken: Collection[str]) -> dict[str, frozenset[str]]:
    """The keys of the conditions in which each is measured, by its own key; `played` are conditions with
    their keys. None that has a key or label which something that is asked for has `taken`."""
    found: dict[str, set[str]] = {}
    for condition, plan in played:
        for one in of_play_in(plan):
            if not {one.key, one.label} & set(taken):
                found.setdefault(one.key, set()).add(condition)
    return {key: frozenset(found[key]) for key in OF_PLAY if key in found}
