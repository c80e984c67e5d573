"""Define what both providers' batches have in common: results by name, and the errors of single calls.

A batch holds many requests. The provider answers them within 24 hours, at a part of the usual price.
`anthropic_batches` and `openai_batches` have the same three functions:

- `lane(request)`: requests with different lanes cannot share a batch. The server's address is part of the
  lane, because a model may have an address of its own (`service_settings`).
- `submit(requests, seconds)`: send the requests, and return the batch's id.
- `collect(batch, requests, seconds)`: return the results, or None while the batch is being worked on.

Each of them ends within `seconds`, however many requests to the server it needs.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
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
