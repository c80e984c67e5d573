"""Write an analysis as files: CSV tables, LaTeX, JSON, figures, a report, and the analysed rows.

CSV files are UTF-8 (RFC 4180) with full precision. Missing values are empty cells. The column `synthetic` is
1 if the analysis uses data of synthetic participants (programs). New columns are added at the end. A SHA-256
hash identifies the analysed rows.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kitchen.charts import chart_drawing
from kitchen.charts.chart_data import csv_bytes
from kitchen.contract.bootstrap_intervals import Interval
from kitchen.contract.decision_notes import READING_COLUMNS
from kitchen.infra.file_writing import write_atomically
from study.analysis.statistics.anova_and_tukey import Anova, Description, Pair
from study.analysis.statistics.apa_format import format_interval, format_number, format_p, format_share
from study.analysis.statistics.charts_by_measure import report_charts
from study.analysis.statistics.figure_texts import NO_TEXTS, FigureTexts
from study.analysis.statistics.markdown_report import markdown_report
from study.analysis.statistics.observations import AnalysisCondition, NotComputable
from study.analysis.statistics.process_counts import PROCESS_COLUMNS, PROCESS_FILE, process_rows
from study.analysis.statistics.result_rows import RELIABILITY, TESTS, reliability_rows, test_rows
from study.analysis.statistics.run_analysis import Analysis, MeasureResult, PlayedRound
from study.analysis.statistics.sample_composition import ConditionPlayers, ModelUsage, VersionUsed
from study.analysis.statistics.scripts.script_files import PYTHON_FILE, R_FILE, python_script, r_script
from study.analysis.statistics.within.result_types import WithinInterval
from study.design.analysis_plan import COVARIATE

LATEX_COLUMNS = ("main", "planned", "replication")
"""Roles of tests in the LaTeX table. Paired t tests and mixed models are added to it."""
MORE = ("paired t test", "linear mixed model")
NAMES = {"chi squared": "χ²", "eta squared": "η²", "omega squared": "ω²", "Hedges' g (paired)": "g"}
NAMES |= {"partial eta squared": "η²ₚ", "Kendall's W": "W"}
JOINED = re.compile(r"(?<!\\)\$\$")
"""The border between two adjacent math expressions."""
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
    """Return a LaTeX table of the rows (`test_rows`) that a paper reports. It shows the adjusted p value
    if there is one."""
    shown = [row for row in rows if row.get("role") in LATEX_COLUMNS or row.get("test") in MORE]
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
    p = format_p(row["p"] if adjusted is None else adjusted)
    return (
        f"{name}({dfs}) = {format_number(row['statistic'])}",
        p.removeprefix("p = ").removeprefix("p "),
        "" if adjusted is None else row.get("adjusted_by") or "",
        _effect(row),
    )


def _effect(row: Mapping[str, Any]) -> str:
    if row.get("effect") is None:
        return ""
    name = NAMES.get(row["effect_name"], row["effect_name"])
    if row["effect_name"] == "margin":
        return f"margin = {format_number(row['effect'])}"
    if row.get("effect_low") is None:
        return f"{name} = {format_share(row['effect'])}"
    return f"{name} = {format_number(row['effect'])} {format_interval(row['effect_low'], row['effect_high'])}"


VERSION = 1
"""Version of the layout of analysis.json; raised when readers would have to change."""

Row = dict[str, Any]

MEANS = ["measure", "measure_label", "condition", "condition_label", "n", "missing", "mean", "sd", "se"]
MEANS += ["ci_low", "ci_high", "median", "minimum", "maximum", "synthetic", "within_low", "within_high"]
MEANS += ["within_mean", "within_n", "bootstrap_low", "bootstrap_high"]
ANOVA = ["measure", "measure_label", "test", "f", "df_between", "df_within", "p", "ss_between", "ss_within"]
ANOVA += ["eta_squared", "omega_squared", "not_computable", "synthetic"]
TUKEY = ["measure", "measure_label", "test", "first", "first_label", "second", "second_label", "difference"]
TUKEY += ["ci_low", "ci_high", "p_adjusted", "hedges_g", "significant", "not_computable", "synthetic"]
TUKEY += ["difference_is"]
PLAYERS = ["condition", "condition_label", "coplayer", "provider", "model_asked", "model_named", "calls"]
PLAYERS += ["decisions", "chosen_by", "fallbacks", "fallbacks_why", "synthetic"]
PLAYERS += READING_COLUMNS


def has_rows(name: str, analysis: Analysis) -> bool:
    """Return True if the table `name` is written for this analysis. The tables of scales and of process
    counts are not written if they have no rows."""
    optional = {"reliability.csv": analysis.scales, PROCESS_FILE: analysis.process}
    return name not in optional or bool(optional[name])


def file_contents(analysis: Analysis, texts: FigureTexts = NO_TEXTS) -> Iterator[tuple[str, bytes]]:
    """Yield (name, bytes) of every file one by one, so that a page can stream them. `texts` has the titles
    and notes of figures that the researchers wrote."""
    for name, make in TABLES.items():
        if has_rows(name, analysis):
            yield name, make(analysis)
    for name, chart in report_charts(analysis.measures, texts).items():
        yield name, chart_drawing.draw_chart(chart)
    for name, make in WHOLE.items():
        yield name, make(analysis)


def write_files(analysis: Analysis, directory: Path) -> tuple[Path, ...]:
    """Write every file into the directory and return their paths. Each file is written completely or not at
    all.

    The directory is created if needed. The report is written last, so its presence means that all files
    exist. Raises OSError if a file cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    return tuple(write_atomically(directory / name, data) for name, data in file_contents(analysis))


def to_csv(columns: Sequence[str], rows: Iterable[Row]) -> bytes:
    """Return the rows as CSV. A cell is empty if the value is missing or None."""
    return csv_bytes(columns, ([row.get(column) for column in columns] for row in rows))


def means_rows(analysis: Analysis) -> list[Row]:
    """Return one row per measure and condition, with the mean and its intervals.

    The within-participant interval (Cousineau and Morey) and its mean use only participants with a value
    in every condition. The bootstrap interval draws participants with replacement, with all of their
    values.
    """
    return [
        {
            **_of(result),
            **_description(one),
            **_within(result.interval(one.condition)),
            **_bootstrap(result.bootstrap_interval(one.condition)),
        }
        for result in analysis.measures
        for one in result.descriptions
    ]


def _bootstrap(interval: Interval | None) -> Row:
    return {"bootstrap_low": interval[0], "bootstrap_high": interval[1]} if interval else {}


def _within(found: WithinInterval | None) -> Row:
    if not found:
        return {}
    ends = {"within_low": found.low, "within_high": found.high}
    return {**ends, "within_mean": found.mean, "within_n": found.n}


def anova_rows(analysis: Analysis) -> list[Row]:
    """Return one ANOVA row per measure."""
    return [{**_of(result), "test": "one-way ANOVA", **_anova(result.anova)} for result in analysis.measures]


def tukey_rows(analysis: Analysis) -> list[Row]:
    """Return one row per measure and pair of conditions. If the pairs of a measure cannot be compared, it
    has one row with the reason."""
    return [
        {**_of(result), "test": "Tukey HSD", **row} for result in analysis.measures for row in _tukey(result)
    ]


def player_rows(analysis: Analysis) -> list[Row]:
    """Return one row for each condition and each model that was called. A condition without models has one
    row.

    The numbers of decisions and fallbacks in each row are totals of the condition.
    """
    return [
        {**_condition_players(players), **(_model(model) if model else {}), "synthetic": analysis.synthetic}
        for players in analysis.players
        for model in players.models or (None,)
    ]


def _model(model: ModelUsage) -> Row:
    asked = {"provider": model.provider, "model_asked": model.asked}
    return {**asked, "model_named": model.named, "calls": model.calls}


def _named(column: str, condition: AnalysisCondition) -> Row:
    """Return two table cells: the condition's key in the column `column`, and its label in the column
    `column` + `_label`."""
    return {column: condition.key, f"{column}_label": condition.label}


def _condition_players(players: ConditionPlayers) -> Row:
    return {
        **_named("condition", players.condition),
        "coplayer": players.kind_words,
        "decisions": players.decisions,
        "chosen_by": "; ".join(f"{who} {number}" for who, number in players.chosen_by),
        "fallbacks": players.fallback_count,
        "fallbacks_why": "; ".join(f"{code} {number}" for code, number in players.fallbacks),
        **players.read.columns,
    }


def _of(result: MeasureResult) -> Row:
    return {
        "measure": result.measure.key,
        "measure_label": result.measure.label,
        "synthetic": result.synthetic,
    }


def _without(row: Row, *names: str) -> Row:
    return {name: value for name, value in row.items() if name not in names}


def _description(description: Description) -> Row:
    return {**_named("condition", description.condition), **_without(asdict(description), "condition")}


def _anova(anova: Anova | NotComputable) -> Row:
    if isinstance(anova, NotComputable):
        return {"not_computable": anova.because}
    return _without(asdict(anova), "without_data")


def _tukey(result: MeasureResult) -> list[Row]:
    if isinstance(result.tukey, NotComputable):
        return [{"not_computable": result.tukey.because}]
    return [_pair(pair) for pair in result.pairs]


def _pair(pair: Pair) -> Row:
    return {
        **_named("first", pair.first),
        **_named("second", pair.second),
        "difference": pair.difference,
        "ci_low": pair.ci_low,
        "ci_high": pair.ci_high,
        "p_adjusted": pair.p,
        "hedges_g": pair.g,
        "significant": pair.significant,
        "difference_is": "second minus first",
    }


def to_json(analysis: Analysis) -> bytes:
    """Return the whole analysis as one JSON object, without the values of participants. Missing numbers
    are null."""
    whole = {
        "version": VERSION,
        "synthetic": analysis.synthetic,
        "participants": len(analysis.participants),
        "synthetic_participants": len(analysis.synthetic_participants),
        "attrition": asdict(analysis.attrition) if analysis.attrition else None,
        "versions": [_version(one) for one in analysis.versions],
        "preregistered_only": analysis.preregistered,
        "warnings": analysis.warnings,
        "exclusions": [asdict(exclusion) for exclusion in analysis.exclusions],
        "conditions": [asdict(condition) for condition in analysis.conditions],
        "players": [asdict(players) for players in analysis.players],
        "measures": [_measure(result) for result in analysis.measures],
        "plan": asdict(analysis.plan),
        "tests": [
            {name: value for name, value in row.items() if value is not None} for row in test_rows(analysis)
        ],
        "reliability": reliability_rows(analysis),
        **({"between": asdict(analysis.between)} if analysis.between else {}),
        **({"process_counts": [asdict(one) for one in analysis.process]} if analysis.process else {}),
    }
    return (json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _version(used: VersionUsed) -> Row:
    return {
        **asdict(used.version),
        "participants": used.participants,
        "entered_before_freeze": used.early,
    }


def _measure(result: MeasureResult) -> Row:
    tukey = _tukey(result)
    return {
        **_without(asdict(result.measure), *([] if result.measure.unit else ["unit"])),
        "descriptions": [_description(description) for description in result.descriptions],
        "anova": _anova(result.anova),
        "tukey": tukey[0] if isinstance(result.tukey, NotComputable) else tukey,
        "without_data": [condition.key for condition in result.table.without_data()],
        "figure": result.figure_name,
        "assumptions": [asdict(one) for one in result.within.assumptions] if result.within else [],
        "intervals_within": [
            {**asdict(one), "condition": one.condition.key}
            for one in (result.within.intervals if result.within else ())
        ],
    }


TABLES: dict[str, Callable[[Analysis], bytes]] = {
    "means.csv": lambda analysis: to_csv(MEANS, means_rows(analysis)),
    "anova.csv": lambda analysis: to_csv(ANOVA, anova_rows(analysis)),
    "tukey.csv": lambda analysis: to_csv(TUKEY, tukey_rows(analysis)),
    "players.csv": lambda analysis: to_csv(PLAYERS, player_rows(analysis)),
    "tests.csv": lambda analysis: to_csv(TESTS, test_rows(analysis)),
    "tests.tex": lambda analysis: to_latex(test_rows(analysis)),
    "reliability.csv": lambda analysis: to_csv(RELIABILITY, reliability_rows(analysis)),
    PROCESS_FILE: lambda analysis: to_csv(
        PROCESS_COLUMNS, process_rows(analysis.process, synthetic=analysis.synthetic)
    ),
}
"""File name → function that makes this table. `has_rows` says which are written."""
WHOLE: dict[str, Callable[[Analysis], bytes]] = {
    "analysis.json": to_json,
    R_FILE: r_script,
    PYTHON_FILE: python_script,
    "report.md": lambda analysis: markdown_report(analysis).encode(),
}
"""Files with the complete analysis, and the scripts that reproduce its tests."""

ANALYSED_FILE = "analysed.csv"
COLUMNS = ["participant", "condition", "measure", "value", "order_position", "version", "before_freeze"]
COLUMNS += ["synthetic"]
ASIDE = "mixed_model_only"
"""Column that is 1 for participants who lack a condition: only the mixed model uses their values."""


def analysed_rows(analysis: Analysis) -> bytes:
    """Return one CSV row per participant, condition and measure, sorted by measure, participant and
    position. Planned covariates are columns, such as `covariate_age`."""
    rows = [row for result in analysis.measures for row in _rows(result)]
    names = {key: f"{COVARIATE}_{key}" for key in analysis.plan.covariates}
    for row in rows:
        own = analysis.covariates.get(row["participant"], {})
        row |= {name: own.get(key) for key, name in names.items()}
    columns = [*COLUMNS, ASIDE, *(["group"] if analysis.between else []), *names.values()]
    return to_csv(columns, rows)


def _rows(result: MeasureResult) -> list[Row]:
    marked = [(row, False) for row in result.table.observations] + [(row, True) for row in result.set_aside]
    ordered = sorted(marked, key=lambda one: (one[0].participant, one[0].order_position))
    names = (*COLUMNS, "group")
    return [{**{name: getattr(row, name) for name in names}, ASIDE: aside} for row, aside in ordered]


def analysed_rows_digest(analysis: Analysis) -> str:
    """Return the SHA-256 of `analysed_rows` as 64 hexadecimal digits. It equals the output of `sha256sum
    analysed.csv`."""
    return hashlib.sha256(analysed_rows(analysis)).hexdigest()


ROUNDS_FILE = "rounds.csv"


def played_rounds(analysis: Analysis) -> bytes:
    """Return one CSV row for each round that a participant played, in the order of play. The mixed models
    need it: some rounds have no value, and so no row in `analysed_rows`."""
    return to_csv(PlayedRound._fields, [one._asdict() for one in analysis.rounds])


ROWS: dict[str, Callable[[Analysis], bytes]] = {ANALYSED_FILE: analysed_rows, ROUNDS_FILE: played_rounds}
"""Files of participants' rows, which the scripts read together with tests.csv."""
