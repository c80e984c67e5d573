"""Studies made up and analysed: false positives and power are what was planned."""

import pytest
from django.core.management import CommandError, call_command

from study.design.analysis_plan import MAIN_TESTS
from study.planning.power.main_test_power import main_power
from study.planning.power.power_formulas import TOO_SHORT, PowerPlan, anova_power
from study.planning.power.simulated_studies import simulate_studies


def test_false_positives_and_power_are_those_planned(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("simulate_studies", studies=600, people=24, conditions=3, seed=2)
    assert capsys.readouterr().out.startswith("600 studies of each kind: ")


def test_few_studies_are_given_what_chance_makes_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("simulate_studies", studies=40, people=12, conditions=3, seed=3)
    assert "power 25.0 %, planned 40.9 %" in capsys.readouterr().out


def test_the_one_way_test_does_not_keep_them_and_that_is_told() -> None:
    with pytest.raises(CommandError, match="not what was planned"):
        call_command(
            "simulate_studies", studies=400, people=12, conditions=3, correlation=0.8, test="one_way"
        )


@pytest.mark.parametrize("test", ["mixed", "friedman"])
def test_other_main_tests_are_simulated_alike(test: str) -> None:
    found = simulate_studies(PowerPlan(3, 0.8), 12, studies=20, seed=1, test=test)
    assert found.planned > 0.9
    assert found.power > 0.9
    assert found.false_positives < 0.3


@pytest.mark.parametrize(
    ("test", "conditions", "f", "people", "simulated"),
    [
        ("mixed", 3, 0.3, 20, 0.687),
        ("mixed", 2, 0.4, 24, 0.477),  # carry-over is told from the condition between people only
        ("mixed", 4, 0.3, 24, 0.893),
        ("friedman", 3, 0.3, 20, 0.662),
        ("one_way", 3, 0.3, 20, 0.467),
    ],
)
def test_the_power_that_is_told_is_that_of_studies_that_were_simulated(
    test: str, conditions: int, f: float, people: int, simulated: float
) -> None:
    told = main_power(PowerPlan(conditions, f), people, test=test, pattern="even", scheme="random")
    assert told == pytest.approx(simulated, abs=0.03)


def test_the_mixed_model_loses_where_the_order_tells_nothing_of_carry_over() -> None:
    plan = PowerPlan(5, 0.25)
    powers = {test: main_power(plan, 20, test=test, pattern="even", scheme="balanced") for test in TOO_SHORT}
    assert powers["mixed"] < powers["repeated"] == anova_power(plan, 20)
    assert main_power(plan, 1, test="mixed", pattern="even", scheme="balanced") == 0.0


def test_every_main_test_of_a_plan_has_its_power() -> None:
    assert list(TOO_SHORT) == list(MAIN_TESTS)


def test_a_plan_that_cannot_be_is_refused() -> None:
    with pytest.raises(CommandError, match="correlation is above"):
        call_command("simulate_studies", correlation=1.0)
