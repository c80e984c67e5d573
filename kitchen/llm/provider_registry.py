"""List the providers of language models, and build the model that an agent calls in one decision.

`make_decision_model` adds retries, a budget, pauses, and the replay of recorded answers.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from importlib import import_module
from random import Random
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kitchen.contract.language_model import LanguageModel, OfferedModel, Payer, RecordedAnswers, Request
from kitchen.contract.world_errors import SettingsError
from kitchen.llm.call_costs import Price, PriceFileError, PriceList, UnknownPriceError, load_prices
from kitchen.llm.circuit_breaker import PausingModel
from kitchen.llm.model_capabilities import listed_model, model_version, without_date
from kitchen.llm.model_wrappers import BudgetedModel, RetryingModel, RetryPolicy
from kitchen.llm.providers.anthropic import CLAUDE_MODELS, claude_traits
from kitchen.llm.providers.openai_compatible import is_openai
from kitchen.llm.recorded_calls import ReplayedModel
from kitchen.llm.service_settings import service_problem, service_settings
from kitchen.registry.dotted_paths import UnknownNameError, load_named

if TYPE_CHECKING:
    from kitchen.llm.providers.stand_in_model import StandIn

log = logging.getLogger(__name__)

ANTHROPIC, OPENAI, STAND_IN = "anthropic", "openai-compatible", "stand-in"

PROVIDERS: dict[str, str] = {
    ANTHROPIC: "kitchen.llm.providers.anthropic:Anthropic",
    OPENAI: "kitchen.llm.providers.openai_compatible:OpenAICompatible",
    STAND_IN: "kitchen.llm.providers.stand_in_model:StandIn",
}
"""Provider name → class. Importing a class does not import its SDK."""

VARIABLES: dict[str, tuple[str, ...]] = {
    ANTHROPIC: ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    OPENAI: ("OPENAI_BASE_URL", "OPENAI_API_KEY"),
    STAND_IN: (),
}
"""Environment variables by provider, of which it needs one."""

MODELS: dict[str, tuple[str, ...]] = {
    ANTHROPIC: tuple(CLAUDE_MODELS),
    STAND_IN: ("stand-in-1",),
}
"""The models that each provider offers by name, the default first (Claude's is `DEFAULT_CLAUDE`)."""

BATCHES: dict[str, str] = {
    ANTHROPIC: "kitchen.llm.providers.anthropic_batches",
    OPENAI: "kitchen.llm.providers.openai_batches",
}
"""Provider name → module that sends calls in batches (`providers.batch_calls`)."""

ALIASES = {"openai": OPENAI}
"""Other names of providers."""

DEFAULT_CLAUDE = "claude-sonnet-5-5"


def why_unavailable(provider: str) -> str:
    """Return in one line why this process cannot call the provider (no key or address is set); empty if it
    can."""
    wanted = VARIABLES[provider]
    if not wanted or _is_set(*wanted):
        return ""
    return f"{provider} cannot be asked from here: {' or '.join(wanted)} is not set"


def default_provider() -> str:
    """Return the provider that is used if none is named: Anthropic if its key is set, or else your own server
    if its address is set. Otherwise it is the stand-in, a program that imitates a language model."""
    if not why_unavailable(ANTHROPIC):
        return ANTHROPIC
    return OPENAI if _is_set("OPENAI_BASE_URL") else STAND_IN


def offered_models(provider: str) -> tuple[str, ...]:
    """Return the names of the models that forms offer; others can be requested too. Raises UnknownNameError
    for an unknown provider.

    Your own server offers the models in `OPENAI_MODEL` (separated by commas).
    """
    load_named(PROVIDERS, provider)
    if provider == OPENAI:
        return tuple(name.strip() for name in os.environ.get("OPENAI_MODEL", "").split(",") if name.strip())
    return MODELS.get(provider, ())


def default_model(provider: str) -> str:
    """Return the model that is used if none is named; empty if there is none."""
    if provider == ANTHROPIC:
        return DEFAULT_CLAUDE
    return next(iter(offered_models(provider)), "")


def parse_model_setting(text: str) -> tuple[str, str]:
    """Return provider and model from a co-player's setting `provider:model`. Missing parts are replaced by
    the defaults of this server. Raises SettingsError for an unknown provider."""
    named, _, model = text.strip().partition(":")
    provider = ALIASES.get(named, named) or default_provider()
    if provider not in PROVIDERS:
        known = ", ".join(PROVIDERS)
        raise SettingsError(f"model: {named!r} is no provider of language models; there are {known}")
    return provider, model.strip() or default_model(provider)


def takes_temperature(provider: str, model: str) -> bool:
    """Return whether the model accepts a temperature. Newer Claude models refuse every request that has
    one."""
    return provider != ANTHROPIC or claude_traits(model).temperature


def accepted_efforts(provider: str, model: str) -> tuple[str, ...] | None:
    """Return the limits on its thinking that the model accepts, such as `low`. Return None if this is not
    known, and an empty tuple if it accepts none."""
    told = listed_model(provider, model)
    if told is not None and (told.thinking or told.efforts):
        return told.efforts
    return () if provider == ANTHROPIC and not claude_traits(model).effort else None


def calls_tools(provider: str, model: str, *, thinks: bool) -> bool:
    """Return whether the model gives structured answers by a tool call. If not, the tool's schema is sent
    as the format of the answer."""
    return provider != ANTHROPIC or claude_traits(model).calls_tools(thinks=thinks)


def keeps_to_schema(provider: str, model: str) -> bool:
    """Return whether the provider guarantees that a model's structured answer has the requested form:
    Anthropic and OpenAI do. Other servers with OpenAI's API, and the stand-in, may not."""
    if provider == OPENAI:
        own = service_settings(provider, model).address
        address = own or os.environ.get("OPENAI_BASE_URL", "").strip()
        return not address or is_openai(urlsplit(address).hostname)
    return provider == ANTHROPIC


def takes_seed(provider: str) -> bool:
    """Return whether the provider accepts a seed and top_p. Only servers with OpenAI's API do."""
    return provider == OPENAI


def make_bare_model(provider: str, stand_in: Callable[[], StandIn] | None = None) -> LanguageModel:
    """Return the provider's model without retries and cost accounting.

    `stand_in` creates the stand-in, a program that imitates a model. Raises ValueError if the provider is the
    stand-in and `stand_in` is missing. Raises UnknownNameError for an unknown provider.
    """
    if provider == STAND_IN:
        if stand_in is None:
            raise ValueError("the stand-in has to be told what is right: hand in `stand_in`")
        return stand_in()
    provider_class: type[LanguageModel] = load_named(PROVIDERS, provider)
    return provider_class()


def make_decision_model(
    provider: str,
    *,
    rng: Random,
    purse: Payer | None = None,
    prices: PriceList | None = None,
    patience: RetryPolicy | None = None,
    stand_in: Callable[[], StandIn] | None = None,
    answers: RecordedAnswers | None = None,
) -> LanguageModel:
    """Return a model for one decision, with retries (`patience`) and cost accounting. A model that keeps
    failing is paused (`circuit_breaker`).

    The account `purse` pays; without it there is no cost limit. With `answers`, recorded answers are returned
    and no model is called.
    """
    if answers is not None:
        return ReplayedModel(provider, answers)
    if provider == STAND_IN:
        purse = None  # it costs nothing
    paid = BudgetedModel(make_bare_model(provider, stand_in), purse, prices or _prices(provider))
    retrying = RetryingModel(paid, rng, patience or RetryPolicy())
    return retrying if provider == STAND_IN else PausingModel(retrying)


def why_not_usable(provider: str, model: str) -> list[str]:
    """Return the reasons why a study cannot use this model; empty if it can be used. Only this process's
    environment is checked. A worker on another machine may have a different environment."""
    reasons = list(filter(None, [why_unavailable(provider)]))
    if not model:
        reasons.append(f"No model of {provider} is named, neither here nor in OPENAI_MODEL")
    elif not _prices(provider).knows(provider, model):
        reasons.append(
            f"No price is known for {provider}:{model}, and a study has a budget, so it is not called "
            "(prices.toml or BRIGADE_PRICES can name one)"
        )
    if problem := service_problem(provider, model):
        reasons.append(f"{provider}:{model} cannot be asked with {problem}")
    elif unpriced := _tier_without_price(provider, model):
        reasons.append(
            f"{provider}:{model}: {unpriced}, and a study has a budget, so it is not called "
            "(`tiers` in prices.toml or BRIGADE_PRICES can name one)"
        )
    return reasons


def _tier_without_price(provider: str, model: str) -> str:
    """Return why no price is known for the service tier of this model; empty if one is, or if no price is
    known at all."""
    try:
        if _prices(provider).knows(provider, model):
            _prices(provider).price(provider, model)
    except UnknownPriceError as error:
        return str(error)
    return ""


def unlisted_model_remarks(provider: str, model: str) -> tuple[str, ...]:
    """Return a sentence (in a tuple) if our list does not have this Claude model: it is asked with the
    default capabilities, and the price of its family is taken. Otherwise return an empty tuple."""
    is_claude = provider == ANTHROPIC and model_version(model) != ("", ())
    if not is_claude or without_date(model) in CLAUDE_MODELS or listed_model(provider, model):
        return ()
    price_of = _prices(provider).assumed_from(provider, model)
    price = f" Its price is taken to be that of {price_of}." if price_of else ""
    return (
        f"{model} is not in our list: nothing special is sent to it.{price} "
        "`manage.py models --update FILE` lists newer models.",
    )


def _prices(provider: str) -> PriceList:
    """Return the provider's price list. If it cannot be read, return an empty list; studies with a budget
    then make no calls."""
    if provider == STAND_IN:
        return PriceList({(STAND_IN, "*"): Price(0.0, 0.0, 0.0, 0.0)})
    try:
        return load_prices()
    except PriceFileError as error:
        log.error("no prices: %s", error)
        return PriceList({})


def list_provider_models(provider: str, seconds: float = 20.0) -> tuple[OfferedModel, ...]:
    """Ask the provider for its models, and return them with their capabilities; empty for the stand-in (an
    imitation of a model). Raises ModelError if the provider does not answer within `seconds`."""
    module = import_module(PROVIDERS[provider].partition(":")[0])
    found: tuple[OfferedModel, ...] = module.offered(seconds) if hasattr(module, "offered") else ()
    return found


def count_tokens(provider: str, request: Request) -> int | None:
    """Ask the provider for the number of tokens of a prompt. Return None if the provider cannot count
    them. Raises ModelError if the provider does not answer."""
    module = import_module(PROVIDERS[provider].partition(":")[0])
    return module.count_tokens(request) if hasattr(module, "count_tokens") else None


def batch_api(provider: str) -> Any:
    """Return the module that sends calls to this provider in batches (`providers.batch_calls`). Raises
    UnknownNameError if the provider has no batches."""
    if provider not in BATCHES:
        raise UnknownNameError(f"{provider} takes no calls in batches; {', '.join(BATCHES)} do")
    return import_module(BATCHES[provider])


def warm_up_provider(provider: str) -> None:
    """Import the provider's SDK and create its client, which takes seconds. A worker calls this after it
    was forked, so that its first decision is not delayed. Raises ModelError if no key is set."""
    module = import_module(PROVIDERS[provider].partition(":")[0])
    if hasattr(module, "client"):
        module.client()


def _is_set(*names: str) -> bool:
    return any(os.environ.get(name) for name in names)
