"""Build the page's panels that draw the map of a world of blocks.

They hold the map's fixed parts, its chunks (8 by 8 columns of blocks), and the places of players and things.
Scripts in `static/worlds/blocks` draw them. Only chunks that have changed or come into sight are sent. A spot
is a thing on the map that can be clicked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kitchen.contract.page import Panel
from kitchen.contract.page_view import SeatView
from kitchen.contract.world import Command, Json, canonical_json
from kitchen.words.gettext_without_django import gettext
from kitchen.worlds.blocks.block_grid import rank_from
from kitchen.worlds.blocks.block_scene import CHEST, FURNACE
from kitchen.worlds.blocks.cell_words import cell_texts
from kitchen.worlds.blocks.construction_world import BY_BLOCK, KNOWN_BY
from kitchen.worlds.blocks.item_recipes import TABLE
from kitchen.worlds.blocks.item_words import item_words
from kitchen.worlds.blocks.planner_messages import asking_texts

_TEMPLATES = "worlds/blocks"
YOU, SITE = "you", "site"
"""The spots of the own builder and of the blueprint."""
STATION_OF: Mapping[str, str] = {
    "craft": TABLE,
    **dict.fromkeys(("smelt", "putFuelFurnace", "putItemFurnace", "takeOutFurnace"), FURNACE),
    **dict.fromkeys(("put", "take", "putInChest"), CHEST),
}
"""The station that a command uses, by verb."""
PLACING_STEPS = 3
"""Past steps whose placed blocks the page is told. A page that is late still learns of each of them."""
OWN_VERBS = ("discard", "stay", "stop", "go_on", "noop")


class MapData(NamedTuple):
    """JSON for the script."""

    value: str


class MapChunks(NamedTuple):
    """The chunks that are drawn; each is a part."""

    chunks: tuple[str, ...]


def command_spots(command: Command, view: SeatView) -> str:
    """Return the spots that a command is about, separated by spaces. A thing that a builder stands on can be
    reached by clicking the builder, too."""
    verb, *words = command
    if verb in ("goto_seat", "give"):
        return f"seat-{words[0]}"
    if verb == "build":
        return SITE
    if verb in ("place", "remove"):
        return f"{SITE} cell-{'_'.join(words[-3:])}"
    cells = {kind: at for kind, at, _ in _things(view)}
    kind = STATION_OF.get(verb) or (words[0] if words else "")
    if verb in OWN_VERBS or kind not in cells:
        return YOU
    return " ".join((kind, *_builders_on(view, cells[kind])))


def _builders_on(view: SeatView, cell: Sequence[int]) -> Iterator[str]:
    """Yield the ids of the spots of builders whose pictures cover this cell of the map."""
    for seat, (x, _, z) in _cells_of_builders(view):
        if max(abs(x - cell[0]), abs(z - cell[2])) <= 1:
            yield _spot_of(view, seat)


def _cells_of_builders(view: SeatView) -> Iterator[tuple[int, Sequence[int]]]:
    seen = view.observation
    for each in seen.get("seats") or seen["players"]:
        yield each["seat"], each["at"]


def _spot_of(view: SeatView, seat: int) -> str:
    return YOU if view.acts and seat == view.seat else f"seat-{seat}"


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
    """Return the data of the map that never change: its area, and the blueprint if the seat knows it."""
    blueprint = view.brief.get("blueprint")
    names = {kind: item_words(kind) for kind in blueprint["legend"].values()} if blueprint else {}
    return {
        "area": view.picture["area"],
        "box": view.picture.get("box"),
        "blueprint": blueprint,
        "by_block": view.brief.get(BY_BLOCK, False),
        "names": names,
        "words": cell_texts() if "size" in view.brief else {},
        **({"ask": asking_texts()} if _can_ask(view) else {}),
    }


def _can_ask(view: SeatView) -> bool:
    """Return whether a press on the map can ask others for blocks: some of them do not know the blueprint,
    this seat does, and somebody reads messages."""
    brief, talk = view.brief, view.talk
    knows = bool(brief.get(BY_BLOCK)) and KNOWN_BY in brief and "blueprint" in brief
    return knows and bool(set(talk.addressees) - set(talk.unread))


def _now(view: SeatView) -> dict[str, Json]:
    seen = view.observation
    return {
        "you": view.seat if view.acts else -1,
        "at": _own_cell(view),
        "animals": view.picture["animals"],
        "spots": [*_thing_spots(view), *_site(view), *_builders(view)],
        "level": seen.get("level"),
        "left": seen.get("left_by_level"),
        "pack": [[item, item_words(item), amount] for item, amount in own_items(view).items()],
        "day": [seen["steps_left"], view.brief.get("limit", view.brief.get("steps", 0))],
        "placed": list(_placed(view)),
        "placeable": [[item, item_words(item)] for item in view.picture.get("placeable", ())],
    }


def _placed(view: SeatView) -> Iterator[list[int]]:
    """Yield the blocks that builders are known to have placed in the last steps, as [step, seat, x, y, z],
    the oldest first."""
    for step in reversed(view.history[:PLACING_STEPS]):
        for event in step.events:
            verb, *words = event.data.get("macro") or [""]
            if event.kind == "done" and verb == "place" and event.seat is not None:
                yield [step.number, event.seat, *map(int, words[-3:])]


def _own_cell(view: SeatView) -> Sequence[int]:
    """Return the cell of the viewer: the seat whose map is shown."""
    seen = view.observation
    cell: Sequence[int] = seen["at"] if "at" in seen else seen["players"][view.seat if view.acts else 0]["at"]
    return cell


def _things(view: SeatView) -> Iterator[tuple[str, Sequence[int], int | None]]:
    """Yield the stations, and the nearest of each kind of block and animal, as (kind, cell, seat that uses
    it or None)."""
    seen = view.observation
    if "near" in seen:
        for each in (*seen["stations"], *seen["near"]):
            yield each["kind"], each["at"], each.get("used_by")
        return
    for kind, cell in view.brief["places"].items():
        yield kind, cell, None
    x, y, z = _own_cell(view)
    rank: Callable[[Json], Json] = rank_from((x, y, z))
    for kind, cells in view.brief["things"].items():
        yield kind, min(cells, key=rank), None


def _thing_spots(view: SeatView) -> Iterator[dict[str, Json]]:
    for kind, cell, user in _things(view):
        use = "" if user is None else gettext("used by {name}").format(name=view.players[user].name)
        station = kind in STATION_OF.values()
        name = item_words(kind)
        yield {"spot": kind, "kind": kind, "name": name, "at": cell, "use": use, "station": station}


def _site(view: SeatView) -> Iterator[dict[str, Json]]:
    """Yield the building site as a spot of the map. It is placed at the first cell that is known to differ
    from the blueprint or, if there is none, at the corner of the site."""
    seen = view.observation
    if "box" not in view.picture:
        return
    cell = view.picture["box"][0]
    if differences := seen.get("differences"):
        x, z, *_ = differences[0]
        cell = [x, seen["level"], z]
    yield {"spot": SITE, "kind": "", "name": gettext("Building site"), "at": cell}


def own_items(view: SeatView) -> Mapping[str, int]:
    """Return the items that the person's own builder holds; empty for a person who only watches."""
    return _items_of(view, view.seat) if view.acts else {}


def _items_of(view: SeatView, seat: int) -> Mapping[str, int]:
    """Return the items that a seat holds. Items that the viewer does not know of are left out."""
    seen = view.observation
    items: Mapping[str, int] = {}
    if "players" in seen:
        items = seen["players"][seat]["holds"]
    elif view.acts and seat == view.seat:
        items = seen["inventory"]
    return items


def _builders(view: SeatView) -> Iterator[dict[str, Json]]:
    """Yield the data of each builder for the map. They include up to three of the items that the builder
    is known to hold."""
    for seat, cell in _cells_of_builders(view):
        yield {
            "spot": _spot_of(view, seat),
            "seat": seat,
            "name": view.players[seat].name,
            "at": cell,
            "holds": list(_items_of(view, seat))[:3],
        }
