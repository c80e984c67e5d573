"""Say why a provider did not read the fixed part of a prompt from its cache.

Providers keep the fixed part of a prompt for some time after each call, and read it again at a lower price.
`CacheWatch` follows the calls of one co-player in one episode. It compares what could have been read with the
tokens that the provider reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kitchen.llm.call_costs import PriceFileError, PriceList, load_prices

FIRST_CALL, PREFIX_CHANGED, EXPIRED = "first_call", "prefix_changed", "expired"
TOO_SHORT, NOT_KEPT = "too_short", "not_kept"
CACHE_MISSES: Mapping[str, str] = {
    FIRST_CALL: "the first call of a co-player in an episode",
    PREFIX_CHANGED: "the fixed part of the prompt was not that of an earlier call",
    EXPIRED: "the last call was longer ago than the cache lasts",
    TOO_SHORT: "the fixed part is too short for this model",
    NOT_KEPT: "no reason is known",
}
"""The reasons, with their meaning."""
CACHE_SECONDS, HOUR_SECONDS = 300.0, 3600.0
"""Seconds for which a provider keeps the fixed part of a prompt."""
HOUR = "1h"
"""`cached_for` of a call whose fixed part is kept for an hour."""


@dataclass(frozen=True, slots=True)
class CachedCall:
    """What is known of a call after it was made."""

    provider: str
    model: str
    prompts: Sequence[str]
    """Hashes of the messages that were sent, in their order, with the tool's last."""
    has_tool: bool
    parameters: Mapping[str, Any]
    """The parameters that were sent (`sdk_calls.parameters_without_texts`)."""
    attempts: Sequence[Mapping[str, Any]]
    tokens_input: int
    tokens_read: int
    """Tokens that were read from the cache."""
    tokens_written: int
    """Tokens that were written to the cache."""

    @property
    def prefix(self) -> tuple[str, ...]:
        """Return the hashes of the part that the provider may cache. Where the call does not mark its end, it
        is the first message."""
        tool = tuple(self.prompts[-1:]) if self.has_tool else ()
        return *tool, *self.prompts[: int(self.parameters.get("cached_until", 0)) + 1]

    @property
    def began(self) -> float | None:
        """Return when its last attempt began, in seconds; None if this is not known."""
        try:
            return datetime.fromisoformat(str(self.attempts[-1]["began"])).timestamp()
        except (IndexError, KeyError, ValueError):
            return None


def cache_prices() -> PriceList:
    """Return the price list, or an empty one if it cannot be read: then no model is known to cache."""
    try:
        return load_prices()
    except PriceFileError:
        return PriceList({})


class CacheWatch:
    """The calls of one co-player in one episode, in the order in which they were made."""

    def __init__(self, prices: PriceList) -> None:
        self.prices = prices
        self._last: dict[tuple[str, tuple[str, ...]], CachedCall] = {}

    def reason(self, call: CachedCall) -> str:
        """Return why nothing was read from the cache in this call, one of `CACHE_MISSES`. Empty if something
        was, if the call was not answered, or if its model does not read from a cache at a lower price."""
        if not (call.tokens_input or call.tokens_read or call.tokens_written):
            return ""
        price = self.prices.find(call.provider, call.model)
        if price is None or price.cache_read >= price.input:
            return ""
        key, is_first = (call.model, call.prefix), not self._last
        before, self._last[key] = self._last.get(key), call
        if call.tokens_read:
            return ""
        is_short = "cached_until" in call.parameters or call.tokens_input < price.cache_from
        if not call.tokens_written and is_short:
            return TOO_SHORT
        if before is None:
            return FIRST_CALL if is_first else PREFIX_CHANGED
        return _reason(before, call)


def _reason(before: CachedCall, call: CachedCall) -> str:
    lasts = HOUR_SECONDS if before.parameters.get("cached_for") == HOUR else CACHE_SECONDS
    if before.began is not None and call.began is not None and call.began - before.began > lasts:
        return EXPIRED
    return NOT_KEPT


def misses_in_words(counts: Mapping[str, int], calls: int) -> str:
    """Return a sentence part that counts the calls that read nothing from the cache, by reason. Empty if
    there are none."""
    missed = sum(counts.values())
    if not missed:
        return ""
    reasons = "; ".join(
        f"{words} ({counts[name]})" for name, words in CACHE_MISSES.items() if counts.get(name)
    )
    return f"{missed} of the last {calls} calls read nothing from the cache: {reasons}"
