"""Define the base classes and the metrics of those worlds of blocks in which an episode ends at a goal.

The goal is to hold certain items, or to build a blueprint (building plan).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import ClassVar

from kitchen.contract.episode_log import EpisodeLog, LogMetrics
from kitchen.contract.organisation import END, TALK_KINDS
from kitchen.contract.world import Json, Metric
from kitchen.words.gettext_without_django import ngettext_noop
from kitchen.worlds.blocks.macro_world import MacroWorld

SUCCESS = Metric(
    "success",
    "share",
    "Success rate",
    meaning="1 if the goal was reached in time, else 0",
    so_far="1 if the goal has been reached, else 0",
)
STEPS_USED = Metric(
    "steps_used",
    "count",
    "Steps used",
    meaning="Steps until the goal was reached",
    undefined="blank where the goal was not reached",
    unit="steps",
    better="lower",
    words=ngettext_noop("step used", "steps used"),
)
GIVES = Metric(
    "gives",
    "count",
    "Gifts",
    meaning="How often a seat gave something to another",
    so_far="Gifts so far",
    better="neither",
    words=ngettext_noop("time something was given", "times something was given"),
)
ITEMS_GIVEN = Metric(
    "items_given",
    "count",
    "Items given",
    meaning="Items that seats gave to one another",
    so_far="Items given so far",
    better="neither",
)
TARGETS_MADE = Metric(
    "targets_made",
    "share",
    "Share of targets made",
    meaning="Share of the wanted items that exist at the end, whoever holds them",
    so_far="Share of the wanted items that exist now",
)
SCORE = Metric(
    "score",
    "number",
    "Blueprint score",
    meaning="100 x matches / (matches + mismatches), the score by edit distance of MINDcraft",
    so_far="Blueprint score so far",
    undefined="blank without a blueprint",
    high=100,
)
FILLED = Metric(
    "filled",
    "share",
    "Share of blocks filled in",
    meaning="Share of the blueprint's blocks that stand",
    so_far="Share of the blueprint's blocks that stand now",
    undefined="blank without a blueprint",
)
MATCHES = Metric(
    "matches",
    "count",
    "Matches",
    meaning="Cells with the wanted block",
    so_far="Cells with the wanted block now",
    undefined="blank without a blueprint",
    words=ngettext_noop("block as wanted", "blocks as wanted"),
)
MISMATCHES = Metric(
    "mismatches",
    "count",
    "Mismatches",
    meaning="Cells where the blueprint or the site has a block, and they differ",
    so_far="Cells where the blueprint or the site has a block now, and they differ",
    undefined="blank without a blueprint",
    better="lower",
)

BUILDING_METRICS = frozenset(one.name for one in (SCORE, FILLED, MATCHES, MISMATCHES))
"""Names of the metrics that compare the building with its blueprint."""


class GoalWorld(MacroWorld):
    """A world of blocks whose episode ends when a goal is reached."""

    @property
    def success(self) -> float:
        """Return 1 if the goal is reached, else 0."""
        return float(self.over)

    @property
    def steps_used(self) -> int | None:
        """Return the number of steps until the goal was reached; None if it was not reached."""
        return self.clock if self.over else None


class TargetWorld(GoalWorld):
    """A world of blocks in which a seat must hold certain items."""

    figures: ClassVar[tuple[Metric, ...]] = (SUCCESS, STEPS_USED, GIVES, ITEMS_GIVEN, TARGETS_MADE)
    targets: Mapping[str, int]
    """The wanted items."""

    def holds(self, seat: int, items: Mapping[str, int]) -> bool:
        """Return whether this seat's own inventory has all of these items."""
        return all(self.inventories[seat].get(item, 0) >= amount for item, amount in items.items())

    @property
    def over(self) -> bool:
        """Return True if one seat's own inventory holds all targets."""
        return any(self.holds(seat, self.targets) for seat in range(self.seats))

    def hidden_metrics(self, seat: int) -> frozenset[str]:
        """Hide the share of targets made from every seat, because it shows what others hold."""
        return frozenset({TARGETS_MADE.name})

    @property
    def targets_made(self) -> float:
        """Return the share of the wanted items that some seat or the chest holds."""
        there = Counter[str]()
        for items in (*self.inventories, self.chest):
            there.update(items)
        made = sum(min(amount, there[item]) for item, amount in self.targets.items())
        return made / sum(self.targets.values())


class BuildingWorld(GoalWorld):
    """A world of blocks that can have a blueprint."""

    def observe(self, seat: int) -> dict[str, Json]:
        """Return the seat's observation. If the seat knows the blueprint, add the progress of the building.

        `left_by_level` has the number of missing blocks of each level. `level` is the lowest unfinished
        level. `differences` lists the cells of this level that differ, as [x, z, wanted block, present
        block].
        """
        seen, compared = super().observe(seat), self.comparison
        if not compared or not self.knows_blueprint(seat):
            return seen
        level = compared.level
        return seen | {
            "level": level,
            "left_by_level": list(compared.left),
            "differences": [] if level is None else compared.differences(level),
        }

    def hidden_metrics(self, seat: int) -> frozenset[str]:
        """Hide the metrics of the building from a seat that does not know the blueprint. They would tell
        after each block whether it is right."""
        return frozenset() if self.knows_blueprint(seat) else BUILDING_METRICS

    def _of_comparison(self, name: str) -> Json:
        return getattr(self.comparison, name) if self.comparison else None

    @property
    def matches(self) -> int | None:
        """Return the number of cells that have the block that the blueprint wants. Return None without a
        blueprint."""
        found: int | None = self._of_comparison("matches")
        return found

    @property
    def mismatches(self) -> int | None:
        """Return the number of cells in which the built blocks differ from the blueprint. Return None
        without a blueprint."""
        found: int | None = self._of_comparison("mismatches")
        return found

    @property
    def filled(self) -> float | None:
        """Return the share of the blueprint's blocks that are already built, from 0 to 1. Return None
        without a blueprint."""
        found: float | None = self._of_comparison("filled")
        return found

    def score(self) -> dict[str, Json]:
        """Return the value of each metric by name. The metric `score` compares the built blocks with the
        blueprint. It is None without a blueprint."""
        others = {one.name: getattr(self, one.name) for one in self.figures if one != SCORE}
        return {SCORE.name: self._of_comparison("score"), **others}


class MessageMetrics(LogMetrics):
    """Metrics from the episode log: the number of messages that members sent, and of commands that were
    refused."""

    figures: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "messages_sent",
            "count",
            "Messages sent",
            meaning="Messages that members sent to one another",
            better="neither",
        ),
        Metric(
            "refused_commands",
            "count",
            "Refused commands",
            meaning="Commands of all seats that the world refused",
            better="lower",
        ),
    )

    def measure(self, log: EpisodeLog) -> dict[str, Json]:
        """Return `messages_sent` and `refused_commands` for this log."""
        talk = [one for one in log.messages if one.kind in TALK_KINDS - {END} and one.sender is not None]
        events = (event for step in log.steps for event in step.events)
        return {
            "messages_sent": len(talk),
            "refused_commands": sum(event.kind == "refused" for event in events),
        }


MESSAGE_METRICS = MessageMetrics()
