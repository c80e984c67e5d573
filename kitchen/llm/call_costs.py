"""Compute what calls of language models cost in US dollars, from a price list and numbers of tokens.

Before a call, the number of tokens is estimated from the number of bytes. Researchers can edit the price
list. A model without a price raises `UnknownPriceError`. A study with a budget then makes no call. Other
studies make the call and record that its cost is unknown.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, FiniteFloat, TypeAdapter

from kitchen.contract.data_files import DataError, DataSource, Record, error_text, parse_toml
from kitchen.contract.language_model import Request, Usage
from kitchen.llm.model_capabilities import predecessor_of, without_date
from kitchen.llm.service_settings import (
    AUTO_TIER,
    REGION,
    TIER,
    USUAL_SERVED,
    USUAL_TIERS,
    ServiceSettings,
    service_settings,
)
from kitchen.words.english_text import os_error_words

BYTES_PER_TOKEN = 3.5
"""Average number of bytes of one token."""
MIN_BYTES_PER_TOKEN = 2.0
"""Bytes of one token in the worst case, averaged over a whole prompt."""
TOKENS_PER_MESSAGE = 8
"""Maximum number of tokens that a message costs besides its text."""
TOKENS_PER_TOOL = 600
"""Maximum number of tokens that an API adds to explain a tool."""


def estimate_tokens(text: str) -> int:
    """Return the estimated number of tokens of a text; 0 for an empty one."""
    return round(len(text.encode()) / BYTES_PER_TOKEN)


def max_prompt_tokens(request: Request) -> int:
    """Return an upper estimate of the number of tokens of this request's prompt, from the length of its
    messages and its tool."""
    size = sum(len(message.text.encode()) for message in request.messages)
    tokens = size / MIN_BYTES_PER_TOKEN + TOKENS_PER_MESSAGE * len(request.messages)
    if request.tool:
        described = json.dumps([request.tool.name, request.tool.description, dict(request.tool.schema)])
        tokens += len(described) / MIN_BYTES_PER_TOKEN + TOKENS_PER_TOOL
    return round(tokens)


DEFAULT_PRICE_FILE = Path(__file__).with_name("prices.toml")
MILLION = 1_000_000
ANY_MODEL = "*"
"""The entry for all models of a provider without an entry of their own."""
HOUR_FACTOR = 2.0
"""Price of input that is cached for an hour, as a multiple of the price of input."""
BATCH_FACTOR = 0.5
"""Price of a call in a batch, as a multiple of its usual price."""
MIN_CACHED_TOKENS = 4096
"""Default minimum length, in tokens, of a fixed part that can be cached. It is the largest minimum known of
any model, so that no forecast is too low."""


class PriceFileError(Exception):
    """Raised when a price list cannot be used. The message is one line: `file: key: reason`."""


class UnknownPriceError(LookupError):
    """Raised when no price is known for a model, or for a prompt of this length."""


@dataclass(frozen=True, slots=True)
class Price:
    """The prices of a model, in US dollars per million tokens, for prompts of at most `up_to` tokens
    (None: for all lengths)."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    up_to: int | None = None
    cache_from: int = MIN_CACHED_TOKENS
    """Minimum length, in tokens, of a fixed part that can be cached."""
    cache_write_hour: float | None = None
    """The price of input that is cached for an hour instead of five minutes; None: `HOUR_FACTOR` times the
    price of input."""
    batch: float = BATCH_FACTOR
    """Price of a call in a batch, as a multiple of its usual price."""
    tiers: Mapping[str, float] = field(default_factory=dict)
    """Prices in other service tiers, as multiples of the usual price."""
    regions: Mapping[str, float] = field(default_factory=dict)
    """Prices in regions, as multiples of the usual price."""

    def served(self, told: Mapping[str, str]) -> Price:
        """Return the prices in the tier and the region in which a call was answered (`service_settings`).
        Raises UnknownPriceError for a tier that has neither a factor nor the usual price."""
        tier = told.get(TIER, "")
        if tier not in self.tiers and tier not in USUAL_SERVED:
            raise UnknownPriceError(f"no price is known for the service tier {tier!r}")
        factor = self.tiers.get(tier, 1.0) * self.regions.get(told.get(REGION, ""), 1.0)
        return self if factor == 1 else self.times(factor)

    def most_served(self, asked: ServiceSettings) -> Price:
        """Return the highest prices of a call that is asked with these settings. Without a region, the
        provider chooses one. Raises UnknownPriceError for an unusual tier that has no factor."""
        if asked.tier not in (*USUAL_TIERS, AUTO_TIER, *self.tiers):
            raise UnknownPriceError(f"no price is known for the service tier {asked.tier!r}")
        tier = 1.0 if asked.tier in USUAL_TIERS else max([1.0, *self.tiers.values()])
        anywhere = max([1.0, *self.regions.values()])
        region = self.regions.get(asked.region, 1.0) if asked.region else anywhere
        return self if tier * region == 1 else self.times(tier * region)

    def times(self, factor: float) -> Price:
        """Return these prices, multiplied by a factor."""
        hour = self.cache_write_hour
        return replace(
            self,
            input=self.input * factor,
            output=self.output * factor,
            cache_read=self.cache_read * factor,
            cache_write=self.cache_write * factor,
            cache_write_hour=None if hour is None else hour * factor,
        )

    def for_an_hour(self) -> Price:
        """Return the prices where the fixed part of the prompt is cached for an hour."""
        hour = self.cache_write_hour
        return replace(self, cache_write=HOUR_FACTOR * self.input if hour is None else hour)

    def caching_of(self, fixed: int) -> str:
        """Return a sentence about caching: whether the provider caches a fixed prompt part of `fixed` tokens.
        Empty if there is no fixed part, or if caching would save nothing."""
        if not fixed or self.cache_read >= self.input:
            return ""
        if fixed >= self.cache_from:
            return f"the fixed part of {fixed} tokens is read from the cache after an episode's first call"
        return (
            f"the fixed part of {fixed} tokens is too short to be cached (from {self.cache_from} on): it is "
            "paid in full in every step"
        )

    def of(self, usage: Usage) -> float:
        """Return the cost in US dollars of these numbers of tokens."""
        parts = (
            usage.input * self.input,
            usage.output * self.output,
            usage.cache_read * self.cache_read,
            usage.cache_write * self.cache_write,
        )
        return sum(parts) / MILLION

    def at_worst(self, prompt: int, output: int) -> float:
        """Return the maximum cost in US dollars of a call with these numbers of tokens. Each prompt token has
        the highest of the input and cache prices."""
        dearest = max(self.input, self.cache_read, self.cache_write)
        return (prompt * dearest + output * self.output) / MILLION


@dataclass(frozen=True, slots=True)
class CallPlan:
    """The number and size of planned calls, for a cost forecast. The first call of each episode stores the
    prompt's fixed part in the provider's cache."""

    calls: int
    fixed: int
    """Tokens of the part that is the same throughout an episode."""
    fresh: int
    """Average number of tokens of the rest of the prompt."""
    longest: int
    """Maximum number of tokens of the rest of the prompt."""
    output: int
    """Tokens of a usual answer."""
    episodes: int = 1
    cache_hour: bool = False
    """True if the fixed part is cached for an hour."""


def _own_names(model: str) -> tuple[str, ...]:
    return model, without_date(model), ANY_MODEL


@dataclass(frozen=True, slots=True)
class PriceList:
    """Prices by provider and model. `checked` is the day on which somebody last compared them with the
    providers' pages."""

    prices: Mapping[tuple[str, str], Price]
    checked: str = ""
    of_batches: bool = False
    """True for the prices of calls in batches, which are sent without a service tier."""

    def price(self, provider: str, model: str, prompt: int = 0, *, hour: bool = False) -> Price:
        """Return the price of a model for a prompt of `prompt` tokens, with the settings of its service. With
        `hour`, its fixed part is cached for an hour. Raises UnknownPriceError if there is none, also for the
        service tier in which the model is asked."""
        asked = service_settings(provider, model)
        asked = replace(asked, tier="") if self.of_batches else asked
        price = self.usual_price(provider, model, prompt).most_served(asked)
        return price.for_an_hour() if hour else price

    def usual_price(self, provider: str, model: str, prompt: int = 0) -> Price:
        """Return the price of a model in the usual tier, for a prompt of `prompt` tokens. Raises
        UnknownPriceError if there is none."""
        price = self.find(provider, model)
        if price is None:
            raise UnknownPriceError(f"no price is known for {provider}/{model}")
        if price.up_to is not None and prompt > price.up_to:
            raise UnknownPriceError(
                f"no price is known for {provider}/{model} with a prompt of {prompt} tokens"
                f" (prices hold up to {price.up_to})"
            )
        return price

    def in_batches(self) -> PriceList:
        """Return the prices of calls that are sent in batches."""
        prices = {key: price.times(price.batch) for key, price in self.prices.items()}
        return replace(self, prices=prices, of_batches=True)

    def knows(self, provider: str, model: str) -> bool:
        """Return whether the list has any price for this model."""
        return self.find(provider, model) is not None

    def assumed_from(self, provider: str, model: str) -> str:
        """Return the name of the model whose price is taken for this one: the newest of its family in the
        list, such as `claude-fable-5-1` for `claude-fable-5-2`. Empty if the model has a price of its own, if
        the list has none of its family, or if the list has a newer one: older models may cost more."""
        if any((provider, name) in self.prices for name in _own_names(model)):
            return ""
        return predecessor_of(model, (name for known, name in self.prices if known == provider))

    def find(self, provider: str, model: str) -> Price | None:
        """Return the price of a model. Try its own entry, then that of its name without a date, then the
        provider's price for all other models, then `assumed_from`. Return None if there is no entry."""
        names = (*_own_names(model), self.assumed_from(provider, model))
        return next((self.prices[provider, name] for name in names if (provider, name) in self.prices), None)

    def cost(
        self,
        usage: Usage,
        provider: str,
        model: str,
        *,
        hour: bool = False,
        served: Mapping[str, str] | None = None,
    ) -> float:
        """Return the cost in US dollars of these numbers of tokens. With `hour`, what was written to the
        cache is kept for an hour. `served` is the tier and the region that the API reported; None: the
        highest price of the settings. Raises UnknownPriceError if there is no price."""
        prompt = usage.input + usage.cache_read + usage.cache_write
        price = self.price(provider, model, prompt, hour=hour)
        if served is None:
            return price.of(usage)
        price = self.usual_price(provider, model, prompt).served(served)
        return (price.for_an_hour() if hour else price).of(usage)

    def worst(self, provider: str, request: Request) -> float:
        """Return the maximum cost in US dollars of one attempt of this request. Raises UnknownPriceError
        if there is no price."""
        prompt = max_prompt_tokens(request)
        price = self.price(provider, request.model, prompt, hour=request.cache_hour)
        return price.at_worst(prompt, request.max_tokens)

    def expected(self, provider: str, model: str, plan: CallPlan) -> float:
        """Return the expected cost of the planned calls in US dollars, without retries. The fixed part of
        the prompt is cached if it is long enough. Raises UnknownPriceError if there is no price."""
        price = self.price(provider, model, plan.fixed + plan.longest, hour=plan.cache_hour)
        cached = plan.fixed if plan.fixed >= price.cache_from else 0
        filled = min(plan.episodes, plan.calls)
        usage = Usage(
            input=plan.calls * (plan.fixed - cached + plan.fresh),
            output=plan.calls * plan.output,
            cache_read=(plan.calls - filled) * cached,
            cache_write=filled * cached,
        )
        return price.of(usage)


def load_prices(path: Path | None = None) -> PriceList:
    """Return the prices in the file `path`, else in the file that `BRIGADE_PRICES` names, else the list
    shipped with the app. A changed file is read again. Raises PriceFileError if it cannot be used."""
    named = os.environ.get("BRIGADE_PRICES")
    file = path or (Path(named) if named else DEFAULT_PRICE_FILE)
    try:
        return _load(file, file.stat().st_mtime_ns)
    except OSError as error:
        raise PriceFileError(f"{file}: cannot be read: {os_error_words(error)}") from error


@lru_cache(maxsize=8)
def _load(file: Path, changed: int) -> PriceList:
    try:
        return parse_prices(file.read_text(encoding="utf-8"), file.name)
    except UnicodeDecodeError as error:
        raise PriceFileError(f"{file.name}: is not UTF-8: {error}") from error


Dollars = Annotated[
    int | FiniteFloat, Field(ge=0, le=MILLION), error_text("must be US dollars per million tokens, 0 or more")
]
Tokens = Annotated[int, Field(ge=1), error_text("must be a whole number of tokens from 1 on")]

Factor = Annotated[int | FiniteFloat, Field(ge=0, le=100), error_text("must be a factor from 0 to 100")]


class PriceEntry(Record):
    """The entry of one model in the price list file."""

    input: Dollars
    output: Dollars
    cache_read: Dollars | None = None
    cache_write: Dollars | None = None
    cache_write_hour: Dollars | None = None
    up_to: Tokens | None = None
    cache_from: Tokens = MIN_CACHED_TOKENS
    batch: Factor = BATCH_FACTOR
    tiers: dict[str, Factor] = {}
    regions: dict[str, Factor] = {}


_STRICT = ConfigDict(strict=True)
_DAY = TypeAdapter(Annotated[str, error_text("must be a text, such as a date in quotes")], config=_STRICT)
_PROVIDERS = TypeAdapter(dict[str, dict[str, object]], config=_STRICT)
_ENTRY = TypeAdapter(PriceEntry)


def parse_prices(text: str, file: str) -> PriceList:
    """Return the price list that this TOML text contains. `file` is the name used in error messages.
    Raises PriceFileError if the text is invalid."""
    try:
        source, values = parse_toml(text, file)
        checked = source.at("checked").read(_DAY, values.pop("checked", ""))
        prices = {
            (provider, model): _price(source.at(f'{provider}."{model}"'), entry)
            for provider, models in source.read(_PROVIDERS, values).items()
            for model, entry in models.items()
        }
    except DataError as error:
        raise PriceFileError(str(error)) from error
    return PriceList(prices, checked)


def _price(source: DataSource, values: object) -> Price:
    """Return the price of one model. If the list has no prices for the cache, cached tokens cost as much as
    other input."""
    told = source.read(_ENTRY, values)
    cached, kept = (told.input if rate is None else rate for rate in (told.cache_read, told.cache_write))
    return Price(
        input=float(told.input),
        output=float(told.output),
        cache_read=float(cached),
        cache_write=float(kept),
        up_to=told.up_to,
        cache_from=told.cache_from,
        cache_write_hour=None if told.cache_write_hour is None else float(told.cache_write_hour),
        batch=float(told.batch),
        tiers=told.tiers,
        regions=told.regions,
    )


def format_dollars(amount: float | Decimal | None) -> str:
    """Return an amount as text: `12.35 USD`. Amounts below one dollar have four decimals, below one cent
    six. None gives `cost not known`."""
    if amount is None:
        return "cost not known"
    decimals = 2 if not amount or amount >= 1 else 4 if amount >= 0.01 else 6
    return f"{amount:.{decimals}f} USD"
