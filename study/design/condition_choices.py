"""The worlds and agents that forms offer for a condition, one field for each declared setting, and warnings
about the chosen settings.

Nothing here knows a world or agent by name. The registries and the declared `settings` decide what
appears.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms

from kitchen.contract.agent import Agent
from kitchen.contract.world import Json, Setting
from kitchen.forms.setting_fields import readable_name, setting_value_text
from kitchen.registry.agent_registry import agent_kinds, can_play, get_agent
from kitchen.registry.world_registry import get_world, known_worlds
from study.design.condition_plan import NOBODY, condition_check
from study.design.models import Condition

WORLD = "world"
COPLAYER = "coplayer"


@dataclass(frozen=True, slots=True)
class ChoosableKind:
    """One world or co-player that a condition can have."""

    part: str
    """WORLD or COPLAYER: the field of the condition that names it."""
    name: str
    label: str
    settings: tuple[Setting, ...]
    worlds: tuple[str, ...] | None = None
    """The worlds that a co-player can play; None for all of them."""

    def fits(self, world: str) -> bool:
        """Whether it is to be offered where this world is played; everything is where none is named."""
        return not world or self.worlds is None or world in self.worlds

    def named_settings(self) -> Iterator[tuple[str, Setting]]:
        """Every setting with the name of its form field, which no other kind's setting has."""
        for setting in self.settings:
            yield f"{self.part}__{self.name}__{setting.name}", setting


def all_kinds() -> tuple[ChoosableKind, ...]:
    """Every world, then every co-player of the registries."""
    return (*world_kinds(), *(_coplayer_kind(name) for name in agent_kinds()))


def world_kinds() -> tuple[ChoosableKind, ...]:
    """Every world."""
    return tuple(
        ChoosableKind(WORLD, name, readable_name(name), get_world(name).settings) for name in known_worlds()
    )


def _coplayer_kind(name: str) -> ChoosableKind:
    kind = get_agent(name)
    worlds = _worlds_of(kind)
    played = "every world" if worlds is None else ", ".join(readable_name(world) for world in worlds)
    return ChoosableKind(COPLAYER, name, f"{readable_name(name)} (plays {played})", kind.settings, worlds)


def _worlds_of(kind: type[Agent]) -> tuple[str, ...] | None:
    if not (kind.pursues or kind.skilled):
        return kind.worlds
    return tuple(world for world in known_worlds() if can_play(kind, world))


def kind_choices(part: str, stored: str = "", world: str = "") -> list[tuple[str, str]]:
    """What a select of worlds or co-players offers, with a world only co-players that play it; what is stored
    stays on offer even if it does not fit or is gone."""
    nobody = {NOBODY: "Nobody: the participant plays alone, or with people only"} if part == COPLAYER else {}
    kinds = {kind.name: kind for kind in all_kinds() if kind.part == part}
    offered = {name: kind.label for name, kind in kinds.items() if kind.fits(world) or name == stored}
    choices = nobody | offered
    gone = stored and stored not in choices
    return [*choices.items(), *([(stored, f"{readable_name(stored)} (no longer there)")] if gone else [])]


class KindSelect(forms.Select):
    """A select of co-players, each with the worlds that it plays, for the page's script."""

    def create_option(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """An option with `data-worlds` if it does not play every world."""
        option: dict[str, Any] = super().create_option(*args, **kwargs)
        named = (COPLAYER, option["value"])
        worlds = next((kind.worlds for kind in all_kinds() if (kind.part, kind.name) == named), None)
        if worlds is not None:
            option["attrs"]["data-worlds"] = " ".join(worlds)
        return option


def described_settings(part: str, name: str, values: Mapping[str, Json]) -> list[tuple[str, str]]:
    """(label, value) in words for all that one kind declares; what it does not know under its own name."""
    kind = next((kind for kind in all_kinds() if (kind.part, kind.name) == (part, name)), None)
    declared = {setting.name: setting for setting in kind.settings} if kind else {}
    told_ones = [(s.label, setting_value_text(s, values.get(s.name, s.default))) for s in declared.values()]
    return told_ones + [(key, str(value)) for key, value in values.items() if key not in declared]


def condition_warnings(condition: Condition) -> list[str]:
    """What its world or co-player warns of, one text each."""
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
        )
    return list(dict.fromkeys(str(warning.message) for warning in caught))
