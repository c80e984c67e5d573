"""What both seats know beforehand: the layout, what is ordered in it, and the timing, as JSON."""

from __future__ import annotations

from kitchen.contract.world import Json
from kitchen.worlds.overcooked.layout import Layout
from kitchen.worlds.overcooked.options import Options


def layout_brief(options: Options) -> dict[str, Json]:
    """Layout, orders, cooking, timing. `value` and `time` are as in a layout file, by ingredient."""
    layout, values = options.layout, options.values
    return {
        "layout": layout.code,
        "title": layout.title,
        "grid": list(layout.rows),
        "orders": _orders(layout),
        "value": layout.value if isinstance(layout.value, int) else dict(layout.value),
        "time": layout.time if isinstance(layout.time, int) else dict(layout.time),
        "cooking": values["cooking"],
        "ticks": values["ticks"],
        "clock": values["clock"],
        "tick_ms": values["tick_ms"],
    }


def _orders(layout: Layout) -> list[Json]:
    return [
        {
            "ingredients": list(soup),
            "points": layout.points(soup),
            "ticks": layout.ticks(soup),
            "bonus": soup in layout.bonus,
        }
        for soup in layout.orders
    ]
