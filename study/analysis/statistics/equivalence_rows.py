"""Convert equivalence tests of planned contrasts into rows for files, and into sentences in APA style."""

from __future__ import annotations

from typing import Any

from study.analysis.statistics.apa_format import format_interval, format_number, format_p
from study.analysis.statistics.observations import NotComputable
from study.analysis.statistics.within.equivalence_results import Equivalence

EQUIVALENCE = "equivalence (two one-sided t tests)"


def equivalence_sentence(name: str, found: Equivalence | NotComputable) -> str:
    """Return the verdict of an equivalence test of the contrast `name`, with its numbers."""
    if isinstance(found, NotComputable):
        return f"{name}: equivalence is {found}."
    verdict = "is equivalent to 0" if found.equivalent else "was not shown to be equivalent to 0"
    df = format_number(found.df).removesuffix(".00")
    return (
        f"{name}: the difference {verdict} within \N{PLUS-MINUS SIGN}{format_number(found.below.bound)}, "
        f"t({df}) = {format_number(found.decisive.t)}, {format_p(found.p)}, "
        f"90% CI {format_interval(found.ci_low, found.ci_high)} (two one-sided tests)."
    )


def equivalence_row(name: str, found: Equivalence | NotComputable) -> dict[str, Any]:
    """Return the row of an equivalence test, with the columns of `result_rows.TESTS`. The statistic and p are
    those of the one-sided test with the larger p. The interval of the difference is that of 90 %."""
    shared = {"role": "planned", "test": EQUIVALENCE, "term": name, "apa": equivalence_sentence(name, found)}
    if isinstance(found, NotComputable):
        return {**shared, "not_computable": found.because}
    return {
        **shared,
        "statistic_name": "t",
        "statistic": found.decisive.t,
        "df1": found.df,
        "p": found.p,
        "effect_name": "margin",
        "effect": found.below.bound,
        "difference": found.difference,
        "difference_low": found.ci_low,
        "difference_high": found.ci_high,
    }
