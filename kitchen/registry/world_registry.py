"""List every world that can be played, and return its class, page and other parts by name.

A `WorldKit` (`kitchen.contract.kit`) declares the parts of one world. The environment variable
`BRIGADE_WORLDS` adds your own worlds, as `name=package.module:KIT`, separated by commas. So do entry points
of the group `brigade.worlds` in installed packages. `OPEN_WORLDS` need optional packages.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import cast

from kitchen.contract.benchmark import Benchmark, ComparisonBenchmark, CompletionBenchmark, PairingBenchmark
from kitchen.contract.drawable_setting import DrawableSetting
from kitchen.contract.encoding import Encoding
from kitchen.contract.json_encoding import JSON_ENCODING
from kitchen.contract.kit import PixelPicture, WorldKit
from kitchen.contract.page import Page
from kitchen.contract.recorded_trial import TrialFormat
from kitchen.contract.team_schedules import TOGETHER
from kitchen.contract.world import World
from kitchen.contract.world_errors import SettingsError
from kitchen.registry.dotted_paths import UnknownNameError, load_named, registry_entry

WORLDS: dict[str, str] = {
    "blocks_construction": "kitchen.worlds.blocks.kit:CONSTRUCTION_KIT",
    "blocks_cooking": "kitchen.worlds.blocks.kit:COOKING_KIT",
    "blocks_crafting": "kitchen.worlds.blocks.kit:CRAFTING_KIT",
    "blocks_gather": "kitchen.worlds.blocks.kit:GATHER_KIT",
    "blocks_kitchen": "kitchen.worlds.blocks.kit:KITCHEN_KIT",
    "collab_overcooked": "kitchen.worlds.collab_overcooked.kit:KIT",
    "cuisine": "kitchen.worlds.cuisine.kit:KIT",
    "overcooked": "kitchen.worlds.overcooked.kit:KIT",
}
"""Path of each world's kit by name."""

OPEN_WORLDS: dict[str, str] = {
    "pettingzoo_kaz": "kitchen.worlds.pettingzoo_games.kit:KAZ_KIT",
    "pettingzoo_pong": "kitchen.worlds.pettingzoo_games.kit:PONG_KIT",
    "pettingzoo_tictactoe": "kitchen.worlds.pettingzoo_games.kit:TICTACTOE_KIT",
}
"""Path of the kit of each world that is offered only if `OPEN_PACKAGES` are installed (`make open`)."""
OPEN_PACKAGES = ("pettingzoo", "pygame")
NOT_INSTALLED = "{name}: this world needs packages that the command make open installs"

DEFAULT_WORLD_NAME = "cuisine"
"""The world of stored documents and study files that name none."""

WORLDS_VARIABLE = "BRIGADE_WORLDS"
ENTRY_POINTS = "brigade.worlds"
"""Group of the entry points by which an installed package adds worlds."""


def known_worlds() -> Mapping[str, str]:
    """Return the import path of each world's kit, sorted by the world's name. Raises ValueError if
    `BRIGADE_WORLDS` is invalid."""
    return _known_worlds(os.environ.get(WORLDS_VARIABLE, ""))


@cache
def _known_worlds(own: str) -> Mapping[str, str]:
    """Return the same as `known_worlds`, where `own` is the value of `BRIGADE_WORLDS`."""
    opened = OPEN_WORLDS if all(map(find_spec, OPEN_PACKAGES)) else {}
    return MappingProxyType(
        dict(sorted({**_installed_worlds(), **dict(_own_worlds(own)), **opened, **WORLDS}.items()))
    )


@cache
def _installed_worlds() -> dict[str, str]:
    """Return the worlds that installed packages add, by name."""
    return {each.name: each.value for each in entry_points(group=ENTRY_POINTS)}


def added_worlds() -> dict[str, str]:
    """Return the paths of the kits of worlds that do not come with this program, by name."""
    return {name: path for name, path in known_worlds().items() if name not in {**WORLDS, **OPEN_WORLDS}}


def _own_worlds(own: str) -> Iterator[tuple[str, str]]:
    for given in filter(None, map(str.strip, own.split(","))):
        name, sign, path = given.partition("=")
        if not (name.isidentifier() and sign and path.partition(":")[2]):
            raise ValueError(f"{given!r} is not name=package.module:KIT")
        yield name, path


def world_families() -> dict[str, tuple[str, ...]]:
    """Return the worlds of each family, by the name of the family: the part before the last `_` that two or
    more worlds share, such as `blocks` of `blocks_crafting` and `blocks_gather`."""
    found: dict[str, tuple[str, ...]] = {}
    for name in known_worlds():
        if family := name.rpartition("_")[0]:
            found[family] = (*found.get(family, ()), name)
    return {family: names for family, names in found.items() if len(names) > 1}


def get_kit(kind: str) -> WorldKit:
    """Return the kit of this world, which declares its class, its page and its other parts. Raises
    UnknownNameError if there is no such world, or if its packages are not installed."""
    if kind in OPEN_WORLDS and kind not in known_worlds():
        raise UnknownNameError(NOT_INSTALLED.format(name=kind))
    kit: WorldKit = load_named(known_worlds(), kind)
    return kit


def get_world(kind: str) -> type[World]:
    """Return the class of this world. Raises UnknownNameError if there is no such world."""
    return get_kit(kind).rules()


def get_page(kind: str) -> Page:
    """Return the page definition of this world. Raises UnknownNameError if there is no such world."""
    return get_kit(kind).page()


def check_clock(world: World) -> None:
    """Raise SettingsError if this world runs in real time but its page supports only turns."""
    if world.tick_ms and not get_page(world.kind).supports_clock:
        raise SettingsError(f"world: {world.kind} has a clock, but its page does not declare keys (GridPage)")


def organisation_refusal(world: str, organisation: str, schedule: str = TOGETHER) -> str:
    """Return why this world does not support an organisation (who may command and write to whom) or a
    schedule (who decides when). Empty if it supports both. Raises UnknownNameError if there is no such
    world."""
    kit = get_kit(world)
    for name, chosen, needed in (
        ("organisation", organisation, kit.organisations),
        ("schedule", schedule, kit.schedules),
    ):
        if needed and chosen not in needed:
            return f"{name}: {world} is played with {' or '.join(needed)}, not with {chosen}"
    return ""


def has_3d_scene(kind: str) -> bool:
    """Return whether this world can also be shown as a 3D scene. Raises UnknownNameError if there is no
    such world."""
    return bool(get_page(kind).scene)


def get_ground(kind: str) -> Benchmark:
    """Return the benchmark by which experiments compare agents in this world. Raises UnknownNameError if
    the world has none."""
    bench = get_kit(kind).bench
    if not bench:
        raise UnknownNameError(f"nothing is compared in {kind!r}")
    return bench()


def get_bench(kind: str) -> CompletionBenchmark:
    """Return the benchmark of this world as a `CompletionBenchmark` (one that counts completed and missed
    orders). The type is not checked. Raises UnknownNameError if the world has no benchmark."""
    return cast(CompletionBenchmark, get_ground(kind))


def get_pairings(kind: str) -> PairingBenchmark:
    """Return the benchmark of this world as a `PairingBenchmark` (one that compares pairs of agents). The
    type is not checked. Raises UnknownNameError if the world has no benchmark."""
    return cast(PairingBenchmark, get_ground(kind))


def worlds_with_pairings() -> dict[str, PairingBenchmark]:
    """Return all benchmarks that compare pairs of partners. The keys are the worlds' names, sorted."""
    grounds = {world: get_ground(world) for world in known_worlds() if get_kit(world).bench}
    return {world: ground for world, ground in grounds.items() if isinstance(ground, PairingBenchmark)}


def worlds_with_comparison() -> dict[str, ComparisonBenchmark]:
    """Return all benchmarks that compare agents by one metric and not in pairs. The keys are the worlds'
    names, sorted."""
    grounds = {world: get_ground(world) for world in known_worlds() if get_kit(world).bench}
    return {
        world: ground
        for world, ground in grounds.items()
        if isinstance(ground, ComparisonBenchmark) and not isinstance(ground, PairingBenchmark)
    }


def get_canvas(kind: str, setting: str) -> DrawableSetting | None:
    """Return the rules for drawing the value of a world's setting (such as a layout) in the editor. None
    if the setting can only be edited as text. Raises UnknownNameError for an unknown world."""
    canvas = get_kit(kind).canvases.get(setting)
    return canvas() if canvas else None


def get_encodings(kind: str) -> dict[str, Encoding]:
    """Return every encoding of this world by its name with version, the world's default first. `json/1` is
    the last. Raises UnknownNameError if there is no such world."""
    found = [made() for made in get_kit(kind).encodings.values()]
    return {encoding.name: encoding for encoding in (*found, JSON_ENCODING)}


def get_encoding(kind: str, name: str = "") -> Encoding:
    """Return an encoding of this world: by its name with version (`overcooked.lossless_26/1`), by the short
    name in the kit (`lossless_26`), or the default. Raises UnknownNameError if there is none."""
    short = get_kit(kind).encodings
    if name in short:
        return short[name]()
    listed = get_encodings(kind)
    return registry_entry(listed, name) if name else next(iter(listed.values()))


def trial_formats() -> dict[str, TrialFormat]:
    """Return the published forms of recorded games, by the name of their world."""
    kits = {world: get_kit(world) for world in known_worlds()}
    return {world: kit.trials() for world, kit in kits.items() if kit.trials}


def reward_metric(kind: str) -> str:
    """Return the name of the metric whose change in a step is the reward. Raises UnknownNameError if there is
    no such world."""
    kit = get_kit(kind)
    return kit.reward or kit.rules().figures[0].name


def get_pixels(kind: str) -> PixelPicture | None:
    """Return the function that draws this world as pixels, without a browser; None if it has none. Raises
    UnknownNameError if there is no such world."""
    pixels = get_kit(kind).pixels
    return pixels() if pixels else None


def world_folders(name: str) -> list[Path]:
    """Return the existing folders with this name (such as `templates`) in the packages of the worlds'
    kits."""
    modules = (import_module(path.partition(":")[0]) for path in known_worlds().values())
    homes = dict.fromkeys(Path(str(module.__file__)).parent for module in modules)
    return [home / name for home in homes if (home / name).is_dir()]
