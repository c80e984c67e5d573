"""The scripts that reproduce tests.csv from the exported files alone."""

from __future__ import annotations

import csv
import io
import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random

import pytest

from study.analysis.statistics.observations import AnalysisCondition, Measure, Observation
from study.analysis.statistics.result_files import ROWS, TABLES, WHOLE
from study.analysis.statistics.result_rows import test_rows as rows_of
from study.analysis.statistics.run_analysis import Analysis, analyse
from study.analysis.statistics.scripts.script_files import PYTHON_FILE, R_FILE, r_literal
from study.design.analysis_plan import AnalysisPlan, parse_contrasts
from tests.nightly import nightly
from tests.study.analysis.statistics.test_factorial_analysis import analysed
from tests.study.analysis.statistics.test_planned_covariates import studied

ORDERS = ((0, 1, 3, 2), (1, 2, 0, 3), (2, 3, 1, 0), (3, 0, 2, 1))
LABELS = ('Alone "x"', "Team \\ é", "Three", "Zürich")


def within() -> Analysis:
    """Four conditions within people, with gaps, a rating, and names that need escapes."""
    chance, rows = Random(3), []
    for n in range(14):
        own = chance.gauss(0, 1)
        for place, c in enumerate(ORDERS[n % 4][: 2 if n == 13 else 4], 1):
            x = own + 0.8 * (c == 3) + 0.3 * (c == 2) + 0.1 * place + chance.gauss(0, 0.8)
            gap = None if (n, c) == (4, 1) else 10 + x + chance.gauss(0, 1)
            rating = min(5.0, max(1.0, float(round(3 + x))))
            for key, value in (("y", x), ("trust", rating), ("time", gap)):
                rows.append(Observation(f"p{n:02}", f"c{c}", key, value, place, False))
    measures = [Measure.number("y", "Y", None, None), Measure.likert("trust", "Trust")]
    measures.append(Measure.number("time", "Time", None, None))
    conditions = [AnalysisCondition(f"c{i}", label, i) for i, label in enumerate(LABELS)]
    text = "H1: c3 1, c0 -1/2, c1 -1/2\nH2 [trust] ±0.4 d: c0 -1, c3 1"
    return analyse(rows, conditions, measures, plan=AnalysisPlan("repeated", "holm", parse_contrasts(text)))


def mixed() -> Analysis:
    """Two groups between people, three levels within them, and a contrast of the interaction."""
    text = "H1 [score]: planner_fast 1, random_fast -1, planner_slow -1, random_slow 1\n"
    text += "H2 [other] ±0.5: planner_fast 1, planner_slow -1"
    return analysed({"planner_fast": 2.0}, between=True, contrasts=text)


def fraction() -> Analysis:
    """Five of the six cells of two factors within people, and contrasts of the mixed model."""
    text = "H1: planner_fast 1, random_fast -1\nH2: model_slow 1, model_fast -1"
    effect = {"planner_fast": 2.0}
    return analysed(effect, between=False, main="mixed", without="model_slow", contrasts=text)


def covariance() -> Analysis:
    """Two groups between people, a covariate, and a contrast with a margin."""
    return studied(rounds=1, contrasts="H1 ±0.5 d: helped_easy 1, plain_easy -1")


MORE: dict[str, Callable[[], Analysis]] = {
    "fraction": fraction,
    "covariance": covariance,
    "covariates": lambda: studied(rounds=3, main="mixed"),
}
"""Analyses whose output of R is stored, too."""


def written(analysis: Analysis, folder: Path) -> Path:
    """Write the scripts and what they need, and nothing else."""
    scripts = {name: WHOLE[name] for name in (PYTHON_FILE, R_FILE)}
    for name, make in {**ROWS, "tests.csv": TABLES["tests.csv"], **scripts}.items():
        (folder / name).write_bytes(make(analysis))
    return folder


PYTHON, R = (sys.executable, "-I", PYTHON_FILE), ("Rscript", R_FILE)
OUTPUT = Path(__file__).parent / "r" / "reproduce_output.txt"


def run(folder: Path, command: Sequence[str] = PYTHON) -> tuple[int, list[str]]:
    """Run a script outside the project, isolated from its modules. Return the exit code and the lines."""
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={"OPENBLAS_NUM_THREADS": "1", "PATH": os.environ["PATH"]},
    )
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def run_here(folder: Path) -> tuple[int, list[str]]:
    """Run the Python script in this process, which has loaded the libraries. Return the exit code and the
    lines."""
    said, errors, code = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, chdir(folder), redirect_stdout(said), redirect_stderr(errors):
        patch.setattr(sys, "argv", [PYTHON_FILE])
        try:
            runpy.run_path(PYTHON_FILE, run_name="__main__")
        except SystemExit as end:
            code = int(end.code or 0)
    assert errors.getvalue() == ""
    return code, said.getvalue().splitlines()


def test_the_python_script_reproduces_a_study_within_people(tmp_path: Path) -> None:
    code, lines = run_here(written(within(), tmp_path))
    assert (code, len(lines)) == (0, 1)
    assert lines[0].startswith("87 of 87 rows of tests.csv reproduced")


def test_the_python_script_reproduces_factors_and_names_a_number_that_differs(tmp_path: Path) -> None:
    file = written(mixed(), tmp_path) / "tests.csv"
    with file.open(newline="") as stream:
        head, *rows = csv.reader(stream)
    place = next(i for i, row in enumerate(rows) if row[head.index("test")] == "factorial mixed model")
    column = head.index("statistic")
    rows[place][column] = repr(float(rows[place][column]) * (1 + 3e-6))
    with file.open("w", newline="") as stream:
        csv.writer(stream).writerows([head, *rows])
    code, lines = run_here(tmp_path)
    assert code == 1
    assert lines[0].startswith("differs: score: factorial mixed model, pace (statistic is ")
    assert lines[1:] == [lines[-1]]
    assert lines[-1].startswith(f"{len(rows) - 1} of {len(rows)} rows of tests.csv reproduced")


def test_a_row_that_is_not_computed_has_its_number_and_the_reason(tmp_path: Path) -> None:
    file = written(covariance(), tmp_path) / "tests.csv"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(",equal slopes of covariates,", ",unknown test,", 1), encoding="utf-8")
    code, lines = run(tmp_path)
    number = next(i for i, line in enumerate(text.splitlines(), 1) if "equal slopes of covariates" in line)
    where = "unknown test,  (all columns: this script does not compute it)"
    assert lines[0] == f"not computed here: row {number}, score: {where}"
    assert (code, len(lines)) == (0, 3)
    assert lines[2].startswith("17 of 18 rows of tests.csv reproduced"), (
        "the rest of the analysis of covariance"
    )


@pytest.mark.parametrize(("name", "number"), [("mixed", 40), *nightly(("within", 87))])
def test_the_r_script_reproduces_a_study_if_r_is_installed(tmp_path: Path, name: str, number: int) -> None:
    if not shutil.which("Rscript"):
        pytest.skip("Rscript is not installed")
    code, lines = run(written({"mixed": mixed, "within": within}[name](), tmp_path), R)
    if any("is missing" in line for line in lines):
        pytest.skip("; ".join(lines))
    assert (code, len(lines)) == (0, 1), lines
    assert lines[0].startswith(f"{number} of {number} rows of tests.csv reproduced")


def test_the_stored_output_of_r_is_about_the_same_number_of_rows() -> None:
    stored = re.findall(r"^(\d+) of (\d+) rows of tests.csv", OUTPUT.read_text(), re.MULTILINE)
    numbers = [
        sum(not row.get("not_computable") for row in rows_of(one()))
        for one in (within, mixed, *MORE.values())
    ]
    assert stored == [(str(number), str(number)) for number in numbers]


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ('a "b" \\ é\n', '"a \\"b\\" \\\\ \\U000000E9\\U0000000A"'),
        ({"a-b": 1.5, "c": []}, 'list("a-b" = 1.5, "c" = character(0))'),
        (["x", "y"], 'c("x", "y")'),
        ([["x", 2]], 'list(list("x", 2))'),
        (None, "NULL"),
    ],
)
def test_values_become_r_code(value: object, code: str) -> None:
    assert r_literal(value) == code
