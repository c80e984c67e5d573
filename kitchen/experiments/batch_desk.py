"""Send the model calls of an experiment in batches, pay for them, and read their answers.

Each batch is stored in `ModelBatch` before it is sent, and its id before anybody waits for it. So an
interrupted experiment goes on with the batches that it has already paid for. If nobody knows whether a
provider took a batch, the provider is asked for it, and the calls are made again only if it is not there.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from django.utils import timezone
from pydantic import TypeAdapter

from kitchen.contract.language_model import (
    Attempt,
    BudgetSpentError,
    Call,
    CallTimeoutError,
    ModelError,
    RejectedError,
    Reply,
    Request,
    ServerFailedError,
    TooLongReplyError,
    Usage,
    total_cost,
)
from kitchen.contract.world import Json
from kitchen.experiments.batch_lease import EXCHANGE_SECONDS
from kitchen.experiments.batch_money import book_results, close_batch, give_back, open_batch
from kitchen.experiments.batched_episode import WantedCall
from kitchen.experiments.experiment_setup import SetupError
from kitchen.experiments.lost_batches import LASTING, UNSURE_SECONDS, batch_mark, find_lost_batch
from kitchen.experiments.model_waits import LOOK_SECONDS, MODEL_WAIT_SECONDS, ModelAwayError, do_nothing
from kitchen.experiments.models import Experiment, ModelBatch
from kitchen.experiments.play_episodes import MoneySpentError
from kitchen.infra.db_retry import retry_while_unreachable
from kitchen.llm.call_costs import load_prices
from kitchen.llm.circuit_breaker import FAILURES, ModelPause
from kitchen.llm.model_wrappers import booked_cost, count_tokens, utc_timestamp
from kitchen.llm.provider_registry import batch_api
from kitchen.llm.providers.batch_calls import BatchRefusedError
from kitchen.llm.service_settings import SERVED

log = logging.getLogger(__name__)

BATCH_TRIES = 3
"""Number of batches in which a call is made, before the experiment stops."""
NOT_FOUND = "404"
MAX_BATCH_CALLS = 1000
"""Largest number of calls in a batch."""
MAX_RESULT_BYTES = 60 * 2**20
"""Largest size of all answers of a batch; `response_limits` accepts a little more."""
BYTES_PER_TOKEN, BYTES_PER_RESULT = 16, 4096
"""Largest average size of a token in a result, as JSON, and of everything else in it."""
IN_BATCHES = " in batches"
"""Part of the name under which a model's batches are paused."""

_CALLS: TypeAdapter[Call] = TypeAdapter(Call)


class BatchDesk:
    """The batches of one experiment. `sleep` waits a number of seconds. `renew` renews this process's right
    to play the experiment (`batch_lease`) before each exchange with a provider."""

    def __init__(
        self,
        experiment: Experiment,
        sleep: Callable[[float], Any] = time.sleep,
        renew: Callable[[], Any] = do_nothing,
    ) -> None:
        """Read the batches that the experiment still needs."""
        self.experiment, self.sleep, self.renew = experiment, sleep, renew
        self.prices = load_prices().in_batches()
        self.waited = 0.0
        """Seconds since the last answer of a provider that fails."""
        self._owed = 0.0
        """Seconds to wait before the next exchange."""
        self._open = dict[int, tuple[ModelBatch, dict[str, WantedCall]]]()
        self._attempts = dict[str, tuple[Attempt, ...]]()
        self._stored = dict[str, Call]()
        self._sent = dict[str, ModelBatch]()
        self._unsure = dict[str, ModelBatch]()
        """The calls of batches that were perhaps sent."""
        needed = ModelBatch.objects.filter(experiment=experiment, closed_at=None).order_by("pk")
        for batch in retry_while_unreachable(lambda: list(needed), "reading batches"):
            self._take_up(batch)

    def _take_up(self, batch: ModelBatch) -> None:
        """Go on with a stored batch. Without an id, it was perhaps never sent."""
        for name, stored in batch.results.items():
            self._note(name, _CALLS.validate_python(stored))
        of = self._sent if batch.name else self._unsure
        of |= dict.fromkeys(batch.entries.keys() - batch.results.keys(), batch)

    def _note(self, name: str, call: Call) -> None:
        if call.error and _may_pass(call.error):
            self._attempts[name] = call.attempts
        else:
            self._stored[name] = call

    def answers(self, wanted: Mapping[str, WantedCall]) -> dict[str, Call]:
        """Return the answers to these calls that are already there, by name."""
        return {name: self._stored.pop(name) for name in wanted if name in self._stored}

    @property
    def is_waiting(self) -> bool:
        """Return whether a batch is being worked on."""
        return bool(self._open)

    def send(self, wanted: Iterable[WantedCall]) -> None:
        """Send those of these calls that no batch has, as one batch for each lane (`batch_calls`). Raises
        MoneySpentError if none of them can be paid, and no batch is being worked on."""
        wanted = list(wanted)
        for batch in {each.pk: each for call in wanted if (each := self._unsure.get(call.name))}.values():
            self._find(batch, {call.name: call for call in wanted if call.name in batch.entries})
        lanes = dict[tuple[str, str], dict[str, WantedCall]]()
        for call in wanted:
            if (sent := self._sent.get(call.name)) is not None:
                self._open.setdefault(sent.pk, (sent, {}))[1][call.name] = call
            else:
                lanes.setdefault((call.provider, _lane(call)), {})[call.name] = call
        refusal: BudgetSpentError | None = None
        for (provider, _), calls in lanes.items():
            for some in _in_portions(calls):
                refusal = self._send(provider, some) or refusal
        if refusal is not None and not self._open:
            raise MoneySpentError(str(refusal))

    def _send(self, provider: str, calls: Mapping[str, WantedCall]) -> BudgetSpentError | None:
        """Send one batch with those of the calls that can be paid. Return the error of those that cannot."""
        self._until_admitted(_models(calls))
        batch, refusal = open_batch(self.experiment, provider, calls, self.prices)
        if batch is None:
            return refusal
        paid = {name: calls[name] for name in batch.entries}
        requests = {name: call.request for name, call in paid.items()}
        submit = partial(batch_api(provider).submit, requests, batch_mark(batch), EXCHANGE_SECONDS)
        try:
            self._set_name(batch, self._exchange(_models(paid), submit))
        except ModelError as error:
            if error.usage is None or isinstance(error, ServerFailedError):
                self._owed = max(self._owed, UNSURE_SECONDS)
                self._find(batch, paid)
            else:
                give_back(batch)
            if isinstance(error, LASTING):
                raise SetupError(f"model: the batch was refused: {error}") from error
        if batch.name:
            self._open[batch.pk] = (batch, paid)
        return refusal

    def _set_name(self, batch: ModelBatch, name: str) -> None:
        batch.name = name
        retry_while_unreachable(lambda: batch.save(update_fields=["name"]), "storing a batch's id")
        self._sent |= dict.fromkeys(batch.entries, batch)

    def _find(self, batch: ModelBatch, calls: Mapping[str, WantedCall]) -> None:
        """Ask the provider whether it took a batch. If it did, go on with it; otherwise its money is free
        again. `calls` are some of its calls. Raises SetupError if this cannot be found out."""
        models, model = _models(calls), next(iter(calls.values())).request.model

        def exchange(act: Callable[[], Any]) -> Any:
            self._until_admitted(models)
            return self._exchange(models, act)

        name = find_lost_batch(batch, model, batch_api(batch.provider), exchange, self.sleep)
        self._unsure = {name: each for name, each in self._unsure.items() if each.pk != batch.pk}
        if name:
            self._set_name(batch, name)
        else:
            give_back(batch)

    def collect(self) -> dict[str, Call]:
        """Ask for the results of the open batches, and return the answered calls by name. Calls that failed,
        but may succeed in another batch, are left out. Raises ModelAwayError if one has failed too often."""
        found = dict[str, Call]()
        for pk, (batch, calls) in list(self._open.items()):
            requests = {name: call.request for name, call in calls.items()}
            ask = partial(batch_api(batch.provider).collect, batch.name, requests, EXCHANGE_SECONDS)
            self._until_admitted(_models(calls))
            try:
                results = self._exchange(_models(calls), ask)
            except BatchRefusedError as error:
                give_back(batch)
                raise SetupError(f"model: {error}") from error
            except TooLongReplyError as error:  # it would be as long the next time
                results = dict.fromkeys(requests, error)
            except ModelError as error:
                if isinstance(error, LASTING):
                    if str(error).startswith(NOT_FOUND):
                        close_batch(batch)
                    raise SetupError(f"model: the batch cannot be read: {error}") from error
                continue
            if results is None:
                continue
            del self._open[pk]
            self._store(batch, calls, results)
            found |= self.answers(calls)
        return found

    def _store(
        self, batch: ModelBatch, calls: Mapping[str, WantedCall], results: Mapping[str, Reply | ModelError]
    ) -> None:
        """Book and store the results of a batch. Then look whether a call has failed too often. Raises
        SetupError if every call was refused, and the experiment has no answer at all."""
        made = {
            name: self._call(batch, call, batch.entries[name], results[name]) for name, call in calls.items()
        }
        batch.results |= {name: _stored(call) for name, call in made.items()}
        batch.answered += sum(not call.error for call in made.values())
        batch.ended_at = timezone.now()
        book_results(batch, {name: call.attempts[-1].cost for name, call in made.items()})
        for name, call in made.items():
            self._sent.pop(name, None)
            count_tokens(call)
        refused = [call.error_text for call in made.values() if call.error == RejectedError.code]
        if len(refused) == len(made) and not self._has_answers():
            close_batch(batch)
            raise SetupError(f"model: every call of a batch was refused: {refused[0]}")
        for name, call in made.items():
            self._note(name, call)
        _count(made.values())
        for call in made.values():
            if call.error and _may_pass(call.error) and len(call.attempts) >= BATCH_TRIES:
                name = f"{call.provider}:{call.request.model}"
                raise ModelAwayError(f"{name} gave no answer in {BATCH_TRIES} batches ({call.error_text})")

    def _has_answers(self) -> bool:
        answered = ModelBatch.objects.filter(experiment=self.experiment, answered__gt=0)
        return retry_while_unreachable(answered.exists, "looking for answers")

    def _call(
        self, batch: ModelBatch, wanted: WantedCall, entry: Mapping[str, Any], result: Reply | ModelError
    ) -> Call:
        """Return the record of a call, with all its attempts."""
        now, request = datetime.now(UTC), wanted.request
        seconds = (now - batch.opened_at).total_seconds()
        counted = result.usage
        if isinstance(result, Reply) and counted == Usage():
            counted = None
        served = (result.parameters or {}).get(SERVED)
        cost = booked_cost(self.prices, wanted.provider, request, counted, entry["worst"], served)
        attempt = Attempt(
            "ok" if isinstance(result, Reply) else result.code,
            seconds,
            detail="" if isinstance(result, Reply) else str(result),
            cost=cost,
            began=utc_timestamp(batch.opened_at),
            ended=utc_timestamp(now),
            request_id=result.request_id,
        )
        attempts = (*self._attempts.pop(wanted.name, ()), attempt)
        spent = total_cost(each.cost for each in attempts)
        sent = {**(result.parameters or {}), "batch": batch.name}
        more: dict[str, Any] = {"attempts": attempts, "seconds": seconds, "cost": spent, "parameters": sent}
        if isinstance(result, Reply):
            answer = replace(result, attempts=attempts, seconds=seconds, cost=spent, parameters=sent)
            return Call(wanted.provider, request, answer, usage=result.usage, **more)
        told: dict[str, Any] = {"error": result.code, "error_text": str(result), "raw": result.raw}
        return Call(wanted.provider, request, usage=result.usage or Usage(), **told, **more)

    def close_passed(self, needed: Set[str]) -> None:
        """Delete the stored results that no open step needs any more. `needed` names the calls of the open
        steps."""
        kept = needed | self._stored.keys()
        ended = ModelBatch.objects.filter(experiment=self.experiment, closed_at=None).exclude(ended_at=None)
        for batch in retry_while_unreachable(lambda: list(ended), "reading batches"):
            is_read = batch.entries.keys() <= batch.results.keys()
            if is_read and not batch.entries.keys() & kept:
                close_batch(batch)

    def close_all(self) -> None:
        """Delete all stored results, at the end of the experiment."""
        left = ModelBatch.objects.filter(experiment=self.experiment, closed_at=None)
        close = partial(left.update, closed_at=timezone.now(), results={})
        retry_while_unreachable(close, "closing batches")

    def _until_admitted(self, models: Iterable[str]) -> None:
        """Wait while one of the models is paused (`circuit_breaker`), and after a failed exchange. Raises
        ModelAwayError if the provider has failed for too long."""
        pauses = [ModelPause(name) for name in models]
        while self._owed or not all(pause.may_be_tried for pause in pauses):
            if self.waited >= MODEL_WAIT_SECONDS:
                raise ModelAwayError(f"{pauses[0].name} gave no answer for {self.waited:.0f} s")
            seconds, self._owed = self._owed or LOOK_SECONDS, 0.0
            self.sleep(seconds)
            self.waited += seconds

    def _exchange(self, models: Iterable[str], act: Callable[[], Any]) -> Any:
        """Return what the provider answers, and record whether it failed. Raises ModelError if it does."""
        self.renew()
        pauses = [ModelPause(name) for name in models]
        trials = [pause.admit(EXCHANGE_SECONDS) for pause in pauses]
        try:
            answer = act()
        except ModelError as error:
            for pause, trial in zip(pauses, trials, strict=True):
                if error.server_failed:
                    pause.fail(trial=bool(trial))
                elif trial:
                    pause.release()
            if not isinstance(error, LASTING):
                log.warning("a batch was not exchanged: %s", error)
                self._owed = max(1.0, error.retry_after or 0.0)
            raise
        for pause, trial in zip(pauses, trials, strict=True):
            if trial:
                pause.release()
        self.waited = 0.0
        return answer


def _models(calls: Mapping[str, WantedCall]) -> list[str]:
    """Return the names under which the models of these calls are paused (`circuit_breaker`). They differ
    from those of single calls, whose service may work while batches fail."""
    return sorted({f"{call.model_name}{IN_BATCHES}" for call in calls.values()})


def _lane(call: WantedCall) -> str:
    """Return the lane of a call. Raises SetupError if the model does not accept a setting."""
    try:
        return str(batch_api(call.provider).lane(call.request))
    except ModelError as error:
        raise SetupError(f"model: {error}") from error
    except LookupError as error:
        raise SetupError(f"model: {error.args[0]}") from error


def _in_portions(calls: Mapping[str, WantedCall]) -> Iterable[dict[str, WantedCall]]:
    """Yield the calls in portions of at most `MAX_BATCH_CALLS`, whose answers surely have at most
    `MAX_RESULT_BYTES`."""
    portion, size = dict[str, WantedCall](), 0
    for name, call in calls.items():
        most = call.request.max_tokens * BYTES_PER_TOKEN + BYTES_PER_RESULT
        if portion and (size + most > MAX_RESULT_BYTES or len(portion) >= MAX_BATCH_CALLS):
            yield portion
            portion, size = {}, 0
        portion[name], size = call, size + most
    if portion:
        yield portion


def _may_pass(code: str) -> bool:
    """Return whether a call with this error code may succeed in another batch."""
    return code == CallTimeoutError.code or any(
        kind.again for kind in ModelError.__subclasses__() if kind.code == code
    )


def _count(calls: Iterable[Call]) -> None:
    """Record in the circuit breaker which models answered, and which failed in every call of a batch."""
    failed = dict[str, int]()
    answered = set[str]()
    for call in calls:
        name = f"{call.provider}:{call.request.model}{IN_BATCHES}"
        if call.error and _may_pass(call.error):
            failed[name] = failed.get(name, 0) + 1
        else:
            answered.add(name)
    for name in answered:
        ModelPause(name).succeed()
    for name, number in failed.items():
        if name not in answered:
            for _ in range(min(number, FAILURES)):
                ModelPause(name).fail(trial=False)


def _stored(call: Call) -> Json:
    """Return a call as JSON, without its texts: the episode that waits for it knows them."""
    bare = Request(call.request.model, ())
    return _CALLS.dump_python(replace(call, request=bare), mode="json")
