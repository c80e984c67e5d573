"""Write an experiment's results as tables (Markdown, LaTeX, CSV), and as a one-line summary.

Rows are intervals between orders (tasks), and columns are levels. A cell shows completed/total orders. An
extra row has the collaboration score (CoS), which is the mean success rate over the intervals. The published
result and the upper bound (`≤`) follow each value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kitchen.contract.benchmark import ComparisonBenchmark, PairingBenchmark
from kitchen.contract.decision_notes import READING_COLUMNS
from kitchen.experiments import comparison_tables
from kitchen.experiments.comparison_tables import TextTable, comparison_line, pairing_line
from kitchen.experiments.episode_rows import DecisionMakers, counts_text, csv_bytes
from kitchen.experiments.experiment_results import (
    CellResult,
    IntervalResult,
    decision_makers_of,
    group_by_agents,
    mean_of,
    means_of,
)
from kitchen.experiments.experiment_setup import DEFAULT_BENCHMARK, ExperimentSetup
from kitchen.experiments.organisation_results import organisation_text_tables
from kitchen.experiments.published_tables import published_text_tables
from kitchen.words.english_text import counted_noun


def summary_line(results: Sequence[CellResult]) -> str:
    """Return `mean CoS 2 agents 0.xxx, …; above the paper's GPT-4 in N of M cells`. CoS is the collaboration
    score. A cell is a variant of agents, a level and a number of agents.

    M is the number of cells with a published value or, if there is none, of all cells. If some cells were not
    played, each mean is followed by the number of played cells. Other benchmarks have a line about their own
    metric.
    """
    ground = results[0].column.ground
    if isinstance(ground, PairingBenchmark):
        return pairing_line(results)
    if isinstance(ground, ComparisonBenchmark):
        return comparison_line(results)
    means = [
        f"{counted_noun(number, 'agent')} {mean_score(cells)}"
        for number, cells in group_by_agents(results).items()
    ]
    compared = [each for each in results if each.paper_cos is not None] or list(results)
    above = sum(each.is_above is True for each in compared)
    return f"mean CoS {', '.join(means)}; above the paper's GPT-4 in {above} of {len(compared)} cells"


def mean_score(cells: Sequence[CellResult]) -> str:
    """Return the mean collaboration score of these cells (variant, level and number of agents) as text. If
    some were not played, the number of played cells is added: `(3 of 5 cells)`."""
    means = means_of(cells)
    part = 0 < means.played < means.cells
    return score_text(means.ours) + (f" ({means.played} of {means.cells} cells)" if part else "")


def score_text(value: float | None) -> str:
    """Return a score with three decimals; `n/a` for None."""
    return "n/a" if value is None else f"{value:.3f}"


RESULT_COLUMNS = ["variant", "level", "class", "agents", "alpha", "episodes", "completed", "total", "share"]
RESULT_COLUMNS += [
    "paper_completed",
    "paper_total",
    "paper_share",
    "bound_completed",
    "bound_share",
    "above_paper",
    "decisions",
    "fallbacks",
    "fallback_codes",
    "played_by",
    "model",
    "failed_episodes",
    *READING_COLUMNS,
]

ALPHA = "\N{GREEK SMALL LETTER ALPHA}"
FALLBACKS_ROW = "fallbacks"
COS_ROW = "CoS"
"""Value of the column `alpha` in rows with the mean over the intervals."""


def result_text_tables(setup: ExperimentSetup, results: Sequence[CellResult]) -> list[TextTable]:
    """Return all result tables of an experiment. Published tables come after the main ones. Tables about
    organisations come last, if the episodes have a goal."""
    grouped = published_text_tables(results) if isinstance(setup.ground, ComparisonBenchmark) else []
    return [*_metric_text_tables(setup, results), *grouped, *organisation_text_tables(setup, results)]


def _metric_text_tables(setup: ExperimentSetup, results: Sequence[CellResult]) -> list[TextTable]:
    """Return the main result tables, usually one for each number of agents. The tables of a published preset
    have all their rows in one table."""
    if isinstance(setup.ground, PairingBenchmark):
        return comparison_tables.pairing_text_tables(results)
    if isinstance(setup.ground, ComparisonBenchmark):
        return comparison_tables.comparison_text_tables(results)
    if setup.preset in {"table7", "table8"}:
        return [_grid(f"Table {setup.preset[-1]} of the paper: {DEFAULT_BENCHMARK.preset_level}", results)]
    tables = []
    for agents, cells in group_by_agents(results).items():
        notes = tuple(_others(setup, agents)) if setup.preset == "table6" else ()
        tables.append(_grid(f"{agents} agents" if agents > 1 else "1 agent", cells, notes))
    return tables


def _grid(title: str, cells: Sequence[CellResult], notes: tuple[str, ...] = ()) -> TextTable:
    alphas = [each.alpha for each in cells[0].intervals]
    body = [
        (f"{ALPHA} = {alpha:g}", *(_counts(cell.intervals[place]) for cell in cells), "")
        for place, alpha in enumerate(alphas)
    ]
    scores = (
        COS_ROW,
        *(_beside(each.cos, each.paper_cos, each.bound_cos) for each in cells),
        _average(cells),
    )
    who = decision_makers_of(cells)
    below = [(FALLBACKS_ROW, *(each.players.share for each in cells), who.share), *_replies(cells, who)]
    names = [each.column.variant.label or each.column.level for each in cells]
    return TextTable(title, ("", *names, "average"), (*body, scores, *below), notes, str(who))


def _replies(cells: Sequence[CellResult], who: DecisionMakers) -> Iterator[tuple[str, ...]]:
    """Yield two table rows that tell how well model replies could be parsed. Yield nothing if no model was
    called."""
    read = [*(each.players.read for each in cells), who.read]
    if who.read.decisions:
        yield ("not read whole", *(f"{each.part + each.none} of {each.decisions}" for each in read))
        yield ("invalid commands", *(f"{each.invalid} of {each.commands}" for each in read))


def _counts(interval: IntervalResult) -> str:
    known = [f"{interval.paper[0]}/{interval.paper[1]}"] if interval.paper else []
    known += [f"≤ {score_text(interval.bound.share)}"]
    return f"{interval.completed}/{interval.total} ({', '.join(known)})"


def _beside(ours: float | None, papers: float | None, bound: float | None) -> str:
    known = [score_text(papers)] if papers is not None else []
    known += [f"≤ {score_text(bound)}"] if bound is not None else []
    return f"{score_text(ours)} ({', '.join(known)})" if known else score_text(ours)


def _average(cells: Sequence[CellResult]) -> str:
    """Return a text with the mean score of this experiment and that of the paper, for the same cells. The
    number of cells is added if some have no result. A cell is a variant, a level and a number of agents."""
    means = means_of(cells)
    if means.there == means.played:
        return f"{_beside(means.ours, means.paper, means.bound)}{_of(means.played, means.cells)}"
    ours = f"{_beside(means.ours, None, means.bound)}{_of(means.played, means.cells)}"
    if not means.there:
        return ours
    return f"{ours}; {_beside(means.ours_there, means.paper, None)}{_of(means.there, means.cells)}"


def _of(number: int, cells: int) -> str:
    return f" over {number} of {cells}" if 0 < number < cells else ""


def _others(setup: ExperimentSetup, agents: int) -> Iterator[str]:
    """Yield the collaboration score (CoS) of the other models in the paper's Table 6. It is computed over
    the same intervals as in this experiment."""
    for model, counts in DEFAULT_BENCHMARK.other_models(agents).items():
        if counts and set(setup.alphas) <= set(counts):
            shares = [counts[alpha][0] / counts[alpha][1] for alpha in setup.alphas]
            yield f"{model} in the paper: CoS {score_text(mean_of(shares))}"


RESULT_NOTE = (
    f"completed/total {DEFAULT_BENCHMARK.counted}, summed over the episodes; in brackets the paper's "
    f"GPT-4, and what no "
    f"dispatcher can pass ({DEFAULT_BENCHMARK.bound_told}). Fallbacks: decisions that another than "
    f"the co-player made."
)


def table_note(setup: ExperimentSetup) -> str:
    """Return the note that explains the numbers in these tables."""
    if isinstance(setup.ground, PairingBenchmark):
        return comparison_tables.PAIRING_NOTE
    return comparison_tables.COMPARISON_NOTE if isinstance(setup.ground, ComparisonBenchmark) else RESULT_NOTE


def tables_markdown(tables: Sequence[TextTable], line: str, note: str = RESULT_NOTE) -> str:
    """Return all tables as Markdown, with the note above and the summary line below them."""
    parts = ["# Agents alone", note]
    for grid in tables:
        lines = [f"| {' | '.join(row)} |" for row in (grid.head, ("---",) * len(grid.head), *grid.rows)]
        parts += [f"## {grid.title}", "\n".join(lines), grid.played_by, *grid.notes]
    return "\n\n".join([*parts, line]) + "\n"


def tables_latex(tables: Sequence[TextTable], line: str, note: str = RESULT_NOTE) -> str:
    """Return all tables as LaTeX (with the package booktabs), with the note and the summary line."""
    return "\n\n".join([*(_tabular(grid, note) for grid in tables), f"% {line}"]) + "\n"


def _tabular(grid: TextTable, note: str) -> str:
    body = [" & ".join(_escaped(text) for text in row) + r" \\" for row in (grid.head, *grid.rows)]
    names = [row[0] for row in grid.rows]
    below = 1 + (names.index(COS_ROW) if COS_ROW in names else len(names))
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{_escaped(f'{grid.title}: {note} {grid.played_by}')}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(grid.head) - 1)}}}",
            r"\toprule",
            body[0],
            r"\midrule",
            *body[1:below],
            *([r"\midrule", *body[below:]] if body[below:] else []),
            r"\bottomrule",
            r"\end{tabular}",
            *(f"% {_escaped(note)}" for note in grid.notes),
            r"\end{table}",
        ]
    )


_LATEX = {"\\": r"\textbackslash{}", ALPHA: r"$\alpha$", "≤": r"$\leq$", "~": r"\textasciitilde{}"}
_LATEX |= {"\N{PLUS-MINUS SIGN}": r"$\pm$"}
_LATEX |= {"^": r"\textasciicircum{}"} | {sign: f"\\{sign}" for sign in "_%&#${}"}


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)


def results_csv(results: Sequence[CellResult]) -> bytes:
    """Return a CSV file with a row for each cell and interval between orders. Another row for each cell has
    its collaboration score (`CoS`). A cell is a variant, a level and a number of agents."""
    ground = results[0].column.ground
    if isinstance(ground, PairingBenchmark):
        return comparison_tables.pairing_csv(results)
    if isinstance(ground, ComparisonBenchmark):
        return comparison_tables.comparison_csv(results)
    return csv_bytes(RESULT_COLUMNS, (row for cell in results for row in _rows(cell)))


def _rows(cell: CellResult) -> Iterator[list[object]]:
    """Yield a row for each interval between orders in a cell, then the row with its collaboration score
    (`CoS`)."""
    variant, level, agents = cell.column.key
    for values in _values(cell):
        yield [variant, level, DEFAULT_BENCHMARK.class_of(level), agents, *values]


def _values(cell: CellResult) -> Iterator[list[object]]:
    for each in cell.intervals:
        done, total = each.paper or (None, None)
        share = done / total if done is not None and total else None
        ours = [each.alpha, each.episodes, each.completed, each.total, each.share]
        yield [*ours, done, total, share, each.bound.completed, each.bound.share, None, *_who(each.players)]
    episodes = sum(each.episodes for each in cell.intervals)
    above = None if cell.is_above is None else int(cell.is_above)
    scores: list[object] = [COS_ROW, episodes, None, None, cell.cos]
    yield [*scores, None, None, cell.paper_cos, None, cell.bound_cos, above, *_who(cell.players)]


def _who(players: DecisionMakers) -> list[object]:
    """Return the last cells of a table row, from the column `decisions` on. The cells say who made the
    decisions."""
    models, codes = ", ".join(sorted(players.models)), counts_text(players.fallbacks)
    numbers = [players.decisions.total(), players.fallbacks.total()]
    return [*numbers, codes, players.names, models, players.failed, *players.read.columns.values()]
