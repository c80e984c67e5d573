"""What the guide says of a layout, in words. Plain Python."""

from __future__ import annotations

from collections.abc import Mapping

from kitchen.contract.world import Json
from kitchen.worlds.overcooked.layout import COUNTER, is_floor
from kitchen.worlds.overcooked.words import duration, furniture, listed


def handbook(brief: Mapping[str, Json]) -> Mapping[str, Json]:
    """Orders, furniture by letter, and how long all lasts."""
    ticking = brief["clock"] == "tick"
    letters = dict.fromkeys(letter for row in brief["grid"] for letter in row if not is_floor(letter))
    return {
        "orders": [
            {
                "parts": list(each["ingredients"]),
                "soup": listed(each["ingredients"]),
                "points": each["points"],
                "time": duration(each["ticks"], brief),
                "bonus": each["bonus"],
            }
            for each in brief["orders"]
        ],
        "places": [(letter, furniture(letter)) for letter in letters if letter != COUNTER],
        "whole": duration(brief["ticks"], brief),
        "ticking": ticking,
        "starts_itself": brief["cooking"] == "auto",
    }
