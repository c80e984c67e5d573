"""Mark test cases that repeat a proof with other values. `make test-all` runs them, `make test` does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest


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
