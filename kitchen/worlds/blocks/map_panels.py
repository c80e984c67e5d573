"""Make the panels of the drawn map: what never changes, the chunks of blocks, and who and what is where now.

Scripts draw them (`static/worlds/blocks/map.js`), from above or at an angle. Only chunks that changed, or
that came into sight, are sent. A *spot* is a thing that can be clicked. `command_spots` returns the spots
that a command is about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kitchen.contract.page import Panel, SeatView
from kitchen.contract.world import Command, Json, canonical_json
from kitchen.words.gettext_without_django import gettext
from kitchen.worlds.blocks.block_grid import rank_from
from kitchen.worlds.blocks.block_scene import CHEST, FURNACE
from kitchen.worlds.blocks.item_recipes import TABLE
from kitchen.worlds.blocks.item_words import item_words

_TEMPLATES = "worlds/blocks"
YOU, SITE = "you", "site"
"""The spots of the own builder and of the blueprint."""
STATION_OF: Mapping[str, str] = {
    "craft": TABLE,
    **dict.fromkeys(("smelt", "putFuelFurnace", "putItemFurnace", "takeOutFurnace"), FURNACE),
    **dict.fromkeys(("put", "take", "putInChest"), CHEST),
}
"""The station that a command uses, by verb."""
OWN_VERBS = ("discard", "stay", "stop", "go_on", "noop")


class MapData(NamedTuple):
    """JSON for the script."""

    value: str


class MapChunks(NamedTuple):
    """The chunks that are drawn; each is a part."""

    chunks: tuple[str, ...]


def command_spots(command: Command, view: SeatView) -> str:
    """Return the spots that a command is about, separated by spaces."""
    verb, *words = command
    if verb in ("goto_seat", "give"):
        return f"seat-{words[0]}"
    if verb == "build":
        return SITE
    if verb in ("place", "remove"):
        return f"{SITE} cell-{'_'.join(words[-3:])}"
    if verb in OWN_VERBS:
        return YOU
    if verb not in STATION_OF:
        return words[0] if words else YOU
    station = STATION_OF[verb]
    return station if any(each["spot"] == station for each in _things(view)) else YOU


def map_panels(view: SeatView) -> tuple[Panel, ...]:
    """Return the panels `map-ground`, `map-chunks` and `map-now`."""
    chunks = view.picture["chunks"]
    parts = tuple(_data_panel(f"chunk-{place.replace(',', '_')}", blocks) for place, blocks in chunks.items())
    shown = MapChunks(tuple(part.id for part in parts))
    return (
        _data_panel("map-ground", _ground(view)),
        Panel("map-chunks", f"{_TEMPLATES}/chunks.jinja", shown, parts=parts),
        _data_panel("map-now", _now(view)),
    )


def _data_panel(name: str, value: Json) -> Panel:
    return Panel(name, f"{_TEMPLATES}/chunk.jinja", MapData(canonical_json(value)))


def _ground(view: SeatView) -> dict[str, Json]:
    """Return what stays the same: the area, and the blueprint if the seat knows it."""
    blueprint = view.brief.get("blueprint")
    names = {kind: item_words(kind) for kind in blueprint["legend"].values()} if blueprint else {}
    return {"area": view.picture["area"], "blueprint": blueprint, "names": names}


def _now(view: SeatView) -> dict[str, Json]:
    seen = view.observation
    return {
        "you": view.seat if view.acts else -1,
        "at": _own_cell(view),
        "animals": view.picture["animals"],
        "spots": [*_things(view), *_site(view), *_builders(view)],
        "level": seen.get("level"),
    }


def _own_cell(view: SeatView) -> Json:
    """Return the cell of the seat through whose eyes the map is seen."""
    seen = view.observation
    return seen["at"] if "at" in seen else seen["players"][view.seat if view.acts else 0]["at"]


def _things(view: SeatView) -> list[dict[str, Json]]:
    """Return the nearest of each kind of block and animal, and the stations."""
    seen = view.observation
    if "near" in seen:
        listed = [
            (each["kind"], each["at"], each.get("used_by")) for each in (*seen["stations"], *seen["near"])
        ]
    else:
        listed = [(kind, cell, None) for kind, cell in _nearest_things(view)]
    return [
        {"spot": kind, "kind": kind, "name": item_words(kind), "at": cell, "used_by": used_by}
        for kind, cell, used_by in listed
    ]


def _nearest_things(view: SeatView) -> Iterator[tuple[str, Sequence[int]]]:
    """Yield the places of the kitchen, and the nearest of each of its things."""
    yield from view.brief["places"].items()
    rank: Callable[[Json], Json] = rank_from(tuple(_own_cell(view)))
    for kind, cells in view.brief["things"].items():
        yield kind, min(cells, key=rank)


def _site(view: SeatView) -> Iterator[dict[str, Json]]:
    """Yield the blueprint: at the first cell that is not as wanted."""
    seen = view.observation
    if differences := seen.get("differences"):
        x, z, *_ = differences[0]
        yield {"spot": SITE, "kind": "", "name": gettext("Building site"), "at": [x, seen["level"], z]}


def _builders(view: SeatView) -> Iterator[dict[str, Json]]:
    """Yield all seats, with what they hold where that is known."""
    seen = view.observation
    for each in seen.get("seats") or seen["players"]:
        seat = each["seat"]
        is_you = view.acts and seat == view.seat
        held = each.get("holds") or (seen.get("inventory") if is_you else None) or {}
        yield {
            "spot": YOU if is_you else f"seat-{seat}",
            "seat": seat,
            "name": view.players[seat].name,
            "at": each["at"],
            "holds": list(held)[:3],
        }
