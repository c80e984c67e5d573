"""The price list: what it refuses, and what follows from it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from kitchen.contract.language_model import Message, Request, Tool, Usage
from kitchen.llm import provider_registry
from kitchen.llm.call_costs import (
    CallPlan,
    PriceFileError,
    UnknownPriceError,
    estimate_tokens,
    load_prices,
    max_prompt_tokens,
    parse_prices,
)

TEXT = '[anthropic."claude-x"]\ninput = 4\noutput = 20\ncache_read = 0.4\ncache_write = 5\nup_to = 1000\n'


def test_the_shipped_list_has_a_price_for_every_model_that_is_offered() -> None:
    prices = load_prices()
    assert prices.checked
    for provider in (provider_registry.ANTHROPIC, provider_registry.STAND_IN):
        assert all(prices.knows(provider, model) for model in provider_registry.offered_models(provider))
    assert prices.cost(Usage(10_000, 10_000), "stand-in", "stand-in-1") == 0


def test_a_call_costs_what_its_tokens_cost() -> None:
    prices = parse_prices(TEXT, "p")
    usage = Usage(input=100, output=10, cache_read=500, cache_write=200)
    assert prices.cost(usage, "anthropic", "claude-x") == pytest.approx((400 + 200 + 200 + 1000) / 1e6)


@pytest.mark.parametrize(("provider", "model"), [("anthropic", "claude-y"), ("other", "claude-x")])
def test_an_unknown_model_has_no_price(provider: str, model: str) -> None:
    with pytest.raises(UnknownPriceError, match=model):
        parse_prices(TEXT, "p").cost(Usage(), provider, model)


@pytest.mark.parametrize("model", ["claude-x-20251001", "claude-x@20251001", "claude-x-2025-10-01"])
def test_a_pinned_version_costs_what_its_name_without_a_date_does(model: str) -> None:
    prices = parse_prices(TEXT, "p")
    assert prices.knows("anthropic", model)
    assert prices.price("anthropic", model) == prices.price("anthropic", "claude-x")
    own = parse_prices(TEXT + f'[anthropic."{model}"]\ninput = 9\noutput = 9\n', "p")
    assert own.price("anthropic", model).input == 9
    assert not prices.knows("anthropic", "claude-x-2025")


def test_a_longer_prompt_than_the_prices_hold_for_has_none() -> None:
    prices = parse_prices(TEXT, "p")
    with pytest.raises(UnknownPriceError, match="1001 tokens"):
        prices.cost(Usage(input=1, cache_read=1000), "anthropic", "claude-x")


def test_what_becomes_of_a_fixed_part_is_said_only_where_a_cache_saves_something() -> None:
    prices = parse_prices(f'{TEXT}cache_from = 900\n[own."*"]\ninput = 0\noutput = 0\n', "p")
    price = prices.price("anthropic", "claude-x")
    assert "899 tokens is too short to be cached (from 900 on)" in price.caching_of(899)
    assert "900 tokens is read from the cache" in price.caching_of(900)
    assert price.caching_of(0) == prices.price("own", "llama").caching_of(9999) == ""


def test_what_is_cached_for_an_hour_costs_twice_the_input_or_what_the_list_says() -> None:
    prices = parse_prices(
        f"{TEXT}cache_write_hour = 7\n[own.x]\ninput = 3\noutput = 9\ncache_write = 4\n", "p"
    )
    written = Usage(cache_write=500)
    assert prices.cost(written, "own", "x") == pytest.approx(500 * 4e-6)
    assert prices.cost(written, "own", "x", hour=True) == pytest.approx(500 * 6e-6)
    assert prices.cost(written, "anthropic", "claude-x", hour=True) == pytest.approx(500 * 7e-6)
    asked = Request("x", (Message("user", "?" * 1000),), max_tokens=10)
    usual, hour = (prices.worst("own", replace(asked, cache_hour=each)) for each in (False, True))
    assert hour - usual == pytest.approx((6 - 4) * 1e-6 * max_prompt_tokens(asked))
    plan = CallPlan(calls=10, fixed=5000, fresh=0, longest=0, output=0)
    usual, hour = (prices.expected("own", "x", replace(plan, cache_hour=each)) for each in (False, True))
    assert hour - usual == pytest.approx((6 - 4) * 1e-6 * 5000)


def test_a_star_stands_for_all_other_models() -> None:
    prices = parse_prices('[own."*"]\ninput = 0\noutput = 0\n[own.dear]\ninput = 1\noutput = 1\n', "p")
    assert prices.cost(Usage(5), "own", "llama") == 0
    assert prices.cost(Usage(5), "own", "dear") > 0


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("input = ", "p.toml: not TOML"),
        ("checked = 3", "p.toml: checked: must be a text"),
        ("anthropic = 3", "p.toml: anthropic: must be a table"),
        ("[anthropic]\nx = 3", 'p.toml: anthropic."x": must be a table'),
        ("[a.x]\ninput = 1", 'p.toml: a."x".output: is missing'),
        ("[a.x]\ninput = -1\noutput = 1", 'p.toml: a."x".input: must be US dollars'),
        ("[a.x]\ninput = true\noutput = 1", 'p.toml: a."x".input: must be US dollars'),
        ("[a.x]\ninput = nan\noutput = 1", 'p.toml: a."x".input: must be US dollars'),
        ('[a.x]\ninput = "1"\noutput = 1', 'p.toml: a."x".input: must be US dollars'),
        ("[a.x]\ninput = 1\noutput = 1\ncached = 1", 'p.toml: a."x".cached: unknown key'),
        ("[a.x]\ninput = 1\noutput = 1\nup_to = 0.5", 'p.toml: a."x".up_to: must be a whole number'),
        ("[a.x]\ninput = 1\noutput = 1\ncache_from = 0", 'p.toml: a."x".cache_from: must be a whole number'),
    ],
)
def test_a_wrong_file_is_refused_with_file_key_and_reason(text: str, complaint: str) -> None:
    with pytest.raises(PriceFileError) as caught:
        parse_prices(text, "p.toml")
    assert str(caught.value).startswith(complaint)
    assert "\n" not in str(caught.value)


def test_another_file_is_used_and_read_again_when_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[a.x]\ninput = 1\noutput = 1\n")
    monkeypatch.setenv("BRIGADE_PRICES", str(file))
    assert load_prices().price("a", "x").input == 1
    file.write_text("[a.x]\ninput = 2\noutput = 1\n")
    os.utime(file, ns=(1, 1))
    assert load_prices().price("a", "x").input == 2
    assert not load_prices().knows("anthropic", "claude-opus-5-5")


@pytest.mark.parametrize("content", [None, b"\xff"], ids=["missing", "not UTF-8"])
def test_a_file_that_cannot_be_read_is_named(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if content:
        (tmp_path / "mine.toml").write_bytes(content)
    monkeypatch.setenv("BRIGADE_PRICES", str(tmp_path / "mine.toml"))
    with pytest.raises(PriceFileError, match=r"mine\.toml"):
        load_prices()


def test_the_fixed_part_is_expected_to_be_cached_where_it_is_long_enough_for_that() -> None:
    plan = CallPlan(calls=60, fixed=500, fresh=100, longest=200, output=50, episodes=2)
    rest = 60 * (100 * 4 + 50 * 20)
    price = parse_prices(TEXT + "cache_from = 500\n", "p")
    expected = (2 * 500 * 5 + 58 * 500 * 0.4 + rest) / 1e6
    assert price.expected("anthropic", "claude-x", plan) == pytest.approx(expected)
    for short in (parse_prices(TEXT + "cache_from = 501\n", "p"), parse_prices(TEXT, "p")):
        assert short.expected("anthropic", "claude-x", plan) == pytest.approx((60 * 500 * 4 + rest) / 1e6)


def test_a_plan_whose_longest_prompt_has_no_price_has_none() -> None:
    plan = CallPlan(calls=60, fixed=500, fresh=100, longest=501, output=50)
    with pytest.raises(UnknownPriceError, match="1001 tokens"):
        parse_prices(TEXT, "p").expected("anthropic", "claude-x", plan)


def test_nothing_costs_nothing() -> None:
    assert parse_prices(TEXT, "p").expected("anthropic", "claude-x", CallPlan(0, 500, 100, 100, 50)) == 0


def test_the_estimate_at_worst_is_above_the_likely_one() -> None:
    text = "goto_agent1_pot0 éé\n" * 50
    tool = Tool("command", "x", {"type": "object"})
    plain = Request("m", [Message("user", text)])
    assert max_prompt_tokens(plain) > estimate_tokens(text) > 0
    assert max_prompt_tokens(Request("m", plain.messages, tool=tool)) > max_prompt_tokens(plain)
