"""Wrap a language model with retries, a budget, and a record of each call.

Each wrapper has the interface of a model, so wrappers can be nested::

    RetryingModel(BudgetedModel(provider, purse, prices), rng)

`purse` is the budget. Keep this order, so that every attempt is charged to the budget. A server may bill an
attempt whose answer never arrived. `provider_registry.make_decision_model` nests the wrappers in this order.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from random import Random

from kitchen.contract.language_model import (
    Attempt,
    Call,
    LanguageModel,
    ModelError,
    NoTimeLeftError,
    Payer,
    Reply,
    Request,
    UnpricedError,
    Usage,
    total_cost,
)
from kitchen.infra import prometheus_metrics
from kitchen.infra.log_context import error_traceback
from kitchen.llm.call_costs import PriceList, UnknownPriceError
from kitchen.llm.service_settings import SERVED

log = logging.getLogger(__name__)

MIN_CALL_SECONDS = 0.05
"""Minimum number of seconds that an attempt needs."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The number of attempts, and the waits between them.

    The upper bound of a wait begins with `first` seconds and doubles each time, up to `longest` seconds.
    Each wait is drawn at random between half of this bound and the bound. If a server asks for a longer
    wait, that wait is used.
    """

    tries: int = 6
    first: float = 0.5
    longest: float = 8.0

    def wait(self, failed: int, asked: float | None, rng: Random) -> float:
        """Return the seconds to wait after `failed` failed attempts. `asked` is the wait in seconds that the
        server asks for, if any."""
        most: float = min(self.longest, self.first * 2 ** (failed - 1))
        return max(most * rng.uniform(0.5, 1.0), asked or 0.0)


class RetryingModel(LanguageModel):
    """A model that repeats a call after failures that may pass, within `request.seconds`. If the next attempt
    would begin too late, the failure is raised at once. Replies and errors contain a record of every attempt.

    `rng` draws the waits. Make a new wrapper for each decision. `clock` counts seconds from any start,
    `today` returns the present time.
    """

    def __init__(
        self,
        model: LanguageModel,
        rng: Random,
        patience: RetryPolicy = RetryPolicy(),
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        today: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.provider = model.provider
        self.model, self.rng, self.patience = model, rng, patience
        self.clock, self.sleep, self.today = clock, sleep, today

    async def ask(self, request: Request) -> Reply:
        """Return the answer of the first successful attempt. Raises the last ModelError if every attempt
        fails."""
        began = self.clock()
        done: list[Attempt] = []
        while True:
            left = request.seconds - (self.clock() - began)
            attempt = self._begin(left)
            try:
                reply = await self.model.ask(replace(request, seconds=left))
            except ModelError as error:
                attempt = self._end(attempt, error.code, error)
                wait = self._wait(error, len(done) + 1, request.seconds - (self.clock() - began))
                done.append(replace(attempt, detail=str(error), waited=wait or 0.0))
                if wait is None:
                    raise _with(error, done) from None
                await self.sleep(wait)
            else:
                done.append(self._end(attempt, "ok", reply))
                cost = total_cost(attempt.cost for attempt in done)
                return replace(reply, attempts=tuple(done), seconds=self.clock() - began, cost=cost)

    def _begin(self, left: float) -> Attempt:
        """Return a new attempt that begins now; `left` are the seconds that it may take. Until the attempt
        ends, its field `seconds` holds the clock time at its beginning."""
        return Attempt("", self.clock(), began=utc_timestamp(self.today()), allowed=left)

    def _end(self, begun: Attempt, outcome: str, came: Reply | ModelError) -> Attempt:
        return replace(
            begun,
            outcome=outcome,
            seconds=self.clock() - begun.seconds,
            cost=came.cost,
            ended=utc_timestamp(self.today()),
            request_id=came.request_id,
        )

    def _wait(self, error: ModelError, failed: int, left: float) -> float | None:
        """Return the seconds to wait until the next attempt, after `failed` failed ones. Return None to make
        no further attempt. `left` are the seconds until the deadline."""
        if not error.again or failed >= self.patience.tries:
            return None
        wait = self.patience.wait(failed, error.retry_after, self.rng)
        return wait if wait + MIN_CALL_SECONDS <= left else None


def utc_timestamp(moment: datetime) -> str:
    """Return a UTC time as `2026-11-22T12:00:00.250Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _with(error: ModelError, attempts: list[Attempt]) -> ModelError:
    error.attempts = tuple(attempts)
    error.cost = total_cost(attempt.cost for attempt in attempts)
    return error


class BudgetedModel(LanguageModel):
    """A model that pays for each call from a budget (the purse). It reserves the maximum cost before the
    call, and records the real cost afterwards.

    Raises BudgetSpentError if the purse has too little money, and UnpricedError if no price is known. The
    call is then not made. In two cases the maximum cost is recorded: if the server may have billed a failure
    (`ModelError.usage` is None), and if an answer has no plausible token counts.

    Without a purse there is no limit, and costs are only reported (None if no price is known). If the
    purse itself fails, the call is not made and costs nothing.
    """

    def __init__(self, model: LanguageModel, purse: Payer | None, prices: PriceList) -> None:
        self.provider = model.provider
        self.model, self.purse, self.prices = model, purse, prices

    async def ask(self, request: Request) -> Reply:
        """Return the model's answer with its `cost`. If a ModelError is raised, the error also has the
        cost."""
        began = time.monotonic()
        worst = await self._reserve(request)
        spent: float | None = 0.0
        try:
            left = request.seconds - (time.monotonic() - began)
            if left < MIN_CALL_SECONDS:
                late = NoTimeLeftError("setting money aside took all the time")
                late.usage = Usage()
                raise late
            spent = worst
            reply = await self.model.ask(replace(request, seconds=left))
            counted = None if reply.usage == Usage() else reply.usage
            spent = self._cost(request, counted, worst, reply.parameters.get(SERVED))
            return replace(reply, cost=spent)
        except ModelError as error:
            spent = error.cost = self._cost(request, error.usage, worst)
            raise
        finally:
            if self.purse is not None and worst is not None:
                await self._settle(self.purse, worst, worst if spent is None else spent)

    async def _settle(self, purse: Payer, reserved: float, spent: float) -> None:
        """Record the cost of a call in the account `purse`. If this fails, the money stays reserved and the
        model's answer is still used."""
        try:
            await purse.settle(reserved, spent)
        except Exception as error:  # a ledger may fail in any way
            log.error("a call was not booked, its reserve stands: %s", type(error).__name__)

    async def _reserve(self, request: Request) -> float | None:
        """Reserve the maximum cost of a call in the account, and return this cost. Return None if no price is
        known and there is no account."""
        try:
            worst = self.prices.worst(self.provider, request)
        except UnknownPriceError as error:
            if self.purse is not None:
                raise UnpricedError(f"{error}: a study with a budget does not call it") from None
            return None
        if self.purse is not None:
            await _set_aside(self.purse, worst)
        return worst

    def _cost(
        self,
        request: Request,
        usage: Usage | None,
        worst: float | None,
        served: Mapping[str, str] | None = None,
    ) -> float | None:
        return booked_cost(self.prices, self.provider, request, usage, worst, served)


def booked_cost(
    prices: PriceList,
    provider: str,
    request: Request,
    usage: Usage | None,
    worst: float | None,
    served: Mapping[str, str] | None = None,
) -> float | None:
    """Return the cost of these token counts. If they are unknown, return the maximum cost `worst`. `served`
    is the tier and the region in which the call was answered, if the API reported them."""
    if usage is None or not usage.is_believable:
        return worst
    try:
        return prices.cost(usage, provider, request.model, hour=request.cache_hour, served=served)
    except UnknownPriceError:
        return worst


async def _set_aside(purse: Payer, amount: float) -> None:
    """Reserve this amount of money in the account `purse`. Every error is raised as a ModelError."""
    try:
        await purse.reserve(amount)
        return
    except ModelError:
        raise
    except Exception as error:  # a ledger may fail in any way
        log.error("no money could be set aside: %s", type(error).__name__)
        failed = ModelError(f"the ledger failed ({type(error).__name__}): the call was not made")
    failed.usage = Usage()
    raise failed


async def ask_and_record(model: LanguageModel, request: Request) -> Call:
    """Call the model, count the call in the metrics, and return the call with its reply or error. Recorded
    answers are not counted. Never raises.

    An error other than ModelError gets the code `error`. The log states where the error occurred. The
    error's message is not logged, because it might contain a key.
    """
    call = await _call(model, request)
    if not model.is_recorded:
        prometheus_metrics.count_model_call(call.provider, request.model, call.error, call.seconds)
        count_tokens(call)
    return call


def count_tokens(call: Call) -> None:
    """Count the tokens of a call in the metrics."""
    prometheus_metrics.count_tokens(call.provider, call.request.model, asdict(call.usage).items())


async def _call(model: LanguageModel, request: Request) -> Call:
    began = time.monotonic()
    try:
        reply = await model.ask(request)
    except ModelError as error:
        return _failed(model, request, error, time.monotonic() - began)
    except Exception as error:  # every call of a decision must have a record, whatever goes wrong here
        log.error("the door to %s failed: %s", model.provider, error_traceback(error))
        unforeseen = ModelError(f"{type(error).__name__} in the door to {model.provider}")
        unforeseen.cost = None
        return _failed(model, request, unforeseen, time.monotonic() - began)
    return Call(
        provider=model.provider,
        request=request,
        reply=reply,
        usage=reply.usage,
        attempts=reply.attempts,
        seconds=time.monotonic() - began,
        cost=reply.cost,
        parameters=reply.parameters,
    )


def _only_attempt(error: ModelError, request: Request, seconds: float) -> Attempt:
    """Return the single attempt of a call that has just failed and that recorded no attempts."""
    now = datetime.now(UTC)
    return Attempt(
        error.code,
        seconds,
        detail=str(error),
        cost=error.cost,
        began=utc_timestamp(now - timedelta(seconds=seconds)),
        ended=utc_timestamp(now),
        allowed=request.seconds,
        request_id=error.request_id,
    )


def _failed(model: LanguageModel, request: Request, error: ModelError, seconds: float) -> Call:
    return Call(
        provider=model.provider,
        request=request,
        error=error.code,
        error_text=str(error),
        raw=error.raw,
        usage=error.usage or Usage(),
        attempts=error.attempts or (_only_attempt(error, request, seconds),),
        seconds=seconds,
        cost=error.cost,
        parameters=error.parameters or {},
    )
