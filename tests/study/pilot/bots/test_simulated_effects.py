"""Known effects: an analysis of programs that were told them finds them, and nothing where there is none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from study.analysis.statistics.observations import AnalysisCondition, Measure, Observation
from study.analysis.statistics.result_rows import test_rows as rows_of
from study.analysis.statistics.run_analysis import Analysis, analyse
from study.design.analysis_plan import AnalysisPlan, PlannedContrast
from study.participants.simulated_effects import (
    describe_effects,
    expected_answer,
    parse_effects,
    unknown_effect_key,
)
from study.pilot.bots.simulated_person import Experience, Person

KNOWN = parse_effects(["trust:two=0.2", "trust:alone=-0.1", "fun:three=-0.25"])
KEYS = ("alone", "two", "three")
CONDITIONS = [AnalysisCondition(key, key.title(), place) for place, key in enumerate(KEYS)]
RATINGS = ["trust", "fun", "enjoyment", "assisting", "dependability", "predictability"]
PLAN = AnalysisPlan(
    correction="holm",
    contrasts=(
        PlannedContrast("two above alone", {"alone": -1.0, "two": 1.0}),
        PlannedContrast("three above alone", {"alone": -1.0, "three": 1.0}),
    ),
)


def observations() -> Iterator[Observation]:
    """What 48 people of other tempers and experiences answer, in orders that balance positions."""
    for number in range(1, 49):
        person = Person(5, number)
        for episode in range(1, 4):
            condition = KEYS[(number + episode) % 3]
            gone_through = Experience(teammates=KEYS.index(condition), success=0.9, expected=0.5)
            for item in RATINGS:
                known = expected_answer(KNOWN, item, condition)
                value = person.answer(item, range(1, 8), gone_through, episode=episode, known=known)
                yield Observation(person_code(number), condition, item, value, episode, synthetic=True)


def person_code(number: int) -> str:
    return f"p{number:02}"


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    measures = [Measure.likert(key, key.title(), 7) for key in RATINGS]
    return analyse(list(observations()), CONDITIONS, measures, plan=PLAN)


def test_true_effects_are_found_and_nothing_among_measures_made_equal(analysis: Analysis) -> None:
    main = {row["measure"]: row["p_adjusted"] for row in rows_of(analysis) if row["role"] == "main"}
    assert {key for key, p in main.items() if p < 0.05} == {"trust", "fun"}


def test_effects_are_found_in_the_direction_in_which_they_are(analysis: Analysis) -> None:
    planned = {
        (row["measure"], row["term"]): row["difference"] if row["p_adjusted"] < 0.05 else 0.0
        for row in rows_of(analysis)
        if row["role"] == "planned" and row["measure"] in KNOWN
    }
    assert planned["trust", "two above alone"] == pytest.approx(0.3 * 6, abs=0.4)
    assert planned["trust", "three above alone"] == pytest.approx(0.1 * 6, abs=0.4)
    assert planned["fun", "three above alone"] == pytest.approx(-0.25 * 6, abs=0.4)
    assert planned["fun", "two above alone"] == 0.0


def test_an_effect_is_written_by_keys_and_a_part_of_the_scale() -> None:
    assert describe_effects(KNOWN) == "trust: two +0.2, alone -0.1; fun: three -0.25"
    assert expected_answer({}, "trust", "two") is None
    assert unknown_effect_key(KNOWN, ["trust", "fun"], ["two", "alone"]) == "three"
    assert unknown_effect_key(KNOWN, ["trust", "fun"], ["two", "alone", "three"]) == ""
    for wrong in ("trust", "trust=0.1", "trust:two", "trust:two=nan", "trust:two=0.6", ":two=0.1"):
        with pytest.raises(ValueError, match="is not ITEM:CONDITION=SHIFT"):
            parse_effects([wrong])
