"""Calls that read nothing from the provider's cache, and why."""

from __future__ import annotations

from typing import Any

from kitchen.llm.cache_misses import CACHE_MISSES, CachedCall, CacheWatch, misses_in_words
from kitchen.llm.call_costs import Price, PriceList

PRICES = PriceList(
    {("anthropic", "c"): Price(2, 10, 0.2, 2.5), ("openai-compatible", "*"): Price(1, 1, 1, 1)}
)
MARKED = {"cached_until": 0}


def call(minute: float, fixed: str = "a", read: int = 0, written: int = 0, **more: Any) -> CachedCall:
    """Return a call that began in this minute."""
    began = {"began": f"2026-11-30T12:{int(minute):02}:{int(minute % 1 * 60):02}.000Z"}
    known = {"provider": "anthropic", "model": "c", "has_tool": False, "parameters": MARKED, **more}
    return CachedCall(
        prompts=[fixed, f"q{minute}"],
        attempts=[began],
        tokens_input=more.pop("input", 90),
        tokens_read=read,
        tokens_written=written,
        **{name: value for name, value in known.items() if name != "input"},
    )


def reasons(*calls: CachedCall) -> list[str]:
    """Return the reason of each of these calls of one co-player."""
    watch = CacheWatch(PRICES)
    return [watch.reason(each) for each in calls]


def test_each_missed_cache_has_its_reason() -> None:
    assert reasons(
        call(0, written=5000),
        call(1, read=5000),
        call(2, "b", written=5000),
        call(3, "a", read=5000),
        call(9, "a", written=5000),
        call(10, "a", written=5000),
    ) == ["first_call", "", "prefix_changed", "", "expired", "not_kept"]


def test_a_part_that_is_kept_for_an_hour_expires_after_an_hour() -> None:
    hour: dict[str, Any] = {"parameters": {**MARKED, "cached_for": "1h"}}
    assert reasons(call(0, written=9, **hour), call(50, written=9, **hour))[1] == "not_kept"


def test_a_part_that_the_provider_did_not_write_is_too_short() -> None:
    assert reasons(call(0), call(1)) == ["too_short"] * 2
    long: dict[str, Any] = {"parameters": {}, "input": 9000}
    assert reasons(call(0, parameters={}), call(1, **long)) == ["too_short", "not_kept"]


def test_servers_without_a_cheaper_cache_and_calls_without_an_answer_miss_nothing() -> None:
    assert reasons(call(0, provider="openai-compatible", model="own"), call(1, input=0)) == ["", ""]


def test_another_tool_changes_the_fixed_part() -> None:
    first, second = (
        CachedCall("anthropic", "c", ["a", "q", tool], True, MARKED, (), 90, 0, 5000) for tool in "xy"
    )
    assert reasons(first, second) == ["first_call", "prefix_changed"]


def test_misses_are_counted_in_words() -> None:
    words = misses_in_words({"first_call": 2, "expired": 1}, 40)
    assert words.startswith("3 of the last 40 calls read nothing from the cache: the first call of")
    assert f"{CACHE_MISSES['expired']} (1)" in words and misses_in_words({}, 40) == ""
