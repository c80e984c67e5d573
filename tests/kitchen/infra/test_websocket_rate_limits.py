"""Tokens that come back with time, and the newest few of one owner."""

from __future__ import annotations

from kitchen.infra.websocket_rate_limits import NewestPerOwner, TokenBucket, TokenBuckets


class Clock:
    """Time that passes when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 6))
        self.now += seconds


def test_tokens_are_taken_at_once_and_come_back_with_time_up_to_the_most() -> None:
    clock = Clock()
    bucket = TokenBucket(rate=2.0, most=3, clock=clock)
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]
    clock.now += 0.5
    assert [bucket.take(), bucket.take()] == [True, False]
    clock.now += 1000
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]


async def test_who_waits_for_a_token_waits_no_longer_than_it_takes() -> None:
    clock = Clock()
    bucket = TokenBucket(rate=4.0, most=2, clock=clock, sleep=clock.sleep)
    for _ in range(4):
        await bucket.taken()
    assert clock.slept == [0.25, 0.25]


def test_each_name_has_a_bucket_and_only_those_used_last_are_kept() -> None:
    buckets = TokenBuckets(lambda: TokenBucket(rate=0.001, most=1))
    buckets.KEPT = 2
    assert [buckets.take(name) for name in ("one", "two", "one")] == [True, True, False]
    assert buckets.take("three")
    assert [buckets.take(name) for name in ("one", "two")] == [False, True]


def test_names_whose_buckets_are_full_again_are_forgotten() -> None:
    clock = Clock()
    buckets = TokenBuckets(lambda: TokenBucket(rate=0.5, most=20, clock=clock))
    known = []
    for number in range(3000):  # episodes, each with a key of its own
        assert buckets.take(f"key {number}")
        clock.now += 1
        known.append(len(buckets))
    assert max(known) <= 3
    assert [buckets.take("busy") for _ in range(21)] == [True] * 20 + [False]
    clock.now += 30
    assert buckets.take("other")
    assert len(buckets) == 2
    assert sum(buckets.take("busy") for _ in range(20)) == 15


def test_of_one_owner_the_newest_stay_and_the_oldest_go() -> None:
    here: NewestPerOwner[str] = NewestPerOwner(2)
    assert [here.add("me", name) for name in ("a", "b")] == [[], []]
    assert here.add("you", "x") == []
    assert here.add("me", "c") == ["a"]
    here.remove("me", "a")
    here.remove("me", "b")
    assert here.add("me", "d") == []
    assert here.add("me", "e") == ["c"]
