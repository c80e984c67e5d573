"""Order schemes: what a full block balances, and who gets which sequence when people drop out."""

from __future__ import annotations

import random
from collections import Counter
from itertools import permutations
from math import factorial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kitchen.registry.dotted_paths import UnknownNameError
from study.design.counterbalancing import (
    SCHEMES,
    SchemeError,
    SequenceTally,
    assign_order,
    balanced_sample_sizes,
    carry_over_counts,
    get_scheme,
    next_balanced_size,
    next_sequence,
    position_counts,
    random_order,
    scheme_choices,
    scheme_sequences,
)


def conditions(n: int) -> list[str]:
    return [f"c{number}" for number in range(n)]


def orders(scheme: str, n: int) -> list[tuple[str, ...]]:
    return [sequence.order for sequence in scheme_sequences(scheme, conditions(n))]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("n", range(7))
def test_a_block_is_as_large_as_the_scheme_says_with_ids_from_1_and_every_condition_once(
    scheme: str, n: int
) -> None:
    block = scheme_sequences(scheme, conditions(n))
    assert len(block) == get_scheme(scheme).block(n)
    assert [sequence.id for sequence in block] == list(range(1, len(block) + 1))
    assert all(sorted(sequence.order) == conditions(n) for sequence in block)
    assert block == scheme_sequences(scheme, conditions(n))


@pytest.mark.parametrize("n", range(2, 13))
def test_a_full_balanced_block_has_every_position_and_every_carry_over_equally_often(n: int) -> None:
    block = orders("balanced", n)
    per_place = len(block) // n
    assert position_counts(block) == dict.fromkeys(conditions(n), (per_place,) * n)
    assert carry_over_counts(block) == dict.fromkeys(permutations(conditions(n), 2), per_place)


def test_an_even_number_of_conditions_takes_one_square_and_an_odd_one_a_pair() -> None:
    assert [get_scheme("balanced").block(n) for n in range(1, 9)] == [1, 2, 6, 4, 10, 6, 14, 8]


def test_the_square_of_four_is_the_one_in_the_books() -> None:
    names = [[int(name[1:]) for name in order] for order in orders("balanced", 4)]
    assert names == [[0, 1, 3, 2], [1, 2, 0, 3], [2, 3, 1, 0], [3, 0, 2, 1]]


@pytest.mark.parametrize("n", range(2, 7))
def test_all_permutations_are_all_and_balanced_too(n: int) -> None:
    block = orders("permutations", n)
    assert len(set(block)) == factorial(n)
    assert set(position_counts(block).values()) == {(factorial(n - 1),) * n}
    assert set(carry_over_counts(block).values()) == {factorial(n - 1)}


def test_all_permutations_of_seven_conditions_are_refused_with_words() -> None:
    with pytest.raises(SchemeError, match=r"7 conditions have 5040 orders.*up to 6 conditions.*balanced"):
        scheme_sequences("permutations", conditions(7))


def test_a_condition_named_twice_and_an_unknown_scheme_are_refused() -> None:
    with pytest.raises(SchemeError, match="twice"):
        scheme_sequences("balanced", ["a", "b", "a"])
    with pytest.raises(UnknownNameError, match="balanced, fixed, permutations, random"):
        scheme_sequences("latin", conditions(3))
    assert [name for name, _ in scheme_choices()] == sorted(SCHEMES)


def test_counts_name_pairs_and_positions_that_never_come() -> None:
    assert carry_over_counts([("a", "b", "c")]) == {
        ("a", "b"): 1,
        ("a", "c"): 0,
        ("b", "a"): 0,
        ("b", "c"): 1,
        ("c", "a"): 0,
        ("c", "b"): 0,
    }
    assert position_counts([("a", "b"), ("a", "b")]) == {"a": (2, 0), "b": (0, 2)}
    assert position_counts([]) == {} == carry_over_counts([])


def test_what_fills_a_scheme_evenly_are_the_multiples_of_its_block() -> None:
    assert balanced_sample_sizes(10, 28) == (20, 30, 40, 50, 60)
    assert balanced_sample_sizes(10, 30, below=2, above=1) == (10, 20, 30, 40)
    assert balanced_sample_sizes(6, 1) == (6, 12, 18, 24)
    assert balanced_sample_sizes(0, 28, above=1) == (27, 28, 29)
    assert [next_balanced_size(10, people) for people in (0, 1, 10, 11)] == [10, 10, 10, 20]


@given(seed=st.integers(0, 2**31), block=st.integers(1, 16), people=st.integers(0, 80))
def test_without_drop_outs_no_sequence_is_two_ahead_and_a_full_block_has_each_once(
    seed: int, block: int, people: int
) -> None:
    used: dict[int, SequenceTally] = {}
    for _ in range(people):
        chosen = next_sequence(block, used, seed=seed)
        used[chosen] = SequenceTally(playing=used.get(chosen, SequenceTally()).playing + 1)
        filled = [used.get(id, SequenceTally()).filled for id in range(1, block + 1)]
        assert max(filled) - min(filled) <= 1


@given(
    seed=st.integers(0, 2**31),
    block=st.integers(1, 14),
    events=st.lists(st.sampled_from(["enter", "enter", "finish", "leave"]), max_size=120),
)
def test_after_drop_outs_the_gaps_are_filled_first_and_those_who_finish_are_balanced(
    seed: int, block: int, events: list[str]
) -> None:
    playing: list[int] = []
    finished: Counter[int] = Counter()
    who = random.Random(seed)

    def used() -> dict[int, SequenceTally]:
        return {id: SequenceTally(finished[id], playing.count(id)) for id in {*finished, *playing}}

    def filled() -> list[int]:
        return [used().get(id, SequenceTally()).filled for id in range(1, block + 1)]

    def enter() -> None:
        chosen = next_sequence(block, used(), seed=seed)
        assert filled()[chosen - 1] == min(filled())
        playing.append(chosen)

    for event in events:
        if event == "enter":
            enter()
        elif playing:
            gone = playing.pop(who.randrange(len(playing)))
            finished[gone] += event == "finish"
    missing = sum(max(0, max(filled()) - 1 - one) for one in filled())
    for _ in range(missing):  # exactly as many as the drop-outs left open, and no more
        enter()
    finished.update(playing)
    counts = [finished[id] for id in range(1, block + 1)]
    assert max(counts) - min(counts) <= 1


def test_equally_filled_sequences_go_to_the_one_finished_least() -> None:
    used = {1: SequenceTally(finished=1), 2: SequenceTally(playing=1), 3: SequenceTally(finished=1)}
    assert {next_sequence(3, used, seed=seed) for seed in range(20)} == {2}


def test_a_drop_outs_sequence_is_issued_again() -> None:
    full = {id: SequenceTally(finished=1) for id in range(1, 5)}
    assert next_sequence(4, {**full, 3: SequenceTally()}, seed=5) == 3


def test_ties_are_broken_by_a_permutation_that_follows_from_the_seed_and_changes_with_the_block() -> None:
    def block_of(seed: int, level: int) -> list[int]:
        used = {id: SequenceTally(finished=level) for id in range(1, 11)}
        found = []
        for _ in range(10):
            found.append(next_sequence(10, used, seed=seed))
            used[found[-1]] = SequenceTally(finished=level + 1)
        return found

    assert block_of(7, 0) == block_of(7, 0)
    assert sorted(block_of(7, 0)) == list(range(1, 11))
    assert len({tuple(block_of(seed, level)) for seed in range(5) for level in range(3)}) == 15


def test_ids_of_another_scheme_do_not_count() -> None:
    assert next_sequence(1, {9: SequenceTally(finished=4)}, seed=1) == 1


def test_a_scheme_without_blocks_issues_an_order_that_follows_from_the_participant() -> None:
    first = assign_order("random", conditions(5), {}, seed=3, number=1)
    assert first.id == 0
    assert first == assign_order("random", conditions(5), {}, seed=3, number=1)
    assert len({assign_order("random", conditions(5), {}, seed=3, number=n).order for n in range(20)}) > 10
    with pytest.raises(SchemeError, match="no sequences"):
        next_sequence(0, {}, seed=1)


def test_a_scheme_with_blocks_issues_one_of_its_sequences() -> None:
    assert assign_order("fixed", conditions(3), {1: SequenceTally(finished=8)}, seed=3, number=9).order == (
        "c0",
        "c1",
        "c2",
    )
    block = scheme_sequences("balanced", conditions(4))
    full = {id: SequenceTally(finished=2) for id in (1, 2, 4)}
    assert assign_order("balanced", conditions(4), full, seed=3, number=9) == block[2]


def test_random_order_follows_from_the_seed() -> None:
    assert sorted(random_order(conditions(5), 4)) == conditions(5)
    assert random_order(conditions(5), 4) == random_order(conditions(5), 4)
