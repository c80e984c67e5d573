"""Plans of rounds: subsets of conditions, orders that keep a level together, and what stays even."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product

import pytest

from study.design.counterbalancing import SchemeError, SequenceTally, assign_order
from study.design.round_plans import (
    RoundPlan,
    assign_sequence,
    balanced_subsets,
    condition_counts,
    one_per_block,
    pair_counts,
    plan_problem,
    plan_sequences,
    rounds_of,
)

LAYOUTS, PARTNERS = "abcde", "xyz"
CELLS = tuple(f"{partner}{layout}" for partner, layout in product(PARTNERS, LAYOUTS))
BY_LAYOUT = tuple(tuple(f"{partner}{layout}" for partner in PARTNERS) for layout in LAYOUTS)
BY_PARTNER = tuple(tuple(f"{partner}{layout}" for layout in LAYOUTS) for partner in PARTNERS)
EACH_LAYOUT = RoundPlan("balanced", CELLS, 7, blocks=BY_LAYOUT)
FIVE = RoundPlan("balanced", CELLS, 7, rounds=5)
PARTNERS_TOGETHER = RoundPlan("balanced", CELLS, 7, blocks=BY_PARTNER, together=True)


def assigned(plan: RoundPlan, people: int, *, leaving: tuple[int, ...] = ()) -> list[tuple[str, ...]]:
    """The orders of so many participants, without those who leave at once."""
    held: Counter[int] = Counter()
    orders = []
    for number in range(1, people + len(leaving) + 1):
        one = assign_sequence(plan, {id: SequenceTally(n) for id, n in held.items()}, number=number)
        if number not in leaving:
            held[one.id] += 1
            orders.append(one.order)
    return orders


def test_each_participant_plays_one_condition_of_each_layout() -> None:
    for order in assigned(EACH_LAYOUT, 30):
        assert sorted(key[1] for key in order) == list(LAYOUTS)
        assert sorted(Counter(key[0] for key in order).values()) == [1, 2, 2]
    assert rounds_of(EACH_LAYOUT) == 5


@pytest.mark.parametrize("plan", [EACH_LAYOUT, FIVE], ids=["one per layout", "five of fifteen"])
@pytest.mark.parametrize("people", [6, 15, 22, 30])
@pytest.mark.parametrize("leaving", [(), (2, 3, 9)], ids=["", "with drop-outs"])
def test_conditions_are_played_equally_often_whoever_leaves(
    plan: RoundPlan, people: int, leaving: tuple[int, ...]
) -> None:
    counts = Counter(key for order in assigned(plan, people, leaving=leaving) for key in order)
    spread = max(counts.values()) - min(counts[key] for key in CELLS)
    assert spread <= (1 if plan is EACH_LAYOUT or people % 15 == 0 else 3)  # a set of fifteen subsets is even


def test_positions_are_even_after_thirty_participants() -> None:
    orders = assigned(EACH_LAYOUT, 30)
    layouts = Counter((place, key[1]) for order in orders for place, key in enumerate(order))
    assert max(layouts.values()) - min(layouts.values()) <= 2
    assert len(layouts) == 25


def test_a_balanced_subset_has_distinct_conditions() -> None:
    orders = assigned(FIVE, 20)
    assert {len(set(order)) for order in orders} == {5}


@pytest.mark.parametrize(("n", "k"), [(4, 2), (6, 3), (7, 3), (13, 4), (15, 5), (9, 3), (30, 5)])
def test_subsets_hold_each_condition_equally_often(n: int, k: int) -> None:
    rows = balanced_subsets(n, k)
    assert len(set(Counter(place for row in rows for place in row).values())) == 1
    counts = pair_counts(rows, n)
    assert min(counts) > 0 or n == 30
    assert max(counts) - min(counts) <= (0 if n in (4, 6, 7, 13, 9) else 2)


def test_one_place_in_each_block_comes_equally_often() -> None:
    for blocks, size in [(5, 3), (2, 2), (3, 4), (4, 1)]:
        rows = one_per_block(blocks, size)
        for block in range(blocks):
            counts = Counter(row[block] for row in rows)
            assert len(counts) == size
            assert len(set(counts.values())) == 1


def test_conditions_of_a_partner_stay_together() -> None:
    sequences = plan_sequences(PARTNERS_TOGETHER)
    assert len({one.order for one in sequences}) == len(sequences) == 60
    for one in sequences:
        assert sorted(one.order) == sorted(CELLS)
        assert sum(a[0] != b[0] for a, b in pairwise(one.order)) == 2
    first = Counter(one.order[0][0] for one in sequences)
    assert first == dict.fromkeys(PARTNERS, 20)


def test_random_orders_of_subsets_follow_from_the_seed() -> None:
    plan = EACH_LAYOUT._replace(scheme="random")
    assert assigned(plan, 12) == assigned(plan, 12)
    assert assigned(plan, 12) != assigned(plan._replace(seed=8), 12)
    together = PARTNERS_TOGETHER._replace(scheme="random")
    for order in assigned(together, 6):
        assert sum(a[0] != b[0] for a, b in pairwise(order)) == 2


def test_a_plan_without_subsets_is_the_scheme_alone() -> None:
    plan = RoundPlan("balanced", CELLS[:4], 3)
    used = {1: SequenceTally(2), 2: SequenceTally(1)}
    assert assign_sequence(plan, used, number=5) == assign_order(
        "balanced", CELLS[:4], used, seed=3, number=5
    )


def test_how_often_each_condition_is_filled_is_counted() -> None:
    one = plan_sequences(EACH_LAYOUT)[3]
    counts = condition_counts(EACH_LAYOUT, {one.id: SequenceTally(2, 1)})
    assert counts[one.order[0]] == SequenceTally(2, 1)
    assert sum(tally.finished for tally in counts.values()) == 10


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        (FIVE._replace(rounds=5, conditions=("a", "b")), "can play 2 rounds, not 5"),
        (FIVE._replace(rounds=2, conditions=("a",)), "Add another condition"),
        (FIVE._replace(rounds=16), "2 to 15 rounds, not 16"),
        (FIVE._replace(rounds=1), "2 to 15 rounds, not 1"),
        (FIVE._replace(blocks=BY_LAYOUT), "Choose either"),
        (EACH_LAYOUT._replace(blocks=(("xa",), ("xb", "yb"))), "different numbers of conditions"),
        (EACH_LAYOUT._replace(scheme="permutations", blocks=BY_LAYOUT * 2), "orders, more than a study"),
    ],
)
def test_plans_that_cannot_be_carried_out_are_refused(plan: RoundPlan, problem: str) -> None:
    assert problem in plan_problem(plan)
    with pytest.raises(SchemeError, match=problem):
        plan_sequences(plan)
