"""Define the play metrics that every world (game) has, and report which of them a condition cannot measure.

The module does not import Django models.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Literal, Protocol

from kitchen.contract.metric_definitions import MetricLimits
from kitchen.contract.organisation import Organisation
from kitchen.contract.world import Json, Metric, World
from kitchen.contract.world_errors import SettingsError, WorldError
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import get_world
from kitchen.words.english_text import counted_noun
from study.design.condition_seats import PlayedCondition, has_foresight, planned_organisation, seats_of
from study.design.team_organisation import is_apart

POINTS = 5
"""The difference between two conditions that a study should be able to detect, in percentage points."""
Z = 1.959964
"""The two-sided 95 % quantile of the normal distribution."""


class PlayedSettings(PlayedCondition, Protocol):
    """The fields of a condition that determine what is played and by whom.

    `Condition` (a database row) and `ConditionPlan` have these fields.
    """

    world: str
    settings: Mapping[str, Json]


def measurement_warnings(played: PlayedSettings, people: int | None = None) -> tuple[str, ...]:
    """Return whole sentences about what episodes of this condition cannot measure.

    `people` is the number of planned participants, or None if it is unknown. The result is empty if there
    is nothing to report. The result is also empty if the condition cannot be played; `condition_check`
    reports that.
    """
    with suppress(WorldError, UnknownNameError), warnings.catch_warnings(action="ignore"):
        world = get_world(played.world).create(seats=seats_of(played), settings=played.settings)
        return tuple(_world_warnings(world, people))
    return ()


def _world_warnings(world: World, people: int | None) -> Iterator[str]:
    chances = world.chances()
    for figure in world.figures:
        if figure.measured and figure.name in chances:
            yield from _metric_warnings(figure, chances[figure.name], people)


def _metric_warnings(figure: Metric, chances: MetricLimits, people: int | None) -> Iterator[str]:
    if not chances.missable:
        yield (f"{chances.because}: nobody can miss any of them, so “{figure.label}” is always blank or 1.")
    elif people and chance_points(people * chances.most) > POINTS:
        yield _too_few(figure, chances, people)


def _too_few(figure: Metric, chances: MetricLimits, people: int) -> str:
    number = people * chances.most
    return (
        f"An episode has at most {chances.most} {chances.things}; the "
        f"{counted_noun(people, 'participant')} planned have {number}. If each is a matter of chance, "
        f"“{figure.label}” differs by up to {ceil(chance_points(number))} points between two equal "
        f"conditions (95 %). To show a difference of {POINTS} points, you need about "
        f"{people_for(chances.most)} participants or longer episodes."
    )


def chance_points(number: int) -> float:
    """Return how far two shares can differ by chance alone, in percentage points. Each share is computed from
    `number` events, such as orders.

    Chance differences are smaller than this in 95 of 100 studies. Each event is assumed to happen with
    probability 0.5, where chance matters most.
    """
    return 100 * Z * sqrt(2 * 0.25 / number)


def people_for(things: int) -> int:
    """Return how many participants are needed so that two shares differ by chance by at most `POINTS`
    percentage points. `things` is the number of events, such as orders, for each participant."""
    return ceil(0.5 * (100 * Z / POINTS) ** 2 / things)


@dataclass(frozen=True, slots=True)
class PlayMetric:
    """One metric of play, measured for one participant in one episode."""

    key: str
    label: str
    kind: Literal["share", "count", "number"]
    """A share from 0 to 1, a whole number from 0, or another number from 0 up."""
    meaning: str
    """The explanation for the codebook. It includes when the metric is blank."""
    where: Callable[[PlayedSettings], bool]
    """Returns whether a condition measures the metric."""
    places: str
    """A text that names the episodes in which the metric is measured, such as `every episode`."""
    better: Literal["", "higher", "lower"] = ""
    exploratory: bool = True
    """True if the metric is exploratory.

    No decision depends on its tests, and p-value corrections over measures skip it.
    """
    unit: str = ""

    @property
    def figure(self) -> Metric:
        """Return the metric as a `Metric`, the class with which worlds define their metrics. It is needed for
        texts about means."""
        kind: Literal["share", "number"] = "share" if self.kind == "share" else "number"
        return Metric(self.key, kind, self.label, unit=self.unit)

    @property
    def words(self) -> str:
        """Return the label within a sentence, such as `share of right predictions (higher is better)`."""
        label = f"{self.label[:1].lower()}{self.label[1:]}"
        return f"{label} ({self.better} is better)" if self.better else label


def has_seat(played: PlayedSettings) -> bool:
    """Return whether the participant has a seat in the world. Return False for a participant who only leads
    the others."""
    return not is_apart(played.organisation)


def shares_work(played: PlayedSettings) -> bool:
    """Return whether the participant has a seat and at least one teammate."""
    return has_seat(played) and played.teammates > 0


def waits_for_people(played: PlayedSettings) -> bool:
    """Return whether the participant has a seat, and the world waits for commands. Return False if the
    world runs on a clock, or if the condition cannot be played."""
    return has_seat(played) and has_clock(played) is False


def has_clock(played: PlayedSettings) -> bool | None:
    """Return whether the world runs on a clock. None if the condition cannot be played."""
    with suppress(WorldError, UnknownNameError), warnings.catch_warnings(action="ignore"):
        world = get_world(played.world).create(seats=seats_of(played), settings=played.settings)
        return world.tick_ms is not None
    return None


FORESIGHT = PlayMetric(
    "predictions_share",
    "Share of right predictions",
    "share",
    "What came true of what co-players foresaw of others; blank if none has turned out",
    has_foresight,
    "episodes beside a co-player that says what others will do",
    "higher",
    exploratory=False,
)
REFUSED = PlayMetric(
    "refused_share",
    "Share of refused commands",
    "share",
    "Of the participant's commands, those that the game refused; blank if they gave none",
    has_seat,
    "every episode that participants play in a seat of their own",
    "lower",
)
IDLE = PlayMetric(
    "idle_share",
    "Share of idle steps",
    "share",
    "Of the participant's steps, those in which they did nothing: they waited, were refused, or gave no "
    "command; not counted are steps in which there was nothing to choose, or that an outage of ours closed; "
    "blank if there is none",
    has_seat,
    REFUSED.places,
)
THINKING = PlayMetric(
    "thinking_seconds",
    "Thinking time",
    "number",
    "Mean time from when a turn opened to the participant's command, of turns in which they were asked and "
    "gave one; blank if there is none, and under a clock",
    waits_for_people,
    "episodes that wait for people",
    unit="s",
)
WORK = PlayMetric(
    "work_share",
    "Share of work",
    "share",
    "Of all commands in the episode that were carried out and neither waited nor moved, the participant's; "
    "blank if there is none",
    shares_work,
    "episodes with teammates",
)
CONDUCT_METRICS = (REFUSED, IDLE, THINKING, WORK)
"""Metrics of what participants did, computed from the log (`kitchen.play.episode.log_metrics`)."""


def team_in(played: PlayedSettings) -> Organisation | None:
    """Return the organisation of a condition with several members. Return None if it has no organisation,
    has a single member, or cannot be played."""
    with suppress(SettingsError, UnknownNameError):
        organisation = planned_organisation(played)
        return organisation if organisation and len(organisation.members) > 1 else None
    return None


def has_team(played: PlayedSettings) -> bool:
    """Return whether several members play in an organisation."""
    return team_in(played) is not None


def has_timed_team(played: PlayedSettings) -> bool:
    """Return whether members of an organisation are asked at different times, so that thinking takes
    steps."""
    team = team_in(played)
    return team is not None and team.is_timed


def has_led_team(played: PlayedSettings) -> bool:
    """Return whether a member of an organisation may give jobs to another."""
    team = team_in(played)
    return team is not None and bool(team.commands)


def has_talking_team(played: PlayedSettings) -> bool:
    """Return whether a member of an organisation may write to another."""
    team = team_in(played)
    return team is not None and not team.is_silent


TEAM_PREFIX = "team_"
TEAM_PLACES: Mapping[Callable[[PlayedSettings], bool], str] = {
    has_team: "episodes with an organisation of several members",
    has_timed_team: "episodes with an organisation in which thinking takes steps",
    has_led_team: "episodes with an organisation in which members give jobs",
    has_talking_team: "episodes with an organisation whose members write to each other",
}
"""For each condition on organisations, the text that names its episodes."""
NO_GOAL = "blank if the condition sets no goal, or if the episode did not reach it"


def _team_metric(
    name: str,
    label: str,
    kind: Literal["count", "number"],
    unit: str,
    meaning: str,
    where: Callable[[PlayedSettings], bool] = has_team,
    better: Literal["", "higher", "lower"] = "",
) -> PlayMetric:
    """Return the metric of a whole team that `kitchen.contract.team_measures` computes under this name."""
    said = f"{meaning}; of the whole team, so the same for everybody in an episode"
    key = f"{TEAM_PREFIX}{name}"
    return PlayMetric(key, f"Team: {label}", kind, said, where, TEAM_PLACES[where], better, unit=unit)


TEAM_METRICS = (
    _team_metric(
        "steps_to_goal",
        "steps to the goal",
        "count",
        "steps",
        f"Steps until the episode's goal was reached (TC of S-Agents); {NO_GOAL}",
        better="lower",
    ),
    _team_metric(
        "seconds_to_goal",
        "seconds to the goal",
        "number",
        "s",
        f"The same in seconds from the opening of the first step; {NO_GOAL}",
        better="lower",
    ),
    _team_metric(
        "plannings_a_member",
        "plannings per member",
        "number",
        "plannings",
        "Planning iterations of co-players, averaged over all members (mPT of S-Agents)",
        has_timed_team,
    ),
    _team_metric(
        "idle_thinking",
        "idle steps, thinking",
        "count",
        "steps",
        "Steps of seats that did nothing because their member was thinking",
        has_timed_team,
    ),
    _team_metric(
        "idle_waiting",
        "idle steps, waiting for others",
        "count",
        "steps",
        "Steps of seats that did nothing because it was not their member's turn",
        has_timed_team,
    ),
    _team_metric(
        "idle_nothing",
        "idle steps, nothing done",
        "count",
        "steps",
        "Steps of seats that were asked and did nothing",
    ),
    _team_metric("jobs", "jobs given", "count", "jobs", "Jobs that members gave", has_led_team),
    _team_metric(
        "jobs_done",
        "jobs done",
        "count",
        "jobs",
        "Those of them that were reported as done",
        has_led_team,
    ),
    _team_metric(
        "jobs_failed",
        "jobs failed",
        "count",
        "jobs",
        "Those that were reported as not possible",
        has_led_team,
    ),
    _team_metric(
        "jobs_reassigned",
        "jobs given again",
        "count",
        "jobs",
        "Those that failed and that their giver gave again later",
        has_led_team,
    ),
    _team_metric(
        "cycles",
        "jobs in a cycle",
        "count",
        "jobs",
        "Jobs that came back to a member that had them before anybody started them",
        has_led_team,
    ),
    _team_metric(
        "messages",
        "messages",
        "count",
        "messages",
        "Messages that members wrote, those of jobs included",
        has_talking_team,
    ),
    _team_metric(
        "stale_commands",
        "commands too late",
        "count",
        "commands",
        "Commands that were dropped because they were no longer possible when thinking was over",
        has_timed_team,
    ),
    _team_metric(
        "usd",
        "cost of model calls",
        "number",
        "USD",
        "What the model calls of all co-players cost; blank if a price is not known",
    ),
)
"""Metrics of how an organisation worked together, computed from the log."""
PLAY_METRICS: Mapping[str, PlayMetric] = {
    one.key: one for one in (FORESIGHT, *CONDUCT_METRICS, *TEAM_METRICS)
}
"""All metrics of play by key, in the order used in every file."""
PLAY_METRIC_LABELS = frozenset(one.label for one in PLAY_METRICS.values())


def play_metrics_in(played: PlayedSettings) -> list[PlayMetric]:
    """Return the metrics that this condition measures."""
    return [one for one in PLAY_METRICS.values() if one.where(played)]


def conditions_by_metric(
    played: Iterable[tuple[str, PlayedSettings]], taken: Collection[str]
) -> dict[str, frozenset[str]]:
    """Return the keys of the conditions that measure each metric, by the metric's key.

    `played` has (key, condition) pairs. `taken` has the names that survey items use. A metric is left out
    if its key or label is one of these names.
    """
    found: dict[str, set[str]] = {}
    for condition, plan in played:
        for one in play_metrics_in(plan):
            if not {one.key, one.label} & set(taken):
                found.setdefault(one.key, set()).add(condition)
    return {key: frozenset(found[key]) for key in PLAY_METRICS if key in found}
