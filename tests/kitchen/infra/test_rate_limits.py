"""Tokens that come back with time, and the newest few of one owner."""

from __future__ import annotations

import asyncio

import pytest

from kitchen.infra.rate_limits import NewestPerOwner, TokenBucket, TokenBuckets


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


class ManualSleep:
    """Sleepers that are woken by hand; how long each wants to sleep."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.sleepers: list[asyncio.Future[None]] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        self.sleepers.append(asyncio.get_running_loop().create_future())
        await self.sleepers[-1]


async def test_those_who_wait_for_tokens_wake_once_each_in_their_order() -> None:
    clock, sleep, done = Clock(), ManualSleep(), list[int]()
    bucket = TokenBucket(rate=4.0, most=1, clock=clock, sleep=sleep)

    async def take(number: int) -> None:
        await bucket.taken()
        done.append(number)

    tasks = [asyncio.create_task(take(number)) for number in range(4)]
    await asyncio.sleep(0)
    assert (done, sleep.seconds, bucket.left) == ([0], [0.25, 0.5, 0.75], -3)
    assert bucket.is_empty and not bucket.take()
    for sleeper in sleep.sleepers:
        clock.now += 0.25
        sleeper.set_result(None)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert (done, len(sleep.seconds), bucket.left) == ([0, 1, 2, 3], 3, 0)
    await asyncio.gather(*tasks)


async def test_a_wait_that_is_cancelled_takes_no_token() -> None:
    bucket = TokenBucket(rate=4.0, most=1, clock=Clock(), sleep=ManualSleep())
    await bucket.taken()
    waiting = asyncio.create_task(bucket.taken())
    await asyncio.sleep(0)
    assert bucket.left == -1
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert bucket.left == 0


async def test_each_name_is_charged_and_waits_by_itself() -> None:
    clock = Clock()
    buckets = TokenBuckets(lambda: TokenBucket(rate=2.0, most=3, clock=clock, sleep=clock.sleep))
    buckets.charge("a", 4)
    assert (buckets.bucket("a").left, buckets.is_empty("a"), buckets.is_empty("b")) == (-1, True, False)
    await buckets.taken("b")
    assert clock.slept == []
    await buckets.taken("a")
    assert clock.slept == [1.0]
    assert (buckets.bucket("a").left, buckets.bucket("b").left) == (0, 3)


def test_the_bucket_that_is_asked_for_stays_although_all_are_full() -> None:
    buckets = TokenBuckets(lambda: TokenBucket(rate=1.0, most=2, clock=lambda: 0.0))
    buckets.KEPT = 2
    for name in ("a", "b", "c", "d"):
        bucket = buckets.bucket(name)
        assert len(buckets) == 1
        assert bucket is buckets.bucket(name)
    assert bucket.take()
    for name in ("e", "f"):
        assert buckets.take(name)
    assert len(buckets) == 2
    assert buckets.bucket("d") is not bucket


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
