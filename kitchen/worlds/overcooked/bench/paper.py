"""ProAgent's Table 1, *as printed*: for comparison, and never what a stand-in is said to reach."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

from kitchen.contract.world import Json

DATA = Path(__file__).with_name("data") / "proagent.json"


class Printed(NamedTuple):
    """Mean points, and what stands behind the ± in the paper, which calls it two things."""

    points: float
    spread: float


@cache
def paper() -> Json:
    """The data file."""
    return json.loads(DATA.read_text(encoding="utf-8"))


def table(layout: str, seat: int) -> dict[str, Printed]:
    """Every algorithm in this seat of a layout, beside all the others; nothing where the paper has none."""
    cells = paper()["points"].get(layout, {}).get(str(seat), ())
    return {name: Printed(*cell) for name, cell in zip(paper()["algorithms"], cells, strict=False)}
