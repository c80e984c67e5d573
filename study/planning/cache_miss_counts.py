"""Count why a co-player's latest calls read nothing from the provider's cache (`cache_misses`)."""

from __future__ import annotations

from collections import Counter, defaultdict

from django.db.models import QuerySet

from kitchen.llm.cache_misses import CachedCall, CacheWatch, misses_in_words
from kitchen.llm.call_costs import PriceList
from kitchen.play.models import CallMessage, ModelCall

LATEST_CALLS = 300
"""Number of calls that are looked at."""
FIELDS = ("sampling", "parameters", "attempts", "tokens_input", "tokens_cache_read", "tokens_cache_write")


def latest_cache_misses(made: QuerySet[ModelCall], prices: PriceList) -> str:
    """Return a sentence part about the latest of these calls: how many read nothing from the cache, by
    reason. Empty if all of them read something."""
    latest = made.order_by("-pk").values("pk", "provider", "model_asked", "decision__mind_id", *FIELDS)
    calls = list(latest[:LATEST_CALLS])
    if all(call["tokens_cache_read"] for call in calls):
        return ""
    prompts = defaultdict[int, list[str]](list)
    messages = CallMessage.objects.filter(call__in=[call["pk"] for call in calls]).order_by("position")
    for pk, prompt in messages.values_list("call_id", "prompt_id"):
        prompts[pk].append(prompt)
    watches = defaultdict[int, CacheWatch](lambda: CacheWatch(prices))
    reasons = Counter(
        watches[call["decision__mind_id"]].reason(
            CachedCall(
                call["provider"],
                call["model_asked"],
                prompts[call["pk"]],
                bool(call["sampling"].get("tool")),
                call["parameters"] or {},
                call["attempts"],
                *(call["tokens_input"], call["tokens_cache_read"], call["tokens_cache_write"]),
            )
        )
        for call in reversed(calls)
    )
    return misses_in_words({name: number for name, number in reasons.items() if name}, len(calls))
