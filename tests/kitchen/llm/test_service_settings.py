"""The service tier, the region and the address of a model: what is sent, what it costs, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest

from kitchen.contract.language_model import Reply, Usage
from kitchen.llm.call_costs import UnknownPriceError, load_prices, parse_prices
from kitchen.llm.model_wrappers import booked_cost
from kitchen.llm.provider_registry import OPENAI, keeps_to_schema, why_not_usable
from kitchen.llm.providers import (
    anthropic,
    anthropic_batches,
    openai_batches,
    openai_compatible,
    sdk_calls,
)
from kitchen.llm.providers.anthropic_batches import _sent
from kitchen.llm.providers.sdk_calls import Sdk
from kitchen.llm.service_settings import ServiceSettings, service_problem, service_settings
from tests.kitchen.llm.conftest import request

PRICES = parse_prices(
    """
    [anthropic."claude-opus-5"]
    input = 5.0
    output = 25.0
    tiers = { priority = 2.0 }
    regions = { us = 1.1 }
    """,
    "prices.toml",
)
USAGE = Usage(1_000_000, 0)


def cost(served: dict[str, str] | None) -> float | None:
    """Return the cost of a million tokens of prompt that were served like this."""
    return booked_cost(PRICES, "anthropic", request("claude-opus-5"), USAGE, 99.0, served)


def test_without_settings_nothing_is_sent() -> None:
    asked = request("claude-opus-5")
    assert not {"service_tier", "inference_geo"} & anthropic.arguments_for(asked).keys()
    assert "service_tier" not in openai_compatible.arguments_for(asked, own=False)
    assert service_settings("anthropic", "claude-opus-5") == ServiceSettings()


def test_the_row_of_a_model_goes_before_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "models.toml"
    file.write_text('[anthropic."claude-opus-5"]\ninference_geo = "us"\nbase_url = "https://eu.example"\n')
    monkeypatch.setenv("BRIGADE_MODELS", str(file))
    monkeypatch.setenv("ANTHROPIC_INFERENCE_GEO", "global")
    monkeypatch.setenv("ANTHROPIC_SERVICE_TIER", "auto")
    assert service_settings("anthropic", "claude-opus-5") == ServiceSettings(
        "auto", "us", "https://eu.example"
    )
    assert service_settings("anthropic", "claude-haiku-4-5") == ServiceSettings("auto", "global")
    assert anthropic.arguments_for(request("claude-opus-5"))["inference_geo"] == "us"
    in_batch = _sent(request("claude-opus-5"))
    assert in_batch["inference_geo"] == "us" and "service_tier" not in in_batch


def test_the_price_is_that_of_the_tier_and_the_region_that_were_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert cost({"service_tier": "standard"}) == 5.0
    assert cost({"service_tier": "priority", "inference_geo": "us"}) == pytest.approx(11.0)
    assert PRICES.in_batches().price("anthropic", "claude-opus-5").input == pytest.approx(2.75)
    assert cost(None) == pytest.approx(5.5), "nobody knows the region"
    monkeypatch.setenv("ANTHROPIC_SERVICE_TIER", "auto")
    assert PRICES.price("anthropic", "claude-opus-5").input == pytest.approx(11.0), "what is reserved"


def test_a_tier_without_a_factor_has_no_price(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cost({"service_tier": "fast"}) == 99.0, "the highest price"
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_SERVICE_TIER", "priority")
    model = next(name for provider, name in load_prices().prices if provider == OPENAI)
    with pytest.raises(UnknownPriceError, match="service tier 'priority'"):
        load_prices().price(OPENAI, model)
    assert "no price is known for the service tier 'priority'" in why_not_usable(OPENAI, model)[0]
    assert load_prices().in_batches().price(OPENAI, model), "a batch is a tier of its own"


def test_what_the_api_reports_is_in_the_data() -> None:
    usage = {"input_tokens": 9, "output_tokens": 1, "service_tier": "priority", "inference_geo": "us"}
    told = {"content": [{"type": "text", "text": "noop_agent0"}], "usage": usage}
    reply: Reply = anthropic.read_reply(told, None)
    assert reply.parameters == {"served": {"service_tier": "priority", "inference_geo": "us"}}
    message = {"message": {"content": "noop_agent0"}, "finish_reason": "stop"}
    reply = openai_compatible.read_reply({"choices": [message], "service_tier": "flex"}, None)
    assert reply.parameters == {"served": {"service_tier": "flex"}}


@pytest.mark.parametrize(
    "variable, value, words",
    [
        ("ANTHROPIC_SERVICE_TIER", "fast", "service_tier: 'fast' is not one of auto, standard_only"),
        ("ANTHROPIC_INFERENCE_GEO", "United States", "is no region of anthropic, such as us"),
    ],
)
def test_a_setting_that_the_provider_does_not_accept_is_named(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, words: str
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    assert (
        service_problem("anthropic", "claude-opus-5")
        == ""
        == "".join(why_not_usable("anthropic", "claude-opus-5"))
    )
    monkeypatch.setenv(variable, value)
    assert words in service_problem("anthropic", "claude-opus-5")
    assert words in why_not_usable("anthropic", "claude-opus-5")[0]


def test_a_regional_server_of_openai_is_openais(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://eu.api.openai.com/v1")
    assert keeps_to_schema("openai-compatible", "gpt-6")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://api.openai.com.example.org/v1")
    assert not keeps_to_schema("openai-compatible", "gpt-6")


@pytest.mark.parametrize("api, provider", [(anthropic_batches, "anthropic"), (openai_batches, OPENAI)])
def test_everything_about_a_model_goes_to_its_own_address(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, api: Any, provider: str
) -> None:
    file = tmp_path / "models.toml"
    file.write_text(f'[{provider}.eu]\nbase_url = "https://eu.example/v1"\n')
    monkeypatch.setenv("BRIGADE_MODELS", str(file))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    hosts: list[str | None] = []
    module = SimpleNamespace(__name__="sdk")

    def connected(*given: str | None) -> Sdk:
        address = SimpleNamespace(host=urlsplit(given[-1] or "").hostname)
        return Sdk(module, SimpleNamespace(base_url=address), ())

    def fetched(connect: Callable[[], Sdk], *_: object) -> dict[str, Any]:
        hosts.append(connect().client.base_url.host)
        return {"id": "batch_1", "input_tokens": 9}

    monkeypatch.setattr(anthropic, "_client", connected)
    monkeypatch.setattr(openai_compatible, "_client", connected)
    monkeypatch.setattr(sdk_calls, "fetch_from_server", fetched)
    asked = {"a": request("eu")}
    assert api.submit(asked, "", 9.0) == "batch_1" and api.collect("batch_1", asked, 9.0) is None
    anthropic.count_tokens(request("eu"))
    own = hosts if provider == "anthropic" else hosts[:-1]
    assert set(own) == {"eu.example"}
    assert api.lane(request("eu")) != api.lane(request("other")).replace("other", "eu")
    assert not keeps_to_schema(OPENAI, "eu") or provider == "anthropic"
