"""Mark test cases that repeat a proof with other values. `make test-all` runs them, `make test` does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest


def nightly(*cases: Any) -> list[Any]:
    """Return these cases, marked, for `@pytest.mark.parametrize("seed", [1, *nightly(2, 3)])`. A case of
    several arguments is a tuple."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.nightly)
        for case in cases
    ]


def thinned(cases: Sequence[Any], each: int) -> list[Any]:
    """Return all of these cases. One of `each`, beginning with the first, is not marked as nightly."""
    return [case if not number % each else nightly(case)[0] for number, case in enumerate(cases)]
