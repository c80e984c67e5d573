"""What is read from kills and waits, and who is killed how often."""

from __future__ import annotations

import time
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from kitchen.registry.world_registry import known_worlds
from tests.live import killing
from tests.live.killing import BURST, Blow, planned, strike
from tests.live.laying import TIMER, tables
from tests.live.stalls import Table, longest_after, told_stalls, waits_at


def person(wanted: dict[int, float], got: dict[int, float]) -> Any:
    return SimpleNamespace(wanted=wanted, got=got)


def test_a_step_is_waited_for_from_the_last_who_means_to_choose_to_the_last_who_is_shown_it() -> None:
    both = Table("two", [person({1: 1.0, 2: 5.0}, {1: 4.0}), person({1: 2.0}, {1: 4.5})])
    first, second = sorted(waits_at(both, now=9.0), key=lambda wait: wait.step)
    assert (first.wanted, first.got, first.seconds) == (2.0, 4.5, 2.5)
    assert (second.wanted, second.got) == (5.0, 9.0), "it has not come yet"


def test_a_wait_belongs_to_the_blow_that_it_spans_or_follows() -> None:
    alone = Table("one", [person({1: 9.0, 2: 12.0, 3: 30.0}, {1: 10.5, 2: 16.0, 3: 30.2})])
    blows = [Blow("single", 10.0, ["web"]), Blow("pair", 20.0, ["web", "worker"])]
    longest = longest_after(blows, waits_at(alone, now=40.0), end=40.0)
    assert [round(wait.seconds, 1) for wait in longest] == [4.0, 0.2]
    told = told_stalls(blows, longest).replace(" ", "")
    assert "|web|1|1|4.0s|4.0s|" in told
    assert "|pairsatonce|1|2|0.2s|0.2s|" in told


def test_of_a_hundred_kills_most_are_single_and_some_are_pairs_and_dense() -> None:
    kinds = [blow.kind for blow in planned(100, Random(1))]
    assert [kinds.count(kind) for kind in ("single", "pair", "dense")] == [60, 20, 20 / BURST]


async def test_kills_end_when_play_is_over_and_when_it_does_not_recover(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(killing, "CALM", 0.02)
    stack: Any = SimpleNamespace(processes=dict)
    over, blows = iter([False, True]), planned(10, Random(1))
    struck = await strike(stack, blows, ["web"], Random(1), 0.001, lambda: True, lambda: next(over))
    assert struck == blows[:1]
    began = time.monotonic()
    assert len(await strike(stack, blows, ["web"], Random(1), 0.001, lambda: False)) < len(blows)
    assert time.monotonic() - began < 5


def test_fewer_episodes_than_combinations_are_spread_over_all_worlds() -> None:
    assert {table["world"] for table in tables(80)} == set(known_worlds())
    assert {table["people"] for table in tables(40)} == {1, 2}
    assert {table["step_seconds"] for table in tables(40)} == {None, TIMER}
