"""Define what both providers' batches have in common: results by name, and the errors of single calls.

A batch holds many requests. The provider answers them within 24 hours, at a part of the usual price.
`anthropic_batches` and `openai_batches` have the same four functions:

- `lane(request)`: requests with different lanes cannot share a batch. The server's address is part of the
  lane, because a model may have an address of its own (`service_settings`).
- `submit(requests, mark, seconds)`: send the requests, and return the batch's id. `mark` is stored with the
  batch, if the provider can do that.
- `find(lost, seconds)`: return the id of a batch that was perhaps sent; empty if it was not.
- `collect(batch, requests, seconds)`: return the results, or None while the batch is being worked on.

Each of them ends within `seconds`, however many requests to the server it needs.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from types import SimpleNamespace
from typing import Any

from kitchen.contract.language_model import (
    CallTimeoutError,
    ConnectionLostError,
    FullContextError,
    ModelError,
    OverloadedError,
    RateLimitedError,
    RejectedError,
    Reply,
    Request,
    ServerFailedError,
    UnreadableReplyError,
)
from kitchen.contract.world import Json
from kitchen.llm.providers import sdk_calls

Requests = Mapping[str, Request]
"""The requests of a batch, by their names in it."""
Results = Mapping[str, Reply | ModelError]
"""The reply or the error of each request of a batch, by name."""

ERRORS_BY_TYPE: Mapping[str, type[ModelError]] = {
    "rate_limit_error": RateLimitedError,
    "overloaded_error": OverloadedError,
    "timeout_error": ServerFailedError,
    "api_error": ServerFailedError,
    "server_error": ServerFailedError,
}
"""Types of errors of single calls that may pass. With any other type, the call is wrong."""


MAX_PAGES = 10
"""Largest number of pages of a list of batches that are read."""
CLOCK_DIFFERENCE = timedelta(minutes=5)
"""Largest difference between the clocks of a provider and of this machine."""


class BatchRefusedError(RejectedError):
    """The provider took a batch, and then refused all of it. It costs nothing."""


class UnclearBatchError(UnreadableReplyError):
    """It is not clear yet whether the provider took a batch."""


class NoBatchListError(RejectedError):
    """The provider's batches cannot be searched for a lost one."""


@dataclass(frozen=True, slots=True)
class LostBatch:
    """A batch that was perhaps sent."""

    mark: str
    names: frozenset[str]
    """The names of its requests."""
    model: str
    since: datetime
    """When it was sent at the earliest."""
    known: frozenset[str]
    """Ids of other batches."""


ListBatches = Callable[[sdk_calls.Sdk, float, dict[str, str]], Any]
"""Send a request for a list of batches; the last argument says after which batch the list begins."""


def newest_batches(
    connect: Callable[[], sdk_calls.Sdk],
    left: Callable[[], float],
    send: ListBatches,
    lost: LostBatch,
    after: str,
) -> list[dict[str, Json]]:
    """Return the provider's batches that are not older than the lost one, and not known. `after` is the name
    of the argument with which the next page begins. Raises NoBatchListError if there are too many, and
    ModelError if there is no list."""
    found, page, since = list[dict[str, Json]](), dict[str, str](), lost.since - CLOCK_DIFFERENCE
    for _ in range(MAX_PAGES):
        told = sdk_calls.fetch_from_server(connect, left(), lambda sdk, some: send(sdk, some, dict(page)))
        data = told.get("data")
        if not isinstance(data, list):
            raise UnreadableReplyError("no list of batches in the answer")
        for each in filter(lambda one: isinstance(one, dict), data):
            if _is_older(each.get("created_at"), since):
                return found
            page[after] = batch_id(each)
            if page[after] not in lost.known:
                found.append(each)
        if not data or not told.get("has_more"):
            return found
    raise NoBatchListError("there are too many newer batches").unbilled()


def _is_older(told: Json, since: datetime) -> bool:
    """Return whether the time of a batch, in seconds or as a text, is before `since`."""
    try:
        made = datetime.fromtimestamp(told, UTC) if isinstance(told, int) else datetime.fromisoformat(told)
        return made < since
    except (ValueError, TypeError, OverflowError, OSError):
        return False


def refused_call(sdk: sdk_calls.Sdk, kind: str, message: str, status: int = 0) -> ModelError:
    """Return the error of a call that the provider refused within a batch. It costs nothing."""
    text = sdk_calls.clean(f"{kind or status}: {message}", sdk.secrets)
    found = ERRORS_BY_TYPE.get(kind) or sdk_calls.ERRORS_BY_STATUS.get(status)
    error = found or (ServerFailedError if status >= 500 else RejectedError)
    if error is RejectedError and sdk_calls.says_context_is_full(text):
        error = FullContextError
    return error(text).unbilled()


def lost_result() -> ModelError:
    """Return the error of a call whose result is missing in an ended batch, or cannot be read. The call may
    have been billed."""
    return UnreadableReplyError("the batch has ended without a readable result of this call")


def unmade_call(reason: str) -> ModelError:
    """Return the error of a call that was never made, because its batch ended before: it `expired` or was
    canceled. It costs nothing."""
    kind = CallTimeoutError if reason == "expired" else ConnectionLostError
    return kind(f"the batch {reason} before this call was made").unbilled()


def read_result(
    sdk: sdk_calls.Sdk, body: Json, read: Callable[[Json], Reply], sent: Any
) -> Reply | ModelError:
    """Return the reply in the response to one request of a batch, or the error of an unusable one. `sent` are
    the request's API arguments, which are recorded without texts."""
    parameters = sdk_calls.parameters_without_texts(sent)
    try:
        reply = sdk_calls.read_answer(sdk, sdk_calls.Answer(json.dumps(body), ""), read)
    except ModelError as error:
        error.parameters = parameters
        return error
    return replace(reply, parameters={**parameters, **reply.parameters})


def json_lines(text: str) -> Iterator[dict[str, Json] | None]:
    """Yield the objects of a text with one JSON object in each line, and None for each other line. Only line
    feeds end a line: texts in JSON may contain other line breaks, such as U+2028."""
    for line in filter(str.strip, text.split("\n")):
        try:
            value = sdk_calls.read_body(line)
        except UnreadableReplyError:
            value = None
        yield value if isinstance(value, dict) else None


def connector(connect: Callable[[str], sdk_calls.Sdk], requests: Requests) -> Callable[[], sdk_calls.Sdk]:
    """Return a function that connects to the server of a batch with these requests. `connect` connects to the
    server of a model."""
    return partial(connect, next(iter(requests.values())).model)


def countdown(seconds: float) -> Callable[[], float]:
    """Return a function that returns how many of these seconds are left. So several requests to a server
    share one time limit."""
    end = time.monotonic() + seconds
    return lambda: max(sdk_calls.MIN_SECONDS, end - time.monotonic())


def get_text(path: str, connect: Callable[[], sdk_calls.Sdk], seconds: float) -> str:
    """Return the text at a path of the provider's server. Raises ModelError if there is none."""

    async def send(connected: sdk_calls.Sdk, left: float) -> Any:
        import httpx2

        options = {"timeout": left}
        response = await connected.client.get(path, cast_to=httpx2.Response, options=options)
        return SimpleNamespace(http_response=response)

    return sdk_calls.fetch_text(connect, seconds, send)


def batch_id(told: Mapping[str, Json]) -> str:
    """Return the id of a batch from a server's response. Raises UnreadableReplyError if it has none that can
    be part of an address."""
    name = str(told.get("id") or "")
    if not name.replace("-", "").replace("_", "").isalnum() or len(name) > sdk_calls.MAX_ID_CHARACTERS:
        raise UnreadableReplyError("no id of a batch in the answer")
    return name
