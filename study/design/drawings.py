"""What is to be minded of what is drawn for a world. Imports no models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kitchen.contract.canvas import CAUTION
from kitchen.contract.world import Json
from kitchen.registry.names import UnknownNameError
from kitchen.registry.worlds import get_canvas, get_kit


def drawn_cautions(world: str, settings: Mapping[str, Json]) -> Iterator[str]:
    """In whole sentences; nothing for what does not count, cannot be played, or has no world."""
    try:
        names = [*get_kit(world).canvases]
    except UnknownNameError:
        return
    for name in names:
        canvas = get_canvas(world, name)
        if canvas and settings.get(canvas.belongs[0]) == canvas.belongs[1]:
            told = canvas.told(settings.get(name, ""), settings)
            yield from (remark.words for remark in told if remark.kind == CAUTION)
