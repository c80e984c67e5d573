"""Declare the settings of the Overcooked world, and find the layout they select. Plain Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kitchen.contract.world import Json, Setting, SettingsError, clean_settings
from kitchen.worlds.overcooked.layout import OWN_LAYOUT_CODE, Layout, parse_own_layout, shipped_layouts

COOKING_AUTO, COOKING_INTERACT = "auto", "interact"
PACE_TURN, PACE_TICK = "turn", "tick"
TIME_FROM_LAYOUT, DRAWN = "layout", "drawn"

SETTINGS = (
    Setting(
        "layout",
        "choice",
        "Layout",
        "cramped_room",
        help="The grid and what is ordered in it.",
        choices=(
            *((code, layout.title) for code, layout in shipped_layouts().items()),
            (OWN_LAYOUT_CODE, "One of your own, below"),
        ),
    ),
    Setting(
        "own_layout",
        "text",
        "A layout of your own",
        "",
        help="Played if it is chosen above. A layout file has title, grid, orders, bonus, value, time.",
        maximum=4000,
        lines=12,
    ),
    Setting(
        "cooking",
        "choice",
        "Cooking",
        COOKING_AUTO,
        help="Layouts with tomatoes are played in the second way only.",
        choices=(
            (COOKING_AUTO, "A pot starts by itself when it holds three"),
            (COOKING_INTERACT, "A pot is started with empty hands, and takes one to three"),
        ),
    ),
    Setting("ticks", "int", "Ticks of an episode", 400, minimum=1, maximum=2000),
    Setting(
        "clock",
        "choice",
        "Clock",
        PACE_TURN,
        choices=(
            (PACE_TURN, "A tick happens when everybody has chosen"),
            (PACE_TICK, "A tick happens every so many milliseconds"),
        ),
    ),
    Setting(
        "tick_ms",
        "int",
        "Milliseconds of a tick",
        167,
        help="Of no effect where ticks wait for everybody.",
        minimum=100,
        maximum=2000,
    ),
    Setting(
        "start",
        "choice",
        "Where the seats start",
        TIME_FROM_LAYOUT,
        choices=((TIME_FROM_LAYOUT, "Where the layout has them"), (DRAWN, "On cells that are drawn")),
    ),
)


@dataclass(frozen=True, slots=True)
class Options:
    """Validated settings with the layout that they select."""

    values: Mapping[str, Json]
    layout: Layout

    @property
    def starts_itself(self) -> bool:
        """Return whether a pot with three ingredients starts without a command."""
        return bool(self.values["cooking"] == COOKING_AUTO)


def read_options(given: Mapping[str, Json]) -> Options:
    """Validate settings and return the options. Raise SettingsError for a wrong or unknown setting.

    If the layout has tomatoes and `cooking` is not given, `cooking` becomes `interact`.
    """
    values = clean_settings(SETTINGS, given)
    layout = (
        parse_own_layout(values["own_layout"])
        if values["layout"] == OWN_LAYOUT_CODE
        else shipped_layouts()[values["layout"]]
    )
    if layout.has_tomatoes and values["cooking"] == COOKING_AUTO:
        if "cooking" in given:
            raise SettingsError(
                f"cooking: {layout.code} has tomatoes, and with them a pot is started with empty hands"
                f" ({COOKING_INTERACT!r}, not {COOKING_AUTO!r})"
            )
        values["cooking"] = COOKING_INTERACT
    return Options(values, layout)
