"""Count the tokens of prompts as the provider counts them, remember the counts, and check that prompts fit.

Nothing is counted during play. A count is made where staff ask for it (`manage.py count_tokens`, the prompt's
page, `experiment --count-tokens`), once for each prompt. Forecasts then use the ratio between the counted
tokens and those estimated from the length. Without a count the ratio is 1.
"""

from __future__ import annotations

import json

from kitchen.contract.canonical_json import text_hash
from kitchen.contract.language_model import Request
from kitchen.llm import provider_registry
from kitchen.llm.call_costs import estimate_tokens
from kitchen.llm.circuit_breaker import with_shared_values
from kitchen.llm.model_capabilities import listed_model
from kitchen.llm.recorded_calls import request_texts

REMEMBERED_SECONDS = 30 * 24 * 3600
"""Seconds after which a count is forgotten."""


def count_tokens(provider: str, request: Request) -> int | None:
    """Return the number of tokens of a prompt, from an earlier count or from the provider. Return None if the
    provider cannot count. Raises ModelError if it does not answer."""
    key = _prompt_key(provider, request)
    known = with_shared_values(lambda values: values.get_many([key])).get(key)
    if known is not None:
        return int(known)
    counted = provider_registry.count_tokens(provider, request)
    if counted is not None:
        with_shared_values(lambda values: values.set(key, counted, REMEMBERED_SECONDS))
        _note_ratio(provider, request, counted)
    return counted


def estimated_prompt_tokens(request: Request) -> int:
    """Return the number of tokens of a prompt, estimated from the length of its messages and its tool."""
    return sum(estimate_tokens(text) for _, text in request_texts(request))


def counted_ratio(provider: str, model: str) -> float:
    """Return how many tokens the provider counted for each estimated one, in the longest prompt of this model
    that was counted. Return 1 if none was."""
    key = _ratio_key(provider, model)
    known = with_shared_values(lambda values: values.get_many([key])).get(key)
    return float(known[1]) if known else 1.0


def context_problem(provider: str, model: str, prompt: int, reply: int) -> str:
    """Return why a prompt of this many tokens, with a reply of at most `reply`, does not fit into the model.
    Empty if it does, or if nobody knows how much the model reads (`BRIGADE_MODELS`)."""
    told = listed_model(provider, model)
    if told is None or told.reads is None or prompt + reply <= told.reads:
        return ""
    return (
        f"the longest prompt has about {prompt} tokens and its reply up to {reply}, but {model} reads "
        f"{told.reads} in all"
    )


def _note_ratio(provider: str, request: Request, counted: int) -> None:
    key, estimated = _ratio_key(provider, request.model), estimated_prompt_tokens(request)
    known = with_shared_values(lambda values: values.get_many([key])).get(key)
    if estimated and (not known or counted >= known[0]):
        measured = [counted, counted / estimated]
        with_shared_values(lambda values: values.set(key, measured, REMEMBERED_SECONDS))


def _ratio_key(provider: str, model: str) -> str:
    return f"tokens.ratio.{provider}:{model}"


def _prompt_key(provider: str, request: Request) -> str:
    told = [provider, request.model, request.effort, request_texts(request)]
    return f"tokens.count.{text_hash(json.dumps(told))}"
