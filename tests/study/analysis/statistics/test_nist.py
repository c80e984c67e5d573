"""The one-way sets of NIST's Statistical Reference Datasets, as scipy brings them along, against their
certified values: to 9 digits where double precision holds the data."""

from pathlib import Path

import pytest
import scipy.stats

from study.analysis.statistics.anova_and_tukey import Anova, one_way_anova
from tests.study.analysis.statistics.test_analysis import table

FOLDER = Path(scipy.stats.__file__).parent / "tests" / "data" / "nist_anova"
DIGITS = dict.fromkeys(("SmLs07", "SmLs08", "SmLs09"), 3)
"""Values with 13 digits before what differs are no closer in doubles than 1e-4: F keeps three digits."""


def read(path: Path) -> tuple[dict[str, list[float]], dict[str, float]]:
    """The values by treatment, and the certified numbers."""
    lines = path.read_text(encoding="utf-8").splitlines()
    between = next(line.split() for line in lines if line.startswith("Between"))
    within = next(line.split() for line in lines if line.startswith("Within"))
    r_squared = next(line.split()[-1] for line in lines if "Certified R-Squared" in line)
    certified = {"df": between[-4], "ss": between[-3], "f": between[-1], "df_error": within[-3]}
    start = max(i for i, line in enumerate(lines) if line.startswith("Data:")) + 1
    groups: dict[str, list[float]] = {}
    for line in lines[start:]:
        if cells := line.split():
            groups.setdefault(cells[0], []).append(float(cells[1]))
    return groups, {k: float(v) for k, v in {**certified, "ss_error": within[-2], "r2": r_squared}.items()}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.dat")), ids=lambda path: path.stem)
def test_certified_values(path: Path) -> None:
    groups, certified = read(path)
    found = one_way_anova(table(*groups.values()))
    assert isinstance(found, Anova)
    assert (found.df_between, found.df_within) == (certified["df"], certified["df_error"])
    close = 10.0 ** -DIGITS.get(path.stem, 9)
    assert found.ss_between == pytest.approx(certified["ss"], rel=close)
    assert found.ss_within == pytest.approx(certified["ss_error"], rel=close)
    assert found.f == pytest.approx(certified["f"], rel=close)
    assert found.eta_squared == pytest.approx(certified["r2"], rel=close)


def test_all_eleven_sets_are_there() -> None:
    assert len(list(FOLDER.glob("*.dat"))) == 11
