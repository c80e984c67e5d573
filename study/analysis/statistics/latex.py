"""Tests as a table for LaTeX (packages booktabs and longtable), numbers as the report writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from study.analysis.statistics.format import interval, number, p_value, share

SHOWN = ("main", "planned", "replication")
"""Roles of rows that stand in the table, beside paired t tests and mixed models."""
MORE = ("paired t test", "linear mixed model")
NAMES = {"chi squared": "χ²", "eta squared": "η²", "omega squared": "ω²", "Hedges' g (paired)": "g"}
NAMES |= {"partial eta squared": "η²ₚ", "Kendall's W": "W"}
JOINED = re.compile(r"(?<!\\)\$\$")
"""Between two pieces of mathematics."""
SIGNS = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"\N{MINUS SIGN}": "$-$", "<": "$<$", ">": "$>$", "\N{EN DASH}": "--"}
    | {"χ": r"$\chi$", "²": r"$^2$", "ₚ": r"$_p$", "η": r"$\eta$", "ω": r"$\omega$"}
)
HEAD = r"""\begin{longtable}{llllllr}
\toprule
Measure & Test & Term & Statistic & $p$ & Adjusted by & Effect \\
\midrule
\endhead
"""
END = r"""\bottomrule
\end{longtable}
"""


def to_latex(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """The rows of `lines.test_rows` that a paper shows; p is the adjusted one where there is one."""
    shown = [row for row in rows if row.get("role") in SHOWN or row.get("test") in MORE]
    return (HEAD + "".join(map(_line, shown)) + END).encode()


def _line(row: Mapping[str, Any]) -> str:
    cells = [row["measure_label"], row["test"], row.get("term") or "", *_numbers(row)]
    return " & ".join(JOINED.sub("", str(cell).translate(SIGNS)) for cell in cells) + " \\\\\n"


def _numbers(row: Mapping[str, Any]) -> tuple[str, str, str, str]:
    if row.get("not_computable"):
        return "not computable", "", "", ""
    name = NAMES.get(row["statistic_name"], row["statistic_name"])
    dfs = ", ".join(f"{row[df]:.2f}".removesuffix(".00") for df in ("df1", "df2") if row.get(df) is not None)
    adjusted = row.get("p_adjusted")
    p = p_value(row["p"] if adjusted is None else adjusted)
    return (
        f"{name}({dfs}) = {number(row['statistic'])}",
        p.removeprefix("p = ").removeprefix("p "),
        "" if adjusted is None else row.get("adjusted_by") or "",
        _effect(row),
    )


def _effect(row: Mapping[str, Any]) -> str:
    if row.get("effect") is None:
        return ""
    name = NAMES.get(row["effect_name"], row["effect_name"])
    if row.get("effect_low") is None:
        return f"{name} = {share(row['effect'])}"
    return f"{name} = {number(row['effect'])} {interval(row['effect_low'], row['effect_high'])}"
