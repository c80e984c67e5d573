"""Parse the effects that synthetic participants' answers should have, to test whether an analysis finds them.

Synthetic participants are programs. An effect shifts their mean answer to an item (question) in one
condition. It is written `ITEM:CONDITION=SHIFT`. SHIFT is a fraction of the item's scale::

    trust:two_dispatched=0.2
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping

KnownEffects = Mapping[str, Mapping[str, float]]
"""Shift of the answers by item and condition, as a fraction of the item's scale."""
MIDDLE, MOST = 0.5, 0.5
"""Mean of every rating without an effect, and the largest shift; both as fractions of the scale."""


def parse_effects(texts: Iterable[str]) -> dict[str, dict[str, float]]:
    """Parse effects, one per text, and return the shifts by item and condition. Raises ValueError for the
    first invalid text."""
    found: dict[str, dict[str, float]] = {}
    for text in texts:
        named, _, number = text.partition("=")
        item, _, condition = named.partition(":")
        shift = _shift(number)
        if not (item and condition) or shift is None:
            raise ValueError(
                f"{text!r} is not ITEM:CONDITION=SHIFT, with a shift from -{MOST} to {MOST} of the scale"
            )
        found.setdefault(item, {})[condition] = shift
    return found


def _shift(number: str) -> float | None:
    try:
        shift = float(number)
    except ValueError:
        return None
    return shift if math.isfinite(shift) and abs(shift) <= MOST else None


def unknown_effect_key(effects: KnownEffects, items: Collection[str], conditions: Collection[str]) -> str:
    """Return the first key in `effects` that is not in `items` or `conditions`. Return an empty string if
    there is none."""
    named = [(key, items) for key in effects] + [(key, conditions) for by in effects.values() for key in by]
    return next((key for key, keys in named if key not in keys), "")


def expected_answer(effects: KnownEffects, item: str, condition: str) -> float | None:
    """Return the expected mean answer to this item in this condition, as a fraction of the scale. An item
    without an effect has the same mean in every condition.

    Return None if `effects` is empty: synthetic participants then answer by what happened in the episode.
    """
    return MIDDLE + effects.get(item, {}).get(condition, 0.0) if effects else None


def describe_effects(effects: KnownEffects) -> str:
    """Return the effects as text, such as `trust: two_dispatched +0.2; fun: alone -0.1`."""
    return "; ".join(
        f"{item}: {', '.join(f'{condition} {shift:+g}' for condition, shift in by.items())}"
        for item, by in effects.items()
    )
