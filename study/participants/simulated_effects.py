"""Effects that synthetic participants are told to show, so that an analysis can be tested on known effects.
Plain Python.

An effect is written `ITEM:CONDITION=SHIFT`: keys of both, and a part of the item's scale::

    trust:two_dispatched=0.2
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping

KnownEffects = Mapping[str, Mapping[str, float]]
"""By item and condition: by what part of its scale answers are moved there."""
MIDDLE, MOST = 0.5, 0.5
"""Where every rating lies by itself, and how far it may be moved."""


def parse_effects(texts: Iterable[str]) -> dict[str, dict[str, float]]:
    """What these lines say; ValueError names the first that says nothing."""
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


def unknown_effect_key(known: KnownEffects, items: Collection[str], conditions: Collection[str]) -> str:
    """The first key of it that is no rating of a survey or no condition; empty if there is none."""
    named = [(key, items) for key in known] + [(key, conditions) for by in known.values() for key in by]
    return next((key for key, keys in named if key not in keys), "")


def expected_answer(known: KnownEffects, item: str, condition: str) -> float | None:
    """Where answers to this item lie there, as a part of its scale; None where nothing at all is known, and
    programs answer by what they went through. What is not named is answered alike in every condition."""
    return MIDDLE + known.get(item, {}).get(condition, 0.0) if known else None


def describe_effects(known: KnownEffects) -> str:
    """As in `trust: two_dispatched +0.2; fun: alone -0.1`."""
    return "; ".join(
        f"{item}: {', '.join(f'{condition} {shift:+g}' for condition, shift in by.items())}"
        for item, by in known.items()
    )
