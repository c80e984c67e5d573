"""Test the counts on the orders page: how often subsets use each condition and position."""

from __future__ import annotations

from collections import Counter

import pytest

from study.design.describe_factors import balance_sentences
from study.design.plan_balance import Spread, balance_sizes, plan_balance
from study.design.round_plans import RoundPlan, plan_sequences
from study.editor.design_pages import describe_orders
from tests.study.factories import make_study

SIX = tuple(f"c{number}" for number in range(6))
THREES = RoundPlan("balanced", SIX, 1, rounds=4)


def test_a_full_set_of_subsets_has_equal_conditions_but_not_equal_positions() -> None:
    subsets, whole = (plan_balance(THREES, people) for people in balance_sizes(THREES))
    assert (subsets.people, whole.people) == (15, len(plan_sequences(THREES))) == (15, 60)
    assert subsets.conditions == Spread(10, 10) and whole.conditions == Spread(40, 40)
    assert subsets.positions.difference >= 1, "15 participants cannot fill 6 conditions x 4 positions evenly"


def test_counts_agree_with_the_sequences_when_each_is_assigned_once() -> None:
    plan = RoundPlan("balanced", SIX, 1, blocks=(SIX[:3], SIX[3:]), together=True)
    (size,) = balance_sizes(plan)
    assert size == len(plan_sequences(plan))
    found = plan_balance(plan, size)
    places = Counter(place for one in plan_sequences(plan) for place in enumerate(one.order))
    assert found.conditions == Spread(size, size)
    assert found.positions == Spread(min(places.values()), max(places.values()))


def test_random_orders_say_that_positions_are_drawn() -> None:
    told = balance_sentences(RoundPlan("random", SIX, 1, rounds=4))
    assert told.startswith("With 15 participants, each condition is played 10 times, comes ")
    assert told.endswith("differ with the seed.")


@pytest.mark.django_db
def test_the_orders_page_states_the_counts_for_subsets_and_keeps_its_sentence_for_complete_orders() -> None:
    study = make_study(conditions=6)
    assert "equally often at every position" in describe_orders(study)["meaning"]
    study.rounds_per_person = 4
    shown = describe_orders(study)
    assert "equally often at every position" not in shown["meaning"] and not shown["is_plain"]
    assert "With 60 participants, each condition is played 40 times" in shown["meaning"]
