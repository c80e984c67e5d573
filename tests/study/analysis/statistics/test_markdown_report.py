"""The files of an analysis: what stands in the report, that tables can be read back, that writing is safe."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from kitchen.charts import chart_drawing
from study.analysis.statistics.anova_and_tukey import Tukey
from study.analysis.statistics.apa_format import escape_markdown, format_interval
from study.analysis.statistics.markdown_report import contrasts_table, markdown_report, means_table
from study.analysis.statistics.observations import AnalysisCondition, Measure, NotComputable
from study.analysis.statistics.result_files import TABLES, file_contents, write_files
from study.analysis.statistics.run_analysis import Analysis, analyse
from study.analysis.statistics.sample_composition import Attrition
from study.analysis.statistics.within.result_types import Family, UncomputedContrast
from tests.study.analysis.statistics.test_analysis import FIVE, RATE, demo, made_up, paper_like, rows_of

NAMES = [
    "means.csv",
    "anova.csv",
    "tukey.csv",
    "players.csv",
    "tests.csv",
    "tests.tex",
    "figure_success.svg",
    "figure_success_raincloud.svg",
    "figure_success_participants.svg",
    "figure_success_replication.svg",
    "figure_enjoyment.svg",
    "figure_enjoyment_raincloud.svg",
    "figure_enjoyment_participants.svg",
    "figure_enjoyment_replication.svg",
    "figure_trust.svg",
    "figure_trust_raincloud.svg",
    "figure_trust_participants.svg",
    "figure_trust_replication.svg",
    "analysis.json",
    "reproduce.R",
    "reproduce.py",
    "report.md",
]


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return demo()


@pytest.fixture(scope="module")
def files(analysis: Analysis) -> dict[str, bytes]:
    return dict(file_contents(analysis))


def rows(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


def test_the_report_of_the_papers_numbers_reads_like_the_paper() -> None:
    text = markdown_report(analyse(rows_of(paper_like(), RATE), FIVE, [RATE]))
    assert "Success rate differed between conditions, F(4, 55) = 28.11, p < .001, η² = .67, ω² = .64." in text
    assert "- 12 participants analysed, of whom 0 synthetic." in text
    assert "- 5 conditions: Alone, Team of 2, Team of 3, Team of 4 and Random team." in text
    assert "- No row was left out." in text
    assert "Random team above Alone by 0.40" in text


def test_the_report_says_that_the_test_replicates_the_paper_and_what_it_assumes(analysis: Analysis) -> None:
    text = markdown_report(analysis)
    assert "replicates the analysis of the human study of MindAgent" in text
    assert "observations are treated as independent, although every participant played every" in text


def test_tables_have_both_intervals_say_which_minus_which_and_are_never_empty(analysis: Analysis) -> None:
    text = markdown_report(analysis)
    assert "| SE | 95% CI | 95% CI within |" in text
    assert "| First | Second | Second less first |" in text
    alike = Family((UncomputedContrast("B less A", NotComputable("no_variance_within", "all are alike")),))
    assert contrasts_table(alike).startswith("B less A: ")


def test_tables_of_shares_have_bootstrap_intervals_and_say_what_they_are() -> None:
    share = analyse(rows_of(paper_like(), RATE), FIVE, [RATE]).measures[0]
    lines = means_table(share).splitlines()
    assert "| 95% CI within | 95% CI, bootstrap | Median |" in lines[0]
    low, high = share.bootstrap_interval(share.descriptions[0].condition) or (0.0, 0.0)
    mean = share.descriptions[0].mean
    assert mean is not None and low < mean < high and format_interval(low, high) in lines[2]
    assert lines[-1].startswith("95% CI, bootstrap: percentiles of the mean over 1,000 samples")
    rating = replace(share, table=replace(share.table, measure=Measure.likert("ease", "Ease")))
    assert "bootstrap" not in means_table(rating)


def test_a_synthetic_report_says_so_before_anything_else(analysis: Analysis) -> None:
    lines = markdown_report(analysis).split("\n\n")
    assert lines[1].startswith("> **Synthetic data.** 12 of 12 participants analysed here are bots.")
    assert "Synthetic data" not in markdown_report(demo(synthetic=False))


def test_the_report_counts_what_was_left_out() -> None:
    groups = paper_like()
    groups["random"][11] = None
    analysed = analyse(rows_of(groups, RATE), FIVE, [RATE])
    assert "1 participant left out (5 rows): no value in every condition" in markdown_report(analysed)
    kept = analyse(rows_of(groups, RATE), FIVE, [RATE], keep_incomplete=True)
    assert "1 row of 1 participant without a value left out." in markdown_report(kept)


def test_the_report_says_who_never_came_into_the_rows() -> None:
    text = markdown_report(
        analyse(rows_of(paper_like(), RATE), FIVE, [RATE], attrition=Attrition(14, 12, 2, 1))
    )
    assert "- 14 participants entered and did not withdraw: 12 completed the study, 2 did not" in text
    assert "- 1 participant of the study withdrew; their data are erased." in text
    assert "- No row of those who completed the study was left out." in text


def test_the_report_of_nobody_says_why_there_is_nothing() -> None:
    text = markdown_report(analyse([], FIVE, [RATE]))
    assert "the one-way ANOVA is not computable because no condition has a value." in text
    assert "nan" not in text.lower()


def test_the_report_names_conditions_without_values(analysis: Analysis) -> None:
    assert "Alone had no values on this measure and took no part." in markdown_report(analysis)


def test_every_figure_of_the_report_is_among_the_files(files: dict[str, bytes]) -> None:
    named = re.findall(r"\]\((figure_.*?)\)", files["report.md"].decode())
    assert named == [name for name in files if name.endswith(".svg")]


def test_labels_cannot_break_the_tables_of_the_report() -> None:
    odd = [AnalysisCondition("a", "A | *b* <script>", 0), AnalysisCondition("b", "B", 1)]
    text = markdown_report(analyse(rows_of({"a": [0.1, 0.2], "b": [0.3, 0.5]}, RATE), odd, [RATE]))
    assert "| A \\| \\*b\\* \\<script> |" in text
    assert escape_markdown("p < .05 [0.1, 0.2]") == "p < .05 [0.1, 0.2]"


def test_means_can_be_read_back_in_full_precision(analysis: Analysis, files: dict[str, bytes]) -> None:
    found = [d for result in analysis.measures for d in result.descriptions]
    for row, description in zip(rows(files["means.csv"]), found, strict=True):
        assert row["condition"] == description.condition.key
        assert (row["mean"] or None) == (None if description.mean is None else repr(description.mean))
        assert (row["ci_low"] or None) == (None if description.ci_low is None else repr(description.ci_low))


def test_means_have_a_bootstrap_interval_over_participants() -> None:
    values = [0.1 * number for number in range(10)]
    conditions = [AnalysisCondition("a", "A", 0), AnalysisCondition("b", "B", 1)]

    def means(*groups: list[float]) -> list[dict[str, str]]:
        given = dict(zip("ab", groups, strict=True))
        return rows(dict(file_contents(analyse(rows_of(given, RATE), conditions, [RATE])))["means.csv"])

    rising, same = means(values, [0.5] * 10)
    half = 1.96 * float(rising["sd"]) * 0.9**0.5 / 10**0.5
    assert float(rising["bootstrap_low"]) == pytest.approx(0.45 - half, abs=0.02)
    assert float(rising["bootstrap_high"]) == pytest.approx(0.45 + half, abs=0.02)
    assert same["bootstrap_low"] == same["bootstrap_high"] == "0.5"
    assert {row["bootstrap_low"] for row in means([0.1], [0.2])} == {""}, "one value has no interval"


def test_pairs_can_be_read_back_in_full_precision(analysis: Analysis, files: dict[str, bytes]) -> None:
    pairs = [pair for result in analysis.measures for pair in result.pairs]
    read = rows(files["tukey.csv"])
    assert [float(row["p_adjusted"]) for row in read] == [pair.p for pair in pairs]
    assert [row["significant"] for row in read] == [str(int(pair.significant)) for pair in pairs]


def test_every_row_of_every_table_says_whether_it_is_synthetic(files: dict[str, bytes]) -> None:
    tables = [name for name in files if name.endswith(".csv")]
    assert len(tables) == 5
    assert all(row["synthetic"] == "1" for name in tables for row in rows(files[name]))
    people = demo(synthetic=False)
    assert all(row["synthetic"] == "0" for name in tables for row in rows(TABLES[name](people)))


def test_tables_are_rfc_4180_in_utf_8() -> None:
    odd = [AnalysisCondition("a", 'Zoë, "the" robot', 0), AnalysisCondition("b", "B", 1)]
    data = dict(file_contents(analyse(rows_of({"a": [0.1], "b": [0.3]}, RATE), odd, [RATE])))["means.csv"]
    assert '"Zoë, ""the"" robot"'.encode() in data
    assert data.count(b"\r\n") == data.count(b"\n") == 3
    assert rows(data)[0]["sd"] == ""


def test_what_is_not_computable_is_a_row_with_its_reason() -> None:
    files = dict(
        file_contents(analyse(rows_of({"a": [0.1], "b": [0.3]}, RATE), [*map(_named, "ab")], [RATE]))
    )
    for name in ("anova.csv", "tukey.csv"):
        (row,) = rows(files[name])
        assert row["not_computable"] == "A has only one value"
        assert row.get("p", "") == row.get("p_adjusted", "") == ""
    assert json.loads(files["analysis.json"])["measures"][0]["anova"] == {
        "not_computable": "A has only one value"
    }


def _named(key: str) -> AnalysisCondition:
    return AnalysisCondition(key, key.upper(), ord(key))


def test_the_json_holds_the_whole_analysis(analysis: Analysis, files: dict[str, bytes]) -> None:
    whole = json.loads(files["analysis.json"])
    assert (whole["version"], whole["participants"], whole["synthetic"]) == (1, 12, True)
    success = whole["measures"][0]
    assert (success["anova"]["df_between"], success["anova"]["df_within"]) == (4, 55)
    assert isinstance(analysis.measures[0].tukey, Tukey)
    assert success["tukey"][0]["p_adjusted"] == analysis.measures[0].tukey.pairs[0].p
    assert whole["measures"][2]["without_data"] == ["alone"]


def test_the_same_analysis_gives_the_same_files(files: dict[str, bytes]) -> None:
    assert dict(file_contents(made_up())) == files


@pytest.mark.usefixtures("without_drawings")
def test_writing_makes_the_directory_and_nothing_but_the_files(analysis: Analysis, tmp_path: Path) -> None:
    place = tmp_path / "new" / "place"
    paths = write_files(analysis, place)
    assert [path.name for path in paths] == NAMES
    assert {path.name for path in place.iterdir()} == set(NAMES)
    write_files(analysis, place)
    assert {path.name for path in place.iterdir()} == set(NAMES)


def test_a_write_that_fails_leaves_the_old_file_and_no_draft(
    analysis: Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "means.csv").write_text("old")

    def refuse(self: Path, target: Path) -> Path:
        raise OSError("disk is full")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match="disk is full"):
        write_files(analysis, tmp_path)
    assert (tmp_path / "means.csv").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["means.csv"]


def test_a_figure_that_fails_leaves_no_report(
    analysis: Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> bytes:
        raise RuntimeError("no fonts")

    monkeypatch.setattr(chart_drawing, "draw_chart", fail)
    with pytest.raises(RuntimeError, match="no fonts"):
        write_files(analysis, tmp_path)
    assert not (tmp_path / "report.md").exists()


def test_counts_and_seven_point_scales_are_told_in_their_own_words() -> None:
    trust = Measure.likert("trust", "Trust", 7, ("never", "always"))
    text = markdown_report(analyse(rows_of({"a": [1, 7], "b": [2, 6]}, trust), [*map(_named, "ab")], [trust]))
    assert "Scale: 1 = never to 7 = always." in text
