"""How a dispatcher's settings fit its model, and one another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kitchen.llm.registry import STAND_IN, calls_tools, read_model, takes_seed, takes_temperature
from kitchen.worlds.cuisine.dispatcher.options import EFFORTS, Options

ROOM: Mapping[str, int] = {"low": 2048, "medium": 4096, "high": 8192, "xhigh": 16384, "max": 32768}
"""Tokens that a reply needs at least where the model thinks so much, for thoughts count, too. Ours, by rule
of thumb."""


def not_sent(options: Options) -> tuple[str, ...]:
    """Settings of which nothing is sent, each in a sentence; none for the stand-in, which says itself what it
    is."""
    provider, model = read_model(options.model)
    if provider == STAND_IN:
        return ()
    names = _not_taken(options, provider, model)
    return tuple(f"{provider}:{model} takes no {name}: none is sent." for name in names)


def _not_taken(options: Options, provider: str, model: str) -> Iterator[str]:
    if options.sampling is not None and not takes_temperature(provider, model):
        yield f"temperature ({options.temperature:g})"
    if options.nucleus is not None and not takes_seed(provider):
        yield f"top p ({options.top_p:g})"
    if options.seeded and not takes_seed(provider):
        yield "seed"


def no_room(options: Options) -> str:
    """What is wrong where thinking would eat the whole reply: `setting: why`; empty if there is room."""
    needed = ROOM.get(options.effort, 0)
    if options.max_tokens >= needed:
        return ""
    return (
        f"max_tokens: {options.max_tokens} leave no room for a reply: what the model thinks counts towards "
        f"them. With thinking set to “{EFFORTS[options.effort]}”, let it have {needed} at least, or let it "
        "think less"
    )


def calls_tool(options: Options) -> bool:
    """Whether its model is given the tool of a structured reply, and not the tool's schema as a format."""
    return calls_tools(*read_model(options.model), thinks=options.effort != "least")
