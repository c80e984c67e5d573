"""Compute how well raters agree on nominal codes: Cohen's kappa and Krippendorff's alpha."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import permutations

Values = Sequence[Hashable]


def percent_agreement(units: Iterable[Values]) -> float | None:
    """Return the share of pairs of values within units that are equal, from 0 to 1. Return None without a
    pair."""
    equal = pairs = 0
    for values, number in Counter(map(tuple, units)).items():
        for one, other in permutations(values, 2):
            equal, pairs = equal + number * (one == other), pairs + number
    return equal / pairs if pairs else None


def cohen_kappa(units: Iterable[Values]) -> float | None:
    """Return Cohen's kappa of two raters. Each unit has the values of the first and the second rater.

    Return None without units, or if both raters gave the same single value to all of them: then agreement by
    chance is 1. Source: Cohen (1960), Educational and Psychological Measurement 20, 37-46.
    """
    table = Counter((one, other) for one, other in units)
    total = sum(table.values())
    if not total:
        return None
    first, second = Counter[Hashable](), Counter[Hashable]()
    for (one, other), number in table.items():
        first[one] += number
        second[other] += number
    observed = sum(number for (one, other), number in table.items() if one == other)
    expected = sum(first[value] * second[value] for value in first)
    if expected == total * total:
        return None
    return (observed * total - expected) / (total * total - expected)


def krippendorff_alpha(units: Iterable[Values]) -> float | None:
    """Return Krippendorff's alpha for nominal values. Each unit has the values of the raters who rated it.

    Raters may be missing. Units with fewer than two values are left out. Return None if there is no pair of
    values, or only one value: then nothing can differ. Source: Krippendorff (2011), Computing Krippendorff's
    Alpha-Reliability, section C.
    """
    coincidences = Counter[tuple[Hashable, Hashable]]()
    for values, number in Counter(tuple(one) for one in units if len(one) > 1).items():
        for pair, times in Counter(permutations(values, 2)).items():
            coincidences[pair] += number * times / (len(values) - 1)  # type: ignore[assignment]
    totals = Counter[Hashable]()
    for (one, _), number in coincidences.items():
        totals[one] += number
    total = sum(totals.values())
    expected = total * total - sum(number * number for number in totals.values())
    if len(totals) < 2:
        return None
    differing = sum(number for (one, other), number in coincidences.items() if one != other)
    return 1 - (total - 1) * differing / expected
