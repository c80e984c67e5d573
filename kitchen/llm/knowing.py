"""What a provider says of its models, beside what is sent to them here (`providers.claude`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kitchen.contract.model import Offered
from kitchen.llm.model_list import known
from kitchen.llm.naming import undated
from kitchen.llm.providers.claude import CLAUDE, Traits, traits
from kitchen.llm.registry import ANTHROPIC


def in_words(model: Offered) -> str:
    """`claude-x: active; thinking: adaptive; effort: low, high; writes 64000 tokens at most`."""
    facts = [
        model.status,
        f"thinking: {', '.join(model.thinking)}" if model.thinking else "",
        f"effort: {', '.join(model.efforts)}" if model.efforts else "",
        f"reads {model.reads} tokens at most" if model.reads else "",
        f"writes {model.writes} tokens at most" if model.writes else "",
    ]
    told = "; ".join(fact for fact in facts if fact)
    return f"{model.name}: {told}" if told else model.name


def differences(provider: str, listed: Sequence[Offered]) -> Iterator[str]:
    """Where the provider's list and ours do not agree, each in a sentence."""
    if provider != ANTHROPIC:
        return
    for model in listed:
        yield from _differences(model)
    there = {undated(model.name) for model in listed}
    for name in CLAUDE:
        if name not in there:
            yield f"{name} is in our list and not in the provider's: nobody can ask it with this key"


def _differences(model: Offered) -> Iterator[str]:
    if undated(model.name) not in CLAUDE and known(ANTHROPIC, model.name) is None:
        yield f"{model.name} is not in our list: nothing special is sent to it"
        return
    if model.status in {"deprecated", "retired"}:
        yield f"{model.name} is {model.status}"
    yield from (f"{model.name} {what}" for what in _contradictions(model, traits(model.name)))


def _contradictions(model: Offered, ours: Traits) -> Iterator[str]:
    way = ours.least.get("thinking", {}).get("type", "")
    if way and model.thinking and way not in model.thinking:
        yield f"is sent thinking “{way}”, which it does not take"
    if model.thinking and ours.effort and not model.efforts:
        yield "takes no effort, and we think that it does"
    if model.efforts and not ours.effort:
        yield "takes an effort, and is sent none"
