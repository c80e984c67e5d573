"""Send every style of reply and every error of a batch to both providers' batch APIs, and check the costs.

One batch holds all styles. Each reply must be the one that was sent, each error must have its code, the costs
must be those computed by hand, and no key may be stored.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from decimal import Decimal

from kitchen.contract.language_model import Message, ModelError, Reply, Request
from kitchen.llm.call_costs import DEFAULT_PRICE_FILE, MILLION, load_prices
from kitchen.llm.model_wrappers import booked_cost
from kitchen.llm.provider_registry import batch_api
from tests.minds.model_cases import reply_styles
from tests.minds.reply_checks import CENT, MODELS, SECRET, Checked
from tests.stand_in_server import Answer, StandInServer

SECONDS = 30.0
HALF = Decimal("0.5")
FAULTS: Sequence[tuple[Answer, str]] = (
    (Answer("expired"), "timeout"),
    (Answer("status", status=400, message=f"wrong key {SECRET}"), "4xx"),
    (Answer("status", status=400, message="prompt is too long"), "context"),
    (Answer("status", status=429), "429"),
    (Answer("status", status=500), "5xx"),
    (Answer("empty"), "unreadable"),
)
"""Answers to single requests of a batch, with the code that each must have."""


def check_batches(server: StandInServer, every: int) -> Checked:
    """Check a batch of all styles (with `every` above 1, only each so many) and all faults, with each
    provider."""
    found, total = Checked("each style and each error in a batch, both providers"), Decimal(0)
    texts = [style.text for style in reply_styles()[::every] if style.text.strip()]
    for provider, model in MODELS.items():
        answers = [
            *(
                Answer(text=text, usage={"input": 100 + n, "output": 20 + n % 7})
                for n, text in enumerate(texts)
            ),
            *(answer for answer, _ in FAULTS),
        ]
        server.script = list(answers)
        server.asked.clear()
        requests = {f"call-{n}": Request(model, (Message("user", f"{n}"),)) for n in range(len(answers))}
        api = batch_api(provider)
        batch = api.submit(requests, "checked", SECONDS)
        results = None
        while results is None:
            results = api.collect(batch, requests, SECONDS)
        codes = [""] * len(texts) + [code for _, code in FAULTS]
        prices = tomllib.loads(DEFAULT_PRICE_FILE.read_text("utf-8"))[provider][model]
        for (name, request), answer, code in zip(requests.items(), answers, codes, strict=True):
            result = results[name]
            cost = _cost(provider, request, result)
            total += cost
            counted = answer.usage if not code or answer.kind == "empty" else {}
            right = sum((Decimal(str(prices[key])) * number for key, number in counted.items()), Decimal(0))
            found.wrong += [f"{provider}, {name}: {each}" for each in _wrong(result, answer, code) if each]
            if abs(cost - right * HALF / MILLION) > CENT:
                found.wrong.append(f"{provider}, {name}: cost {cost} instead of {right * HALF / MILLION}")
        found.cases += len(answers)
        found.calls += len(server.asked)
    found.note = f"{total:.6f} USD, half of the usual price, as computed by hand"
    return found


def _cost(provider: str, request: Request, result: Reply | ModelError) -> Decimal:
    prices = load_prices().in_batches()
    worst = prices.worst(provider, request)
    return Decimal(repr(booked_cost(prices, provider, request, result.usage, worst)))


def _wrong(result: Reply | ModelError, answer: Answer, code: str) -> list[str]:
    """Return what is wrong with a result."""
    if isinstance(result, ModelError):
        kept = f"{result} {result.raw}"
        return [
            "" if result.code == code else f"ended as {result.code or 'ok'} instead of {code or 'ok'}",
            "the key is in what is stored" if SECRET in kept else "",
        ]
    said = f"{result.reasoning}{result.text}"
    return [
        "" if not code else f"a reply instead of {code}",
        "" if answer.text.strip().endswith(said.strip()[-20:]) else "another text",
    ]
