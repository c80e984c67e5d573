"""Money: set aside before a call, booked after it, never more than there is."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from kitchen.contract.language_model import (
    BudgetSpentError,
    CallTimeoutError,
    ModelError,
    RejectedError,
    Reply,
    Request,
    UnpricedError,
    UnreadableReplyError,
    Usage,
)
from kitchen.llm.call_costs import load_prices, parse_prices
from kitchen.llm.in_memory_purse import InMemoryPurse
from kitchen.llm.model_wrappers import BudgetedModel, ask_and_record
from tests.kitchen.llm.conftest import request
from tests.kitchen.llm.fakes import Scripted, failed

PRICES = parse_prices('[anthropic."claude-sonnet-5-5"]\ninput = 1000000\noutput = 0\n', "prices.toml")
"""A dollar for each token that goes in."""
WORST = PRICES.worst("anthropic", request())


def paying(*answers: Reply | Exception, limit: float = 1000) -> tuple[BudgetedModel, InMemoryPurse, Scripted]:
    wallet, model = InMemoryPurse(limit), Scripted(answers)
    return BudgetedModel(model, wallet, PRICES), wallet, model


def test_what_was_counted_is_booked() -> None:
    model, wallet, _ = paying(Reply("ok", usage=Usage(input=3)))
    assert asyncio.run(model.ask(request())).cost == 3
    assert (wallet.spent, wallet.reserved) == (3, 0)


def test_a_call_that_may_cost_more_than_there_is_is_not_made() -> None:
    model, wallet, within = paying(Reply("ok"), limit=WORST - 1)
    call = asyncio.run(ask_and_record(model, request()))
    assert call.error == "budget"
    assert call.cost == 0
    assert within.asked == []
    assert (wallet.spent, wallet.reserved) == (0, 0)


def test_a_model_without_a_price_is_not_called_on_a_budget() -> None:
    model, wallet, within = paying(Reply("ok"))
    with pytest.raises(UnpricedError, match="claude-unheard-of"):
        asyncio.run(model.ask(request("claude-unheard-of")))
    assert within.asked == []
    assert wallet.reserved == 0


def test_without_a_budget_it_is_called_and_its_cost_is_not_known() -> None:
    model = BudgetedModel(Scripted([Reply("ok", usage=Usage(3))] * 2), None, PRICES)
    assert asyncio.run(model.ask(request("claude-unheard-of"))).cost is None
    assert asyncio.run(model.ask(request())).cost == 3


@pytest.mark.parametrize("error", [CallTimeoutError, UnreadableReplyError])
def test_what_the_server_may_have_billed_is_booked_at_its_worst(error: type[ModelError]) -> None:
    model, wallet, _ = paying(error("?"))
    assert asyncio.run(ask_and_record(model, request())).cost == WORST
    assert (wallet.spent, wallet.reserved) == (WORST, 0)


def test_an_answer_for_which_nothing_was_counted_is_booked_at_its_worst() -> None:
    model, wallet, _ = paying(Reply("ok"))
    assert asyncio.run(model.ask(request())).cost == wallet.spent == WORST


def test_what_the_server_did_not_bill_is_not_booked() -> None:
    refused = failed(RejectedError)
    refused.usage = Usage()
    counted = failed(UnreadableReplyError)
    counted.usage = Usage(input=2)
    model, wallet, _ = paying(refused, counted)
    assert [asyncio.run(ask_and_record(model, request())).cost for _ in range(2)] == [0, 2]
    assert (wallet.spent, wallet.reserved) == (2, 0)


def test_a_count_that_cannot_be_is_booked_at_its_worst() -> None:
    absurd = failed(UnreadableReplyError)
    absurd.usage = Usage(output=10**30)
    model, wallet, _ = paying(Reply("ok", usage=Usage(input=10**30)), absurd)
    assert [asyncio.run(ask_and_record(model, request())).cost for _ in range(2)] == [WORST, WORST]
    assert wallet.spent == 2 * WORST


def test_where_no_money_can_be_set_aside_nothing_is_asked_and_nothing_spent(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Locked(InMemoryPurse):
        async def reserve(self, amount: float) -> None:
            raise RuntimeError("database is locked: sk-a-secret")

    within = Scripted([Reply("ok")])
    call = asyncio.run(ask_and_record(BudgetedModel(within, Locked(1), PRICES), request()))
    assert (call.error, call.cost, within.asked) == ("error", 0, [])
    assert call.error_text == "the ledger failed (RuntimeError): the call was not made"
    assert "secret" not in repr(call) + caplog.text


def test_an_accident_gives_no_money_back() -> None:
    model, wallet, _ = paying(KeyError("bug"))
    assert asyncio.run(ask_and_record(model, request())).error == "error"
    assert (wallet.spent, wallet.reserved) == (WORST, 0)


def test_many_at_once_never_spend_more_than_there_is() -> None:
    model, wallet, within = paying(*[Reply("ok", usage=Usage(input=int(WORST)))] * 64, limit=10 * WORST)
    with ThreadPoolExecutor(16) as pool:
        calls = list(pool.map(lambda _: asyncio.run(ask_and_record(model, request())), range(64)))
    assert wallet.spent <= wallet.limit
    assert wallet.reserved == pytest.approx(0)
    assert 1 <= len(within.asked) <= 10
    assert {call.error for call in calls} == {"", "budget"}


def test_the_reserve_is_enough_for_the_longest_answer_and_a_cache_that_is_filled() -> None:
    prices = load_prices()
    question = Request("claude-opus-5-5", request().messages, max_tokens=1000)
    worst = prices.worst("anthropic", question)
    assert worst >= prices.cost(Usage(output=1000, cache_write=20), "anthropic", "claude-opus-5-5")


def test_a_wallet_says_what_is_left() -> None:
    with pytest.raises(BudgetSpentError, match=r"2\.00 USD needed, 1\.00 USD left"):
        asyncio.run(InMemoryPurse(1).reserve(2))
