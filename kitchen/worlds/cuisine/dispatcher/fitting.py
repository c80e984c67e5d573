"""What of a dispatcher's settings its model does not take."""

from __future__ import annotations

from collections.abc import Iterator

from kitchen.llm.registry import STAND_IN, read_model, takes_seed, takes_temperature
from kitchen.worlds.cuisine.dispatcher.options import Options


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
