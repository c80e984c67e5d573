"""Compute the efficiency scores TES and ITES of Collab-Overcooked from the commands that a cook carried out.

TES, the trajectory efficiency score, compares a cook's commands (macros) with known good sequences of macros,
the reference trajectories. ITES is the change of TES when further macros are added. PC, the progress
completeness, is the mean TES of both cooks at the end. Source: Collab-Overcooked (ACL 2025), equations 1 to
4::

    TES(h)     = max over g of (1 + beta^2) D(h, g) / (m + beta^2 n);  0 for an empty h
    ITES(a, h) = TES(h followed by a) - TES(h)

The sequence h has the n macros that were carried out. The sequence a has further macros, and beta is 0.95.
The sequence g is a reference trajectory of m macros. D(h, g) is the largest number of macros from the start
of g that appear in h in the same order. Gaps are allowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kitchen.contract.world import Command

BETA_SQUARED = (361, 400)
"""beta^2 = 0.95^2 as numerator and denominator, so that a whole trajectory scores exactly 1."""
POSITIVE = 1e-9
"""An ITES above this counts as positive: TES is a quotient of floats."""


def matched_prefix(history: Iterable[Command], reference: Sequence[Command]) -> int:
    """Return how many leading elements of `reference` appear in `history` in the same order, with gaps
    allowed. This is D(h, g) in the formula of the TES."""
    met = 0
    for macro in history:
        if met < len(reference) and macro == reference[met]:
            met += 1
    return met


def tes(history: Sequence[Command], references: Iterable[Sequence[Command]]) -> float:
    """Return the trajectory efficiency score (TES) of a history, from 0 to 1. The history is scored
    against each reference; the highest score is returned."""
    if not history:
        return 0.0
    beta, one = BETA_SQUARED
    return max(
        (one + beta) * matched_prefix(history, each) / (one * len(each) + beta * len(history))
        for each in references
    )


def ites(
    added: Sequence[Command], history: Sequence[Command], references: Sequence[Sequence[Command]]
) -> float:
    """Return how much the efficiency score (TES) of `history` increases if the commands `added` are
    appended to it. It can be negative."""
    return tes([*history, *added], references) - tes(history, references)


def helps(
    added: Sequence[Command], history: Sequence[Command], references: Sequence[Sequence[Command]]
) -> bool:
    """Return whether the commands `added` increase the efficiency score (TES) of `history`. False if
    `added` is empty."""
    return bool(added) and ites(added, history, references) > POSITIVE
