"""Williams squares: every condition at every position, and directly after every other one, equally often.

E. J. Williams (1949), Experimental designs balanced for the estimation of residual effects of treatments,
Australian Journal of Scientific Research A 2, 149-168. An even number of conditions takes one square, an odd
number a pair of squares, the second being the first one read backwards.
"""

from __future__ import annotations

from collections.abc import Sequence

from study.design.orders.base import OrderSequence, numbered


class Balanced:
    """Williams squares for any number of conditions."""

    label = "Balanced (Williams squares)"
    meaning = (
        "Every condition comes equally often at every position and directly after every other condition, as "
        "soon as a block is full."
    )

    def problem(self, n: int) -> str:
        """There is a square for every number of conditions."""
        return ""

    def block(self, n: int) -> int:
        """n sequences, or 2 n if n is odd; 1 for one condition."""
        return 2 * n if n % 2 and n > 1 else n

    def sequences(self, conditions: Sequence[str]) -> tuple[OrderSequence, ...]:
        """The square, or the pair of squares."""
        n = len(conditions)
        square = [[conditions[(place + row) % n] for place in _first_row(n)] for row in range(n)]
        mirrored = [row[::-1] for row in square] if self.block(n) > n else []
        return numbered([*square, *mirrored])


def _first_row(n: int) -> list[int]:
    """0, 1, n-1, 2, n-2, ...: the steps from each to the next are all different modulo n (n even)."""
    return [0, *((place + 1) // 2 if place % 2 else n - place // 2 for place in range(1, n))]
