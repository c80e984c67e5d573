"""Mark test cases that repeat a proof with other values. `make test-all` runs them, `make test` does not."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import pytest

from kitchen.registry.world_registry import WORLDS


def nightly(*cases: Any) -> list[Any]:
    """Mark these cases as nightly, for `@pytest.mark.parametrize("seed", [1, *nightly(2, 3)])`, and return
    them. A case with several arguments is a tuple."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.nightly)
        for case in cases
    ]


def thinned(cases: Sequence[Any], each: int) -> list[Any]:
    """Return all of these cases. Every `each`-th case, beginning with the first, runs always; the others are
    marked as nightly."""
    return [case if not number % each else nightly(case)[0] for number, case in enumerate(cases)]


def alike_thinned(cases: Sequence[Any], key: Callable[[Any], Hashable]) -> list[Any]:
    """Return all of these cases. Of the cases with equal keys, the first and the last run always; the others
    are marked as nightly."""
    ends: dict[Hashable, tuple[Any, Any]] = {}
    for case in cases:
        ends[key(case)] = (ends.get(key(case), (case,))[0], case)
    return [case if case in ends[key(case)] else nightly(case)[0] for case in cases]


def rules_of(world: str) -> str:
    """Return the module of a world's kit. Worlds of one module share most of their rules. For the worlds of
    tests, return the name."""
    return WORLDS.get(world, world).partition(":")[0]


def worlds_thinned(worlds: Sequence[str]) -> list[Any]:
    """Return all of these worlds. Of worlds that share their rules, two run always."""
    return alike_thinned(worlds, rules_of)


def pairs_thinned(pairs: Sequence[tuple[str, str]]) -> list[Any]:
    """Return all of these (co-player, world) pairs. Of a co-player's worlds that share their rules, two run
    always."""
    return alike_thinned(pairs, lambda pair: (pair[0], rules_of(pair[1])))
