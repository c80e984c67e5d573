"""List the worlds (games) and co-players (agents) that forms offer for a condition, and warn about settings
that do not fit together.

A condition combines a world with its settings and co-players.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from kitchen.contract.agent import Agent
from kitchen.contract.declared_settings import Setting
from kitchen.contract.star_targets import star_metrics
from kitchen.forms.setting_fields import readable_name
from kitchen.play.policies.policy_storage import copy_to_this_machine
from kitchen.registry.agent_registry import agent_kinds, can_play, get_agent, has_package
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import OPEN_WORLDS, get_world, known_worlds
from study.design.condition_seats import NOBODY, condition_check
from study.design.models import Condition

WORLD = "world"
COPLAYER = "coplayer"
MORE = "The command make open installs more worlds, and co-players that are trained policies."


@dataclass(frozen=True, slots=True)
class ChoosableKind:
    """One world or one type of co-player that a condition can have, with its settings."""

    part: str
    """WORLD or COPLAYER: the field of the condition that stores the kind's name."""
    name: str
    label: str
    settings: tuple[Setting, ...]
    worlds: tuple[str, ...] | None = None
    """The worlds that a co-player can play. None means all worlds."""
    can_run: bool = True
    """False if an optional package is missing, without which the co-player cannot play."""

    def fits(self, world: str) -> bool:
        """Return whether the form offers this world or co-player for a condition in `world`. If `world` is
        empty, because no world is chosen yet, it offers all that can run."""
        return self.can_run and (not world or self.worlds is None or world in self.worlds)

    def named_settings(self) -> Iterator[tuple[str, Setting]]:
        """Yield (form field name, setting) pairs. Each field name is unique among all worlds and
        co-players."""
        for setting in self.settings:
            yield f"{self.part}__{self.name}__{setting.name}", setting


def all_kinds() -> tuple[ChoosableKind, ...]:
    """Return every world of the registry, then every co-player."""
    agents = tuple((name, get_agent(name)) for name in agent_kinds())
    return _all_kinds(tuple((name, get_world(name).settings) for name in known_worlds()), agents)


@lru_cache(maxsize=8)
def _all_kinds(
    worlds: tuple[tuple[str, tuple[Setting, ...]], ...], agents: tuple[tuple[str, type[Agent]], ...]
) -> tuple[ChoosableKind, ...]:
    """Make the kinds from (name, settings) of each world and (name, class) of each co-player. They are
    cached, because each form needs them many times."""
    named = (ChoosableKind(WORLD, name, readable_name(name), settings) for name, settings in worlds)
    return (*named, *(_coplayer_kind(name, kind) for name, kind in agents))


def settings_of_kind(part: str, name: str) -> Mapping[str, Setting]:
    """Return the declared settings of one world or co-player. `part` is `WORLD` or `COPLAYER`; `name` is
    its registered name. The result is empty for an unknown name."""
    kind = next((one for one in all_kinds() if (one.part, one.name) == (part, name)), None)
    return {setting.name: setting for setting in kind.settings} if kind else {}


def world_kinds() -> tuple[ChoosableKind, ...]:
    """Return every world of the registry."""
    return tuple(kind for kind in all_kinds() if kind.part == WORLD)


def _coplayer_kind(name: str, kind: type[Agent]) -> ChoosableKind:
    worlds = _worlds_of(kind)
    played = "every world" if worlds is None else ", ".join(readable_name(world) for world in worlds)
    label = f"{readable_name(name)} (plays {played})"
    return ChoosableKind(COPLAYER, name, label, kind.settings, worlds, has_package(kind))


def _worlds_of(kind: type[Agent]) -> tuple[str, ...] | None:
    if not (kind.pursues or kind.skilled):
        return kind.worlds
    return tuple(world for world in known_worlds() if can_play(kind, world))


def kind_choices(part: str, stored: str = "", world: str = "") -> list[tuple[str, str]]:
    """Return the (name, label) options of a select element that lists worlds or co-players. `part` is `WORLD`
    or `COPLAYER`.

    If `world` is given, only co-players that can play in it are listed. The `stored` value stays in the
    list, even if it does not fit or no longer exists.
    """
    nobody = {NOBODY: "Nobody: the participant plays alone, or with people only"} if part == COPLAYER else {}
    kinds = {kind.name: kind for kind in all_kinds() if kind.part == part}
    offered = {
        name: kind.label
        for name, kind in kinds.items()
        if (kind.fits(world) and kind.can_run) or name == stored
    }
    choices = nobody | offered
    gone = stored and stored not in choices
    return [*choices.items(), *([(stored, f"{readable_name(stored)} (no longer there)")] if gone else [])]


def more_to_install() -> str:
    """Return a sentence if optional packages are missing, without which the form offers fewer worlds or
    co-players; empty otherwise."""
    has_worlds = OPEN_WORLDS.keys() <= known_worlds().keys()
    return "" if has_worlds and all(kind.can_run for kind in all_kinds()) else MORE


def goal_labels(world: str) -> dict[str, str]:
    """Return the labels of a world's metrics, which can be the goal of a round, by name. The result is
    empty for an unknown world."""
    with suppress(UnknownNameError):
        return {figure.name: figure.label for figure in get_world(world).figures}
    return {}


def star_labels(world: str) -> dict[str, str]:
    """Return the labels of a world's metrics that can earn stars, by name. Empty for an unknown world."""
    with suppress(UnknownNameError):
        return {figure.name: figure.label for figure in star_metrics(get_world(world).figures)}
    return {}


def condition_warnings(condition: Condition) -> list[str]:
    """Return the warnings of the condition's world and co-player, one text each, without repeats."""
    copy_to_this_machine([condition.coplayer_settings, condition.organisation])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        condition_check(
            world=condition.world,
            settings=condition.settings,
            coplayer=condition.coplayer,
            coplayer_settings=condition.coplayer_settings,
            teammates=condition.teammates,
            organisation=condition.organisation,
            step_seconds=condition.step_seconds,
            goal=condition.goal,
            star_targets=condition.star_targets,
        )
    return list(dict.fromkeys(str(warning.message) for warning in caught))
