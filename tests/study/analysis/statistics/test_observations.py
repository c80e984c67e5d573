"""What an analysis accepts, and how it says no."""

import math
from dataclasses import replace

import pytest

from study.analysis.statistics.observations import (
    AnalysisCondition,
    AnalysisError,
    DefinitionError,
    Measure,
    Observation,
    RowError,
)
from study.analysis.statistics.run_analysis import analyse

ROW = Observation("p1", "alone", "fun", 3.0, 1, False)
ALONE, TEAM = AnalysisCondition("alone", "Alone", 0), AnalysisCondition("team", "Team", 1)
FUN = Measure.likert("fun", "Fun")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (replace(ROW, condition="nowhere"), "unknown condition; known are alone, team"),
        (replace(ROW, measure="nothing"), "unknown measure; known are fun"),
        (replace(ROW, participant=""), "the participant has no name"),
        (replace(ROW, value=6.0), "6.0 is off the scale (1 to 5)"),
        (replace(ROW, value=0.0), "0.0 is off the scale (1 to 5)"),
        (replace(ROW, value=math.nan), "nan is no usable number; a missing value is None"),
        (replace(ROW, value=-math.inf), "-inf is no usable number"),
        (replace(ROW, order_position=0), "order position 0 is below 1"),
    ],
)
def test_a_row_that_fits_nothing_is_named(row: Observation, words: str) -> None:
    with pytest.raises(RowError) as error:
        analyse([row], [ALONE, TEAM], [FUN])
    assert str(error.value).endswith(words) or words in str(error.value)
    assert repr(row.participant) in str(error.value)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (ROW, "is there twice"),
        (replace(ROW, condition="team", synthetic=True), "synthetic in some rows and not in others"),
        (replace(ROW, measure="trust", order_position=2), "order position 2, but 1 in another row"),
    ],
)
def test_a_row_that_contradicts_another_is_named(row: Observation, words: str) -> None:
    with pytest.raises(RowError, match=words):
        analyse([ROW, row], [ALONE, TEAM], [FUN, Measure.likert("trust", "Trust")])


@pytest.mark.parametrize(
    ("conditions", "measures", "words"),
    [
        ([], [FUN], "at least one condition"),
        ([ALONE], [], "at least one measure"),
        ([ALONE, ALONE], [FUN], "condition key 'alone' is used 2 times"),
        ([ALONE, replace(TEAM, label="Alone")], [FUN], "condition label 'Alone' is used 2 times"),
        ([ALONE], [FUN, FUN], "measure key 'fun' is used 2 times"),
    ],
)
def test_conditions_and_measures_must_be_told_apart(
    conditions: list[AnalysisCondition], measures: list[Measure], words: str
) -> None:
    with pytest.raises(DefinitionError, match=words):
        analyse([], conditions, measures)


@pytest.mark.parametrize("key", ["", "../etc", "a b", "a/b", ".hidden", "x" * 65])
def test_a_key_that_is_no_file_name_is_refused(key: str) -> None:
    with pytest.raises(DefinitionError, match="key"):
        Measure.rate(key, "Rate")


@pytest.mark.parametrize("label", ["", "  ", "two\nlines"])
def test_a_label_that_cannot_be_printed_is_refused(label: str) -> None:
    with pytest.raises(DefinitionError, match="label"):
        AnalysisCondition("alone", label, 0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Measure("m", "M", "likert", 1.0), "a likert needs an upper bound"),
        (lambda: Measure("m", "M", "rate", 0.0, 100.0), "a rate goes from 0 to 1"),
        (lambda: Measure("m", "M", "count", 0.0, 0.0), "is not above"),
        (lambda: Measure("m", "M", "shade", 0.0, 1.0), "kind 'shade'"),  # type: ignore[arg-type]
        (lambda: Measure.likert("m", "M", 5, ("no", "perhaps", "yes")), "3 scale labels"),
    ],
)
def test_a_scale_that_contradicts_itself_is_refused(make: object, words: str) -> None:
    assert callable(make)
    with pytest.raises(DefinitionError, match=words):
        make()


def test_a_scale_is_told_in_words() -> None:
    assert Measure.rate("r", "R").scale == "0 to 1"
    assert Measure.count("c", "C").scale == "0 or more"
    assert Measure.likert("l", "L", 7, ("never", "always")).scale == "1 = never to 7 = always"
    assert Measure.likert("l", "L", 3, ("no", "so so", "yes")).scale == "1 = no to 3 = yes"


def test_every_refusal_is_an_analysis_error() -> None:
    assert issubclass(RowError, AnalysisError)
    assert issubclass(DefinitionError, AnalysisError)
