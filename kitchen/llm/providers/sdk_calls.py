"""Send a request through a provider's SDK, read the reply, and turn every error into a ModelError.

Both SDKs raise errors of the same names over the same HTTP client (httpx2). No key ever leaves this package:
messages are cleaned of it. Errors are raised without the SDK's own error, which holds the request.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from kitchen.contract.data_files import check_depth, read_json
from kitchen.contract.language_model import (
    CallTimeoutError,
    ConnectionLostError,
    ModelError,
    NotAskedError,
    OfferedModel,
    OverloadedError,
    RateLimitedError,
    RejectedError,
    Reply,
    Request,
    ServerFailedError,
    Tool,
    UnreadableReplyError,
    Usage,
)
from kitchen.contract.world import Json
from kitchen.infra.greenlet_pool import await_coroutine

ApiArguments = dict[str, Any]
"""A request in the words of an API."""

MAX_ID_CHARACTERS = 120
"""Characters of a request's id that are kept."""

TEXT_FIELDS = ("messages", "system", "description", "input_schema", "parameters", "schema")
"""What of a request is kept elsewhere, by content: the messages, and what the tool says."""


def parameters_without_texts(arguments: ApiArguments) -> dict[str, Json]:
    """A request without its texts, but for where a part that is cached ends: which message, from 0 on."""
    told: dict[str, Json] = _without_texts(arguments)
    said = [message["content"] for message in arguments.get("messages", ())]
    blocks = [*([block] for block in arguments.get("system", ())), *said]
    marked = [number for number, each in enumerate(blocks) if _is_marked(each)]
    return {**told, "cached_until": marked[-1]} if marked else told


def _is_marked(content: Json) -> bool:
    return isinstance(content, list) and any("cache_control" in block for block in content)


def _without_texts(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _without_texts(part) for name, part in value.items() if name not in TEXT_FIELDS}
    return [_without_texts(part) for part in value] if isinstance(value, list) else value


def request_id(headers: Mapping[str, str]) -> str:
    """What a server calls the request, on one line; empty where it says nothing."""
    named = headers.get("request-id") or headers.get("x-request-id") or ""
    return " ".join(named.split())[:MAX_ID_CHARACTERS]


MAX_ERROR_CHARACTERS = 300
"""Characters of a server's message that are kept."""

MAX_RAW_CHARACTERS = 100_000
"""Characters that are kept of an answer that cannot be read, and of what a model thought."""


MIN_SECONDS = 0.05
"""Seconds."""

T = TypeVar("T")


@dataclass(frozen=True)
class Sdk:
    """An SDK's client, with what must never be shown."""

    module: Any
    client: Any
    secrets: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Sdk({self.module.__name__})"


Send = Callable[[Sdk, ApiArguments, float], Awaitable[Any]]
"""Sends a request by the SDK's client with that many seconds of time; what comes of it is the SDK's raw
response."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came over HTTP."""

    body: str
    request_id: str


def call_model(
    connect: Callable[[], Sdk],
    request: Request,
    arguments: Callable[[Sdk], ApiArguments],
    send: Send,
    read: Callable[[Json], Reply],
) -> Reply:
    """Connect, send and read one answer within `request.seconds`; every failure is a ModelError. Both have
    what was sent, and by which id the server knows it."""
    began = time.monotonic()
    sdk = connect()
    left = request.seconds - (time.monotonic() - began)
    if left <= 0:
        raise CallTimeoutError(f"the SDK was not loaded within {request.seconds:.1f} s").unbilled()
    sent = arguments(sdk)
    try:
        answer = _answer(sdk, request, sent, send, left)
        reply = _read(sdk, answer, read)
    except ModelError as error:
        error.parameters = parameters_without_texts(sent)
        raise
    return replace(reply, seconds=time.monotonic() - began, parameters=parameters_without_texts(sent))


def fetch_from_server(
    connect: Callable[[], Sdk], seconds: float, send: Callable[[Sdk, float], Any]
) -> dict[str, Json]:
    """What a server says to something that is no question to a model; every failure is a ModelError."""
    request = Request("", (), seconds=seconds)
    body = _json(_answer(connect(), request, {}, lambda sdk, _, left: send(sdk, left), seconds).body)
    if not isinstance(body, dict):
        raise UnreadableReplyError("not an answer of this API")
    return body


def read_model_list(
    body: Mapping[str, Json], read: Callable[[dict[str, Json]], OfferedModel]
) -> tuple[OfferedModel, ...]:
    """The models of a list, those with a name; UnreadableReplyError for what is no list."""
    data = body.get("data")
    if not isinstance(data, list):
        raise UnreadableReplyError("no list of models in the answer")
    found = (read(each) for each in data if isinstance(each, dict))
    return tuple(each for each in found if each.name)


def _read(sdk: Sdk, answer: Answer, read: Callable[[Json], Reply]) -> Reply:
    try:
        body = _json(answer.body)
        reply = read(body)
    except UnreadableReplyError as error:
        error.raw = _without(sdk.secrets, answer.body)[:MAX_RAW_CHARACTERS]
        error.request_id = answer.request_id
        raise
    reasoning = _without(sdk.secrets, reply.reasoning)[:MAX_RAW_CHARACTERS]
    named = answer.request_id or str(body.get("id") or "")[:MAX_ID_CHARACTERS]
    return replace(reply, reasoning=reasoning, request_id=named)


def _answer(sdk: Sdk, request: Request, arguments: ApiArguments, send: Send, seconds: float) -> Answer:
    """The server's answer. What the SDK raises is replaced outside of the handler, so that the error carries
    no trace of the request and its headers."""
    try:
        response = await_coroutine(_in_time(send(sdk, arguments, seconds), seconds)).http_response
        return Answer(response.text, request_id(response.headers))
    except TimeoutError:
        failed: ModelError = CallTimeoutError(_no_answer(request))
    except sdk.module.APIError as error:
        failed = as_model_error(sdk, error, request)
    raise failed


async def _in_time(exchange: Awaitable[T], seconds: float) -> T:
    """An HTTP client's timeouts are for one read each: a server that sends a byte now and then would be
    waited for without end. The client has a moment to say itself what took so long."""
    async with asyncio.timeout(seconds + MIN_SECONDS):
        return await exchange


def _no_answer(request: Request) -> str:
    return f"no answer within {request.seconds:.1f} s"


def _json(body: str) -> Json:
    try:
        return read_json(body)
    except ValueError:
        message = f"not JSON, nested too deep, or cut off after {len(body)} characters"
    raise UnreadableReplyError(message)


def as_model_error(sdk: Sdk, error: Any, request: Request) -> ModelError:
    """The ModelError that an SDK's error means."""
    if isinstance(error, sdk.module.APITimeoutError):
        return _unanswered(CallTimeoutError(_no_answer(request)), error)
    if isinstance(error, sdk.module.APIConnectionError):
        return _unanswered(ConnectionLostError(f"the connection failed: {_cause(sdk, error)}"), error)
    if isinstance(error, sdk.module.APIStatusError):
        return _refused(sdk, error)
    return UnreadableReplyError(clean(str(error), sdk.secrets))


def _unanswered(model_error: ModelError, error: Any) -> ModelError:
    """Nothing is billed where the server was never reached."""
    if type(error.__cause__).__name__ in {"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError"}:
        return model_error.unbilled()
    return model_error


def _cause(sdk: Sdk, error: Any) -> str:
    cause = error.__cause__ or error
    return clean(f"{type(cause).__name__}: {cause}", sdk.secrets)


def _refused(sdk: Sdk, error: Any) -> ModelError:
    """The error of a status from 400 on: the server gave no answer, and bills none."""
    status: int = error.status_code
    model_error = _kind(status)(f"{status}: {clean(_said(error), sdk.secrets)}")
    model_error.retry_after = retry_after(error.response.headers)
    model_error.request_id = request_id(error.response.headers)
    return model_error.unbilled()


def _kind(status: int) -> type[ModelError]:
    kinds: dict[int, type[ModelError]] = {
        408: ConnectionLostError,
        429: RateLimitedError,
        529: OverloadedError,
    }
    return kinds.get(status) or (ServerFailedError if status >= 500 else RejectedError)


def _said(error: Any) -> str:
    """The server's own words, where it gave some."""
    body = error.body if isinstance(error.body, dict) else {}
    inner = body.get("error", body)
    said = inner.get("message") if isinstance(inner, dict) else inner
    return said if isinstance(said, str) and said else str(error)


def clean(text: str, secrets: Iterable[str]) -> str:
    """One line of bounded length without any key."""
    return " ".join(_without(secrets, text).split())[:MAX_ERROR_CHARACTERS]


def _without(secrets: Iterable[str], text: str) -> str:
    for secret in secrets:
        text = text.replace(secret, "(key)")
    return re.sub(r"\bsk-[\w-]{6,}", "(key)", text)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date."""
    asked = headers.get("retry-after", "")
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        return max(0.0, float(asked))
    except ValueError:
        return _until(asked)


def _until(date: str) -> float | None:
    try:
        return max(0.0, (parsedate_to_datetime(date) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def key_from_environment(name: str) -> str | None:
    """A key from the environment; NotAskedError, without the key, if it cannot be one."""
    key = os.environ.get(name, "").strip()
    if not all("!" <= letter <= "~" for letter in key):
        raise not_asked_error(f"{name} is no key: it has letters in it that no key has")
    return key or None


def token_count(value: Json) -> int:
    """A number of tokens that an API gave; 0 for none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def not_asked_error(why: str) -> ModelError:
    """A call that is not made at all, and costs nothing."""
    return NotAskedError(why).unbilled()


def unreadable_reply_error(why: str, usage: Usage) -> UnreadableReplyError:
    """An answer that was given, and billed, and cannot be used."""
    error = UnreadableReplyError(why)
    error.usage = usage
    return error


def tool_arguments_in(text: str, tool: Tool) -> dict[str, Json] | None:
    """The tool's arguments that stand in a text as JSON, in a code fence or among words; None if none do."""
    arguments = json_object(text[text.find("{") : text.rfind("}") + 1])
    needed = tool.schema.get("required", ())
    return arguments if arguments is not None and all(key in arguments for key in needed) else None


def json_object(value: Json) -> dict[str, Json] | None:
    """The JSON object that a model wrote, as text or already read; None if it is none, or nested too deep."""
    try:
        value = read_json(value) if isinstance(value, str) else check_depth(value)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
