"""The practice episode: what a study says of it, filled up with what its world brings. Imports no models.

A study stores what is set, as `settings["kitchen"]` of the part: any of the names of a condition's world,
settings, co-player, its settings, and teammates. What is left out is as the world's kit has it
(`kitchen.contract.kit.Practice`); where no world is named, the usual one is meant.
"""

from __future__ import annotations

from collections.abc import Mapping

from kitchen.contract.kit import Practice
from kitchen.contract.world import Json
from kitchen.registry.worlds import DEFAULT, get_kit, known_worlds
from study.design.plan import NOBODY


def practice_played(stored: Mapping[str, Json]) -> dict[str, Json]:
    """What is played and with whom, for what a study has stored; a world that is no longer there brings
    nothing."""
    world = stored.get("world", DEFAULT)
    usual = get_kit(world).practice if world in known_worlds() else Practice()
    return {
        "world": world,
        "settings": dict(usual.settings),
        "coplayer": usual.coplayer or NOBODY,
        "coplayer_settings": dict(usual.coplayer_settings),
        "teammates": usual.teammates,
        **stored,
    }


def practice_organisation(played: Mapping[str, Json]) -> dict[str, Json]:
    """Return the organisation of a practice episode, in the form of a condition's: that of its world's kit;
    none where the participant practises alone."""
    if not played["teammates"] or played["world"] not in known_worlds():
        return {}
    return dict(get_kit(played["world"]).practice.organisation)


def practice_until(settings: Mapping[str, Json], world: str) -> dict[str, int]:
    """What the practice episode of a part with these settings lasts until, as its world has it; nothing where
    it lasts all its steps."""
    if settings.get("all_steps") or world not in known_worlds():
        return {}
    return dict(get_kit(world).practice.until)


def practice_like(world: str, settings: Mapping[str, Json]) -> dict[str, Json]:
    """What is played, alone, to practise for a condition of this world with these settings: as a study stores
    it."""
    return practice_played({"world": world, "settings": dict(settings)})
