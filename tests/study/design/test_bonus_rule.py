"""A bonus is a declared sum of a base, units of figures and right answers, with caps, exact to the cent."""

from __future__ import annotations

from typing import Any

import pytest

from study.design.bonus_rule import bonus_problem, bonus_rule_words, compute_bonus, parse_bonus

RULE: dict[str, Any] = {
    "currency": "GBP",
    "most": "3.00",
    "base": "0.50",
    "figures": {"completed": {"each": "0.10", "most": "1.00"}},
    "right": {"each": "0.25"},
}


def amount(rule: dict[str, Any], figures: dict[str, list[Any]], right: int = 0) -> str:
    parsed = parse_bonus(rule)
    assert parsed
    return compute_bonus(parsed, figures, right).words


def test_units_of_all_rounds_are_added_and_each_cap_holds() -> None:
    assert amount(RULE, {"completed": [3, 4]}) == "1.20 GBP"
    assert amount(RULE, {"completed": [30, None]}) == "1.50 GBP"
    assert amount(RULE, {"completed": [-4], "other": [9]}) == "0.50 GBP"
    assert amount(RULE, {"completed": [30]}, right=3) == "2.25 GBP"
    assert amount(RULE, {"completed": [30]}, right=30) == "3.00 GBP"


def test_amounts_are_exact_and_rounded_at_the_end_only() -> None:
    third = {**RULE, "base": "0", "figures": {"share": {"each": "0.1"}}, "most": "9"}
    assert amount(third, {"share": [0.1, 0.2]}) == "0.03 GBP"
    assert amount({**third, "step": "0.50"}, {"share": [2.5]}) == "0.50 GBP"
    assert amount({**third, "step": "1.00", "most": "0.7"}, {"share": [7]}) == "0.70 GBP"


def test_the_parts_add_up_to_the_amount() -> None:
    rule = parse_bonus(RULE)
    assert rule
    bonus = compute_bonus(rule, {"completed": [30]}, 30)
    assert sum(part.amount for part in bonus.parts) == bonus.amount
    assert [part["part"] for part in bonus.to_json()] == ["base", "completed", "right answers", "cap"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"currency": "XYZ"}, "currency"),
        ({"most": 3}, "amount as text"),
        ({"most": "NaN"}, "amount as text"),
        ({"base": "-1"}, "amount as text"),
        ({"base": "0.00001"}, "amount as text"),
        ({"figures": {"completed": {"most": "1"}}}, "must have each"),
        ({"step": "0.03"}, "step"),
        ({"code": "1+1"}, "does not know code"),
    ],
)
def test_a_rule_that_cannot_be_meant_is_refused_in_words(change: dict[str, Any], problem: str) -> None:
    assert problem in bonus_problem({**RULE, **change})
    assert bonus_problem(RULE) == bonus_problem({}) == ""


def test_no_rule_is_no_bonus_and_a_rule_is_told_in_one_line() -> None:
    assert parse_bonus({}) is None and bonus_rule_words(None) == "no bonus"
    assert bonus_rule_words(parse_bonus(RULE), {"completed": "Tasks done"}).startswith(
        "GBP: 0.50 for everybody who completes the study; “Tasks done” times 0.10"
    )
