"""Declare the settings of the Overcooked world, and find the layout that the settings select."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kitchen.contract.declared_settings import Setting, clean_settings
from kitchen.contract.world import Json
from kitchen.contract.world_errors import SettingsError
from kitchen.worlds.overcooked.layout import (
    MAX_OWN_CHARACTERS,
    OWN_LAYOUT_CODE,
    OWN_SETTING,
    Layout,
    parse_own_layout,
    shipped_layouts,
)

COOKING_AUTO, COOKING_INTERACT = "auto", "interact"
PACE_TICK, DRAWN = "tick", "drawn"


def _declared_settings() -> Iterator[Setting]:
    """Yield the settings of `settings.toml`, with the layouts as choices."""
    shipped = ((code, layout.title) for code, layout in shipped_layouts().items())
    layouts = (*shipped, (OWN_LAYOUT_CODE, "One of your own, below"))
    for entry in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["setting"]:
        if entry["name"] == OWN_SETTING:
            entry["maximum"] = MAX_OWN_CHARACTERS
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
