"""Worlds and co-players as forms show them: names to choose from, and one field per declared setting.

Nothing here knows a world or a co-player by name: what the registries hold and `settings` declares appears.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kitchen.coplayers.registry import COPLAYERS, get_coplayer
from kitchen.setting_fields import readable, told
from kitchen.worlds.base import Json, Setting
from kitchen.worlds.registry import WORLDS, get_world
from study.plan import NOBODY

WORLD = "world"
COPLAYER = "coplayer"


@dataclass(frozen=True, slots=True)
class Kind:
    """One world or co-player that a condition can have."""

    part: str
    """WORLD or COPLAYER: the field of the condition that names it."""
    name: str
    label: str
    settings: tuple[Setting, ...]

    def named_settings(self) -> Iterator[tuple[str, Setting]]:
        """Every setting with the name of its form field, which no other kind's setting has."""
        for setting in self.settings:
            yield f"{self.part}__{self.name}__{setting.name}", setting


def all_kinds() -> tuple[Kind, ...]:
    """Every world, then every co-player of the registries."""
    worlds = [Kind(WORLD, name, readable(name), get_world(name).settings) for name in sorted(WORLDS)]
    return (*worlds, *(_coplayer_kind(name) for name in sorted(COPLAYERS)))


def _coplayer_kind(name: str) -> Kind:
    found = get_coplayer(name)
    plays = "every world" if found.worlds is None else ", ".join(readable(world) for world in found.worlds)
    return Kind(COPLAYER, name, f"{readable(name)} (plays {plays})", found.settings)


def kind_choices(part: str, stored: str = "") -> list[tuple[str, str]]:
    """What a select of worlds or co-players offers; what is stored stays on offer even if it is gone."""
    nobody = [(NOBODY, "Nobody: the participant plays alone")] if part == COPLAYER else []
    found = nobody + [(kind.name, kind.label) for kind in all_kinds() if kind.part == part]
    gone = stored and stored not in dict(found)
    return [*found, (stored, f"{readable(stored)} (no longer there)")] if gone else found


def told_settings(part: str, name: str, values: Mapping[str, Json]) -> list[tuple[str, str]]:
    """(label, value) in words for all that one kind declares; what it does not know under its own name."""
    kind = next((kind for kind in all_kinds() if (kind.part, kind.name) == (part, name)), None)
    declared = {setting.name: setting for setting in kind.settings} if kind else {}
    told_ones = [(s.label, told(s, values.get(s.name, s.default))) for s in declared.values()]
    return told_ones + [(key, str(value)) for key, value in values.items() if key not in declared]
