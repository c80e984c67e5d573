"""Stop calling a language model that keeps failing, and try it again after a pause (a circuit breaker).

After `FAILURES` calls in a row that the server or the network failed, a model is *paused*: for
`PAUSE_SECONDS` its calls are not made. Then one call is made on trial. If it succeeds, the model is called as
before. If it fails, the next pause begins. All processes share the state of each model, because
`share_pauses` gives them one cache. If that cache is unreachable, each process uses a state of its own.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from kitchen.contract.language_model import (
    Call,
    CallTimeoutError,
    FullContextError,
    LanguageModel,
    ModelError,
    ModelPausedError,
    RefusedReplyError,
    RejectedError,
    Reply,
    Request,
    TruncatedReplyError,
    UnreadableReplyError,
)
from kitchen.infra import prometheus_metrics

log = logging.getLogger(__name__)

FAILURES = 5
"""Number of failed calls in a row after which a model is paused."""
PAUSE_SECONDS = 30.0
"""Seconds for which a paused model is not called at all."""
REMEMBERED_SECONDS = 600
"""Seconds after which failures are forgotten. A paused model that nobody calls is then called as before."""
MIN_PATIENCE = 5.0
"""Seconds that a call must have had for its timeout to count as a failure of the server."""
MORE_SECONDS = 5.0
"""Seconds beyond its time limit after which a trial call counts as lost."""
LISTED = "models.paused"
"""Key of the list of models that may be paused now, for pages of staff."""
MAX_LISTED = 20
"""Maximum length of that list."""

ANSWERED = (RejectedError, FullContextError, RefusedReplyError, TruncatedReplyError, UnreadableReplyError)
"""Errors which show that the server answers."""

SERVER_CODES = {kind.code for kind in ModelError.__subclasses__() if kind.server_failed}
"""Codes of the errors which show that the server or the network failed."""

T = TypeVar("T")


class SharedValues(Protocol):
    """Values that expire, which several processes share. Django's caches have these methods."""

    def get_many(self, keys: Iterable[str]) -> Mapping[str, Any]:
        """Return the values of those keys that have one."""

    def set(self, key: str, value: Any, timeout: float | None) -> Any:
        """Set a value for `timeout` seconds."""

    def add(self, key: str, value: Any, timeout: float | None) -> bool:
        """Set a value for `timeout` seconds if there is none. Return whether it was set."""

    def incr(self, key: str) -> int:
        """Add one to a number, and return the sum. Raises ValueError if there is no number."""

    def delete_many(self, keys: Iterable[str]) -> Any:
        """Delete the values of these keys."""


class ProcessValues:
    """The values of one process, which expire. Expired values are deleted when another one is set. Its
    threads may use it at the same time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._lock = threading.RLock()
        self._values: dict[str, tuple[Any, float]] = {}

    def get_many(self, keys: Iterable[str]) -> Mapping[str, Any]:
        """Return the values of those keys that have one."""
        with self._lock:
            now = self.clock()
            found = ((key, self._values.get(key)) for key in keys)
            return {key: each[0] for key, each in found if each and each[1] > now}

    def set(self, key: str, value: Any, timeout: float | None) -> None:
        """Set a value for `timeout` seconds."""
        with self._lock:
            now = self.clock()
            self._values = {name: each for name, each in self._values.items() if each[1] > now}
            self._values[key] = (value, now + (timeout or 0.0))

    def add(self, key: str, value: Any, timeout: float | None) -> bool:
        """Set a value for `timeout` seconds if there is none. Return whether it was set."""
        with self._lock:
            if self.get_many([key]):
                return False
            self.set(key, value, timeout)
            return True

    def incr(self, key: str) -> int:
        """Add one to a number, and return the sum. Raises ValueError if there is no number."""
        with self._lock:
            if not self.get_many([key]):
                raise ValueError(key)
            value, until = self._values[key]
            self._values[key] = (value + 1, until)
            return int(value) + 1

    def delete_many(self, keys: Iterable[str]) -> None:
        """Delete the values of these keys."""
        with self._lock:
            for key in keys:
                self._values.pop(key, None)


def unix_time() -> float:
    """Return the present time, which all machines share."""
    return time.time()


_own: SharedValues = ProcessValues()
_shared: SharedValues = _own


def share_pauses(values: SharedValues) -> None:
    """Keep the state of all models in `values`, which all processes share."""
    global _shared
    _shared = values


def forget_pauses() -> None:
    """Forget what this process itself has recorded. The shared values are no longer used."""
    global _own, _shared
    _own = _shared = ProcessValues()


def with_shared_values(act: Callable[[SharedValues], T]) -> T:
    """Return the result of `act` on the shared values, or else on those of this process."""
    try:
        return act(_shared)
    except Exception:  # a cache may fail in any way, and models are called all the same
        return act(_own)


@dataclass(frozen=True, slots=True)
class ModelPause:
    """The shared state of one model, named `provider:model`."""

    name: str

    @property
    def _keys(self) -> tuple[str, str, str, str]:
        """Return the keys of: the number of failures, the end of the pause, the mark of a model that is or
        was paused, and the trial call."""
        kinds = ("failures", "until", "broken", "trial")
        first, second, third, fourth = (f"models.{kind}.{self.name}" for kind in kinds)
        return first, second, third, fourth

    def admit(self, seconds: float) -> bool | None:
        """Return None if the model is not to be called now, True if the call is the trial, and False for
        a usual call. `seconds` is the time limit of the call."""
        _, until, broken, trial = self._keys

        def admitted(values: SharedValues) -> bool | None:
            found = values.get_many([until, broken])
            if until in found:
                return None
            if broken not in found:
                return False
            return values.add(trial, 1, seconds + MORE_SECONDS) or None

        return with_shared_values(admitted)

    def succeed(self) -> None:
        """Record that the server has answered. The model is called as before."""
        with_shared_values(lambda values: values.delete_many(self._keys))

    def release(self) -> None:
        """Give the trial to another call, because this one says nothing about the server."""
        with_shared_values(lambda values: values.delete_many([self._keys[-1]]))

    def fail(self, *, trial: bool) -> None:
        """Record that the server has failed. After enough failures in a row, or a failed trial, pause the
        model. Failures of calls that began before the pause have no effect."""
        failures, until, broken, running = self._keys

        def failed(values: SharedValues) -> bool:
            if broken in values.get_many([broken]) and not trial:
                return False
            if not trial and _added(values, failures) < FAILURES:
                return False
            values.set(broken, 1, REMEMBERED_SECONDS)
            values.set(until, unix_time() + PAUSE_SECONDS, PAUSE_SECONDS)
            values.delete_many([failures, running])
            others = [name for name in _listed(values) if name != self.name]
            values.set(LISTED, [*others, self.name][-MAX_LISTED:], REMEMBERED_SECONDS)
            return True

        if with_shared_values(failed):
            provider, _, model = self.name.partition(":")
            prometheus_metrics.count_model_pause(provider, model)
            log.warning("%s failed again and again: it is not called for %d s", self.name, PAUSE_SECONDS)

    @property
    def is_broken(self) -> bool:
        """Return whether the model is paused, or has not answered since its last pause."""
        broken = self._keys[2]
        return broken in with_shared_values(lambda values: values.get_many([broken]))

    @property
    def may_be_tried(self) -> bool:
        """Return whether a call would be made now: the pause is over, and no trial call is running."""
        _, until, broken, trial = self._keys
        found = with_shared_values(lambda values: values.get_many([until, broken, trial]))
        return until not in found and not {broken, trial} <= found.keys()

    @property
    def seconds_left(self) -> float:
        """Return the seconds until the next trial call may be made; 0 if one may be made now."""
        until = self._keys[1]
        ends = with_shared_values(lambda values: values.get_many([until])).get(until, 0.0)
        return min(PAUSE_SECONDS, max(0.0, float(ends) - unix_time()))


def _added(values: SharedValues, key: str) -> int:
    """Return how many failures in a row there are with this one."""
    values.add(key, 0, REMEMBERED_SECONDS)
    try:
        return values.incr(key)
    except ValueError:  # it has just expired
        return 1


def _listed(values: SharedValues) -> list[str]:
    return [str(name) for name in values.get_many([LISTED]).get(LISTED) or ()]


def paused_models() -> tuple[str, ...]:
    """Return the models, as `provider:model`, that are paused or have not answered since their last pause."""
    return tuple(name for name in with_shared_values(_listed) if ModelPause(name).is_broken)


def unanswered_model(calls: Iterable[Call]) -> ModelPause | None:
    """Return the paused model of the first of these calls that failed for this reason, or that began the
    pause. Return None if no call did."""
    for call in calls:
        pause = ModelPause(f"{call.provider}:{call.request.model}")
        if call.error == ModelPausedError.code:
            return pause
        if call.error in SERVER_CODES and pause.is_broken:
            return pause
    return None


class PausingModel(LanguageModel):
    """A model that is not called for a while after it failed again and again. Put it around the retries: a
    call counts once, with all its attempts."""

    def __init__(self, model: LanguageModel) -> None:
        self.provider = model.provider
        self.model = model

    async def ask(self, request: Request) -> Reply:
        """Return the model's answer. Raises ModelPausedError, at no cost, if the model is paused."""
        began, pause = time.monotonic(), ModelPause(f"{self.provider}:{request.model}")
        trial = await asyncio.to_thread(pause.admit, request.seconds)
        if trial is None:
            raise ModelPausedError(
                f"{pause.name} failed {FAILURES} times in a row, so it is paused"
            ).unbilled()
        left = max(0.0, request.seconds - (time.monotonic() - began))
        try:
            reply = await self.model.ask(replace(request, seconds=left))
        except ModelError as error:
            await asyncio.to_thread(_record, pause, error, request, trial=trial)
            raise
        await asyncio.to_thread(pause.succeed)
        return reply


def _record(pause: ModelPause, error: ModelError, request: Request, *, trial: bool) -> None:
    """Record what an error says about the server: that it failed, that it answers, or nothing."""
    hurried = isinstance(error, CallTimeoutError) and request.seconds < MIN_PATIENCE
    if error.server_failed and not hurried:
        pause.fail(trial=trial)
    elif isinstance(error, ANSWERED):
        pause.succeed()
    elif trial:
        pause.release()
