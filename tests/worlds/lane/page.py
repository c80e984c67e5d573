"""Define the page of the test world Lane: ten cells in a row, on a grid page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kitchen.contract.page_view import SeatView
from kitchen.contract.world import Json
from kitchen.pages.grid_page import ARROW_PAD, FLOOR_LETTER, CellLook, GridPage
from tests.worlds.lane.world import CELLS


class LanePage(GridPage):
    """The page of the world Lane. Several seats may be on one cell; keys move a seat west and east."""

    title = "The lane"
    rules = ("Walk as far as you can.",)
    looks = {FLOOR_LETTER: CellLook("cell", walkable=True)}
    pad = {verb: ARROW_PAD[verb] for verb in ("west", "stay", "east")}
    names = {"you": "your cell, from 0"}
    reasons = {"wall": "there is a wall"}
    blocking = False

    def rows(self, brief: Mapping[str, Json]) -> Sequence[str]:
        """Return the grid: one row of floor."""
        return (FLOOR_LETTER * CELLS,)

    def seen(self, view: SeatView) -> Mapping[str, Json]:
        """Return the text beside the row: the position of this seat."""
        return {"you": view.observation["you"]}


PAGE = LanePage()
