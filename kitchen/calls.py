"""Keeping what models were asked and what they answered, beside the decision it belongs to.

Prompts are stored by their content: sixty steps that share the recipes store them once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from kitchen.llm.base import Call, Reply
from kitchen.models import CallMessage, Decision, ModelCall, Prompt
from kitchen.spending import money
from kitchen.storable import printable, storable

MOST_TOKENS = 2**31 - 1
"""What a column holds; a server that counts more is not believed."""


def calls_store(decision: Decision, calls: Sequence[Call]) -> None:
    """Store every call of a decision, in order. Needs a transaction around it."""
    for number, call in enumerate(calls, start=1):
        row = ModelCall.objects.create(decision=decision, number=number, **_facts(call))
        texts = [printable(message.text) for message in call.request.messages]
        hashes = _prompts(texts)
        CallMessage.objects.bulk_create(
            CallMessage(call=row, position=position, role=message.role, prompt_id=hashed)
            for position, (message, hashed) in enumerate(zip(call.request.messages, hashes, strict=True))
        )


def _prompts(texts: Sequence[str]) -> list[str]:
    """The hashes of these texts, each of which is stored once for all episodes."""
    hashes = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    rows = {hashed: Prompt(hash=hashed, text=text) for hashed, text in zip(hashes, texts, strict=True)}
    Prompt.objects.bulk_create(rows.values(), ignore_conflicts=True)
    return hashes


def _facts(call: Call) -> dict[str, object]:
    request, reply = call.request, call.reply or Reply("")
    return {
        "provider": call.provider,
        "model_asked": printable(request.model)[:120],
        "model_named": printable(reply.model)[:120],
        "sampling": {
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "tool": request.tool.name if request.tool else None,
        },
        "reply": printable(reply.text),
        "reply_call": storable(dict(reply.call)) if reply.call is not None else None,
        "stop": printable(reply.stop)[:40],
        "error": call.error[:20],
        "error_text": printable(call.error_text),
        "attempts": storable([asdict(attempt) for attempt in call.attempts]),
        "seconds": call.seconds,
        "tokens_input": min(reply.usage.input, MOST_TOKENS),
        "tokens_output": min(reply.usage.output, MOST_TOKENS),
        "tokens_cache_read": min(reply.usage.cache_read, MOST_TOKENS),
        "tokens_cache_write": min(reply.usage.cache_write, MOST_TOKENS),
        "cost": None if call.cost is None else money(call.cost),
    }


def prompts_of(episode_ids: Iterable[int]) -> set[str]:
    """Hashes of all prompts that these episodes used."""
    found = CallMessage.objects.filter(call__decision__mind__episode__in=list(episode_ids))
    return set(found.values_list("prompt_id", flat=True))


def prompts_erase_unused(hashes: Iterable[str]) -> int:
    """Erase those of these prompts that no call uses any more; how many."""
    return Prompt.objects.filter(hash__in=list(hashes), uses__isnull=True).delete()[0]
