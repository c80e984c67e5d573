"""A claim that nobody renews is noticed, and an outage of one's own is not mistaken for it."""

from __future__ import annotations

import pytest

from kitchen.infra.renewal_watch import RenewalWatch


class Seconds:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Seconds:
    return Seconds()


@pytest.fixture
def watch(clock: Seconds) -> RenewalWatch:
    return RenewalWatch(3.0, gap=2.0, clock=clock)


def test_a_claim_is_abandoned_when_its_end_has_stayed_the_same(watch: RenewalWatch, clock: Seconds) -> None:
    found = {}
    for second in range(6):
        clock.now = second
        found[second] = watch.abandoned({"vanished": 1, "renewed": second})
    assert found == {0: [], 1: [], 2: [], 3: ["vanished"], 4: ["vanished"], 5: ["vanished"]}


def test_after_a_pause_of_our_own_others_have_time_to_renew(watch: RenewalWatch, clock: Seconds) -> None:
    assert watch.abandoned({"one": 1}) == []
    for clock.now in (60.0, 61.0, 62.0):
        assert watch.abandoned({"one": 1}) == []
    clock.now = 63.0
    assert watch.abandoned({"one": 1}) == ["one"]


def test_a_claim_that_was_given_up_and_taken_again_is_a_new_one(watch: RenewalWatch, clock: Seconds) -> None:
    watch.abandoned({"one": 1})
    clock.now = 2.0
    assert watch.abandoned({}) == []
    clock.now = 3.0
    assert watch.abandoned({"one": 1}) == []


def test_a_claim_that_could_not_be_released_has_time_to_be_renewed(
    watch: RenewalWatch, clock: Seconds
) -> None:
    found = {}
    for second in range(8):
        clock.now = second
        found[second] = watch.abandoned({"locked": 1})
        watch.begin_anew(found[second])
    assert [second for second, claims in found.items() if claims] == [3, 7]
