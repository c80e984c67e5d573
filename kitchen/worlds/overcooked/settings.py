"""Declare the settings and metrics of Overcooked, find the layout that the settings select, and count the
actions behind the metrics. No Django."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from kitchen.contract.world import Json, Metric, Setting, SettingsError, clean_settings
from kitchen.words.gettext_without_django import ngettext_noop
from kitchen.worlds.overcooked.game_rules import FILLED, LAID, POTTED, SERVED, STARTED, TOOK, InteractEffect
from kitchen.worlds.overcooked.layout import OWN_LAYOUT_CODE, Layout, parse_own_layout, shipped_layouts

COOKING_AUTO, COOKING_INTERACT = "auto", "interact"
PACE_TICK, DRAWN = "tick", "drawn"


def _declared_settings() -> Iterator[Setting]:
    """Yield the settings of `settings.toml`, with the layouts as choices."""
    shipped = ((code, layout.title) for code, layout in shipped_layouts().items())
    layouts = (*shipped, (OWN_LAYOUT_CODE, "One of your own, below"))
    for entry in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["setting"]:
        choices = layouts if entry["name"] == "layout" else tuple(map(tuple, entry.pop("choices", ())))
        yield Setting(**entry, choices=choices)


SETTINGS = tuple(_declared_settings())


@dataclass(frozen=True, slots=True)
class Options:
    """Validated settings, and the layout that they select."""

    values: Mapping[str, Json]
    layout: Layout

    @property
    def starts_itself(self) -> bool:
        """Return whether a pot starts to cook by itself as soon as it has three ingredients."""
        return bool(self.values["cooking"] == COOKING_AUTO)


def read_options(given: Mapping[str, Json]) -> Options:
    """Return the options for these settings. Raises SettingsError for an unknown setting or a wrong value.

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


METRICS = (
    Metric(
        "points",
        "count",
        "Points",
        meaning="Points for soups that were delivered",
        so_far="Points so far",
        unit="points",
        words=ngettext_noop("point", "points"),
    ),
    Metric(
        "soups",
        "count",
        "Soups",
        meaning="Deliveries that were worth something",
        so_far="Deliveries so far that were worth something",
        unit="soups",
        words=ngettext_noop("soup delivered", "soups delivered"),
    ),
    *(
        Metric(
            f"deliveries_seat_{seat}",
            "count",
            f"Deliveries by seat {seat}",
            meaning=f"Soups that seat {seat} delivered, worthless ones too",
            so_far=f"Soups that seat {seat} delivered so far",
            unit="soups",
            better="neither",
        )
        for seat in (0, 1)
    ),
    *(
        Metric(
            f"idle_ticks_seat_{seat}",
            "count",
            f"Idle ticks of seat {seat}",
            meaning=f"Ticks in which seat {seat} stayed, or had no command",
            so_far=f"Ticks so far in which seat {seat} stayed, or had no command",
            unit="ticks",
            better="lower",
        )
        for seat in (0, 1)
    ),
    Metric(
        "collisions",
        "count",
        "Collisions",
        meaning="Ticks in which one seat kept the other from moving, or both each other",
        so_far="Ticks so far in which seats kept each other from moving",
        unit="ticks",
        better="lower",
    ),
)

IDLE = "idle"
COUNTED_ACTIONS = (TOOK, LAID, POTTED, STARTED, FILLED, SERVED, IDLE)
"""Actions that are counted for each seat."""


@dataclass(slots=True)
class EpisodeCounts:
    """The counts of one episode so far: points, soups, collisions, and each seat's actions."""

    points: int = 0
    soups: int = 0
    collisions: int = 0
    seats: tuple[dict[str, int], dict[str, int]] = field(
        default_factory=lambda: (dict.fromkeys(COUNTED_ACTIONS, 0), dict.fromkeys(COUNTED_ACTIONS, 0))
    )

    def add(self, seat: int, deed: InteractEffect) -> None:
        """Count an `interact` command of this seat that had the effect `deed`."""
        self.seats[seat][deed.did] += 1
        self.points += deed.points
        self.soups += deed.points > 0

    def score(self) -> dict[str, Json]:
        """Return the value of every metric by name, and each seat's counted actions (`counts`)."""
        return {
            "points": self.points,
            "soups": self.soups,
            **{f"deliveries_seat_{seat}": counts[SERVED] for seat, counts in enumerate(self.seats)},
            **{f"idle_ticks_seat_{seat}": counts[IDLE] for seat, counts in enumerate(self.seats)},
            "collisions": self.collisions,
            "counts": [dict(counts) for counts in self.seats],
        }

    def to_json(self) -> dict[str, Json]:
        """Return all counts as JSON for the stored state."""
        return {**asdict(self), "seats": [dict(counts) for counts in self.seats]}
