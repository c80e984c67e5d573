"""Keeping what models were asked and what they answered, beside the decision it belongs to.

Prompts are stored by their content: sixty steps that share the rules store them once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from django.db import OperationalError, transaction

from kitchen.contract.model import MOST_TOKENS, Call, Reply
from kitchen.llm.sent import sent
from kitchen.machine.storable import printable, storable
from kitchen.money.spending import money
from kitchen.play.models import CallMessage, Decision, ModelCall, Prompt

LEAST = "least"
"""The effort where none is asked for: as little as the model can be made to."""

HOLD_TRIES = 10
"""Each is lost only to somebody who leaves at that very moment."""


def calls_store(decided: Sequence[tuple[Decision, Sequence[Call]]]) -> None:
    """Store every call of these decisions, in order. Needs a transaction around it, and comes last in it:
    the prompts, which other episodes use too, are locked until it ends."""
    numbered = [(row, *each) for row, calls in decided for each in enumerate(calls, start=1)]
    texts = {_hash(text): text for _, _, call in numbered for text in _texts(call)}
    _hold_prompts(texts)
    for decision, number, call in numbered:
        row = ModelCall.objects.create(decision=decision, number=number, **_facts(call))
        CallMessage.objects.bulk_create(
            CallMessage(call=row, position=position, role=role, prompt_id=_hash(text))
            for position, ((role, _), text) in enumerate(zip(sent(call.request), _texts(call), strict=True))
        )


def _texts(call: Call) -> list[str]:
    return [printable(text) for _, text in sent(call.request)]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _hold_prompts(texts: Mapping[str, str]) -> None:
    """Have these texts, by hash, stored once for all episodes, and keep them until the transaction ends.

    Somebody who leaves at this moment may be erasing one of them: then it is written anew. Everybody writes
    and locks in the order of the hashes, and lets go of all before the next try, so that nobody waits in a
    circle. OperationalError if they are erased again and again.
    """
    hashes = sorted(texts)
    for _ in range(HOLD_TRIES if hashes else 0):
        with transaction.atomic():
            fresh = [Prompt(hash=hashed, text=texts[hashed]) for hashed in hashes]
            Prompt.objects.bulk_create(fresh, ignore_conflicts=True)
            if len(_locked(hashes, no_key=True)) == len(hashes):
                return
            transaction.set_rollback(True)
    if hashes:
        raise OperationalError(f"prompts were erased {HOLD_TRIES} times while they were written")


def _locked(hashes: Iterable[str], *, no_key: bool = False) -> list[str]:
    """Those of these prompts that are there, locked one after the other until the transaction ends."""
    rows = Prompt.objects.filter(hash__in=list(hashes)).select_for_update(no_key=no_key)
    return list(rows.order_by("hash").values_list("hash", flat=True))


def _facts(call: Call) -> dict[str, object]:
    request, reply = call.request, call.reply or Reply(call.raw, usage=call.usage)
    return {
        "provider": call.provider,
        "model_asked": printable(request.model)[:120],
        "model_named": printable(reply.model)[:120],
        "sampling": {
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "effort": request.effort or LEAST,
            "tool": request.tool.name if request.tool else None,
        },
        "parameters": storable(dict(call.parameters)),
        "reply": printable(reply.text),
        "reply_call": storable(dict(reply.call)) if reply.call is not None else None,
        "stop": printable(reply.stop)[:40],
        "reasoning": printable(reply.reasoning),
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
    messages = CallMessage.objects.filter(call__decision__mind__episode__in=list(episode_ids))
    return set(messages.values_list("prompt_id", flat=True))


def prompts_unused() -> set[str]:
    """Hashes of all prompts that no call uses."""
    return set(Prompt.objects.filter(uses__isnull=True).values_list("hash", flat=True))


def prompts_erase_unused(hashes: Iterable[str]) -> int:
    """Erase those of these prompts that no call uses any more; how many. Needs a transaction around it.

    They are locked first: a decision that is just using one of them is waited for, and then it is kept.
    """
    locked = _locked(hashes)
    return Prompt.objects.filter(hash__in=locked, uses__isnull=True).delete()[0]
