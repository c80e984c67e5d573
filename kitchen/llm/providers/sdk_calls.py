"""Send a request through the SDK (Python package) of a language-model provider, and read the reply.

Every error becomes a ModelError. API keys are removed from all error messages.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from kitchen.contract.data_limits import check_depth, read_json
from kitchen.contract.language_model import (
    CallTimeoutError,
    ConnectionLostError,
    FullContextError,
    ModelError,
    NotAskedError,
    NoTimeLeftError,
    OfferedModel,
    OverloadedError,
    RateLimitedError,
    RefusedReplyError,
    RejectedError,
    Reply,
    Request,
    ServerFailedError,
    Tool,
    TooLongReplyError,
    TruncatedReplyError,
    UnreadableReplyError,
)
from kitchen.contract.world import Json
from kitchen.infra.event_loop import await_in_loop, run_in_loop
from kitchen.infra.storable_json import storable_json
from kitchen.llm.service_settings import REGION, SERVED, TIER

ApiArguments = dict[str, Any]
"""A request as arguments of an API."""

MAX_ID_CHARACTERS = 120
"""Maximum length of a stored request id."""

TEXT_FIELDS = ("messages", "system", "description", "input_schema", "parameters", "schema")
"""Arguments whose content is stored elsewhere: the messages, and the tool's texts."""


def parameters_without_texts(arguments: ApiArguments) -> dict[str, Json]:
    """Return the arguments of a call without its texts, for the log. `cached_until` in it is the index of the
    last message that the provider shall cache, and `cached_for` how long, where this is not as usual."""
    told: dict[str, Json] = _without_texts(arguments)
    said = [message["content"] for message in arguments.get("messages", ())]
    contents = [*([block] for block in arguments.get("system", ())), *said]
    marked = [
        number
        for number, content in enumerate(contents)
        if isinstance(content, list) and any("cache_control" in block for block in content)
    ]
    if not marked:
        return told
    kept = next(block for block in contents[marked[-1]] if "cache_control" in block)["cache_control"]
    ttl = {"cached_for": kept["ttl"]} if "ttl" in kept else {}
    return {**told, "cached_until": marked[-1], **ttl}


def _without_texts(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _without_texts(part) for name, part in value.items() if name not in TEXT_FIELDS}
    return [_without_texts(part) for part in value] if isinstance(value, list) else value


def request_id(headers: Mapping[str, str]) -> str:
    """Return the server's id of the request, on one line; empty if the headers have none."""
    named = headers.get("request-id") or headers.get("x-request-id") or ""
    return " ".join(named.split())[:MAX_ID_CHARACTERS]


MAX_ERROR_CHARACTERS = 300
"""Maximum length of a stored error message of a server."""

MAX_RAW_CHARACTERS = 100_000
"""Maximum length of a stored unreadable answer, and of a model's stored thinking."""
MAX_REPLY_CHARACTERS = 200_000
"""Maximum length of an answer, in text or as a tool call."""


MIN_SECONDS = 0.05
"""Minimum time limit of a call, in seconds."""

T = TypeVar("T")


@dataclass(frozen=True)
class Sdk:
    """A provider's SDK: its module, its client, and the secrets that must not appear in messages."""

    module: Any
    client: Any
    secrets: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Sdk({self.module.__name__})"


def limited_client() -> dict[str, Any]:
    """Return the arguments of an HTTP client that limits what servers send (`response_limits`)."""
    from kitchen.llm.providers.response_limits import limit_response

    return {"event_hooks": {"response": [limit_response]}}


def plain_headers() -> dict[str, str]:
    """Return the headers that tell servers how they may pack their answers."""
    from kitchen.llm.providers.response_limits import ACCEPTED_ENCODINGS

    return {"accept-encoding": ACCEPTED_ENCODINGS}


Send = Callable[[Sdk, ApiArguments, float], Awaitable[Any]]
"""Send a request with the SDK's client within that many seconds; return the SDK's raw response."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The body of an HTTP response and the server's id of the request."""

    body: str
    request_id: str


async def call_model(
    connect: Callable[[], Sdk],
    request: Request,
    arguments: Callable[[Sdk], ApiArguments],
    send: Send,
    read: Callable[[Json], Reply],
) -> Reply:
    """Connect, send the request and read the answer, within `request.seconds`. Return the reply with the
    parameters that were sent. Every failure is raised as a ModelError, which also has these parameters."""
    began = time.monotonic()
    sdk = await asyncio.to_thread(connect)  # it may import the SDK first
    left = request.seconds - (time.monotonic() - began)
    if left <= 0:
        raise NoTimeLeftError(f"the SDK was not loaded within {request.seconds:.1f} s").unbilled()
    sent: ApiArguments = storable_json(arguments(sdk))  # a lone surrogate could not be sent
    try:
        answer = await _answer(sdk, request, sent, send, left)
        reply = await asyncio.to_thread(read_answer, sdk, answer, read)  # a long answer must not stop others
    except ModelError as error:
        error.parameters = parameters_without_texts(sent)
        raise
    parameters = {**parameters_without_texts(sent), **reply.parameters}
    return replace(reply, seconds=time.monotonic() - began, parameters=parameters)


def fetch_from_server(
    connect: Callable[[], Sdk], seconds: float, send: Callable[[Sdk, float], Any]
) -> dict[str, Json]:
    """Return a server's response to a request that does not call a model, within `seconds`. Every failure
    is raised as a ModelError."""
    body = read_body(fetch_text(connect, seconds, send))
    if not isinstance(body, dict):
        raise UnreadableReplyError("not an answer of this API")
    return body


def fetch_text(connect: Callable[[], Sdk], seconds: float, send: Callable[[Sdk, float], Any]) -> str:
    """Return the body of a server's response to a request that does not call a model, within `seconds`.
    Every failure is raised as a ModelError."""
    request = Request("", (), seconds=seconds)
    return run_in_loop(_answer(connect(), request, {}, lambda sdk, _, left: send(sdk, left), seconds)).body


def fetch_model_list(
    connect: Callable[[], Sdk],
    seconds: float,
    read: Callable[[dict[str, Json]], OfferedModel],
    **arguments: int,
) -> tuple[OfferedModel, ...]:
    """Return the models that the server lists; entries without a name are left out. Raises ModelError if
    there is no list."""

    def send(connected: Sdk, left: float) -> Any:
        return connected.client.models.with_raw_response.list(timeout=left, **arguments)

    data = fetch_from_server(connect, seconds, send).get("data")
    if not isinstance(data, list):
        raise UnreadableReplyError("no list of models in the answer")
    found = (read(each) for each in data if isinstance(each, dict))
    return tuple(each for each in found if each.name)


def read_answer(sdk: Sdk, answer: Answer, read: Callable[[Json], Reply]) -> Reply:
    """Return the reply that `read` finds in a server's response, without secrets. Raises ModelError, with
    the response, if there is none."""
    try:
        body = read_body(answer.body)
        reply = read(body)
    except ModelError as error:
        error.raw = stored_part(_without(sdk.secrets, answer.body))
        error.request_id = answer.request_id
        raise
    reasoning = stored_part(_without(sdk.secrets, reply.reasoning))
    named = answer.request_id or str(body.get("id") or "")[:MAX_ID_CHARACTERS]
    return replace(reply, reasoning=reasoning, request_id=named)


def stored_part(text: str) -> str:
    """Return the part of the text that is stored, with a note of what was left out."""
    left_out = len(text) - MAX_RAW_CHARACTERS
    return (
        text if left_out <= 0 else f"{text[:MAX_RAW_CHARACTERS]} [{left_out} more characters were not stored]"
    )


async def _answer(sdk: Sdk, request: Request, arguments: ApiArguments, send: Send, seconds: float) -> Answer:
    """Send the request and return the server's answer. Raises ModelError. The error has no link to the SDK's
    error, which could reveal the request and its headers."""
    try:
        response = (await await_in_loop(_in_time(send(sdk, arguments, seconds), seconds))).http_response
        return Answer(response.text, request_id(response.headers))
    except TimeoutError:
        failed: ModelError = CallTimeoutError(_no_answer(request))
    except sdk.module.APIError as error:
        failed = as_model_error(sdk, error, request)
    raise failed


async def _in_time(exchange: Awaitable[T], seconds: float) -> T:
    """Wait at most `seconds` for the exchange with the server, and return its result.

    The HTTP client's timeouts apply to single reads: a server that sends a byte now and then could keep it
    waiting forever. The client gets a moment more to report the reason itself.
    """
    async with asyncio.timeout(seconds + MIN_SECONDS):
        return await exchange


def _no_answer(request: Request) -> str:
    return f"no answer within {request.seconds:.1f} s"


def read_body(body: str) -> Json:
    """Return the JSON value of a server's response. Raises UnreadableReplyError if it is none."""
    try:
        return storable_json(read_json(body))
    except ValueError:
        message = f"not JSON, nested too deep, or cut off after {len(body)} characters"
    raise UnreadableReplyError(message)


def as_model_error(sdk: Sdk, error: Any, request: Request) -> ModelError:
    """Return the ModelError that corresponds to an error of the SDK."""
    if isinstance(error, sdk.module.APITimeoutError):
        return _unanswered(CallTimeoutError(_no_answer(request)), error)
    if isinstance(error, sdk.module.APIConnectionError):
        cause = error.__cause__ or error
        why = clean(f"{type(cause).__name__}: {cause}", sdk.secrets)
        if unusable := _unusable(cause):
            return unusable
        return _unanswered(ConnectionLostError(f"the connection failed: {why}"), error)
    if isinstance(error, sdk.module.APIStatusError):
        return _refused(sdk, error)
    return UnreadableReplyError(clean(str(error), sdk.secrets))


def _unusable(cause: BaseException) -> ModelError | None:
    """Return the error of a response that `response_limits` refused; None for any other cause."""
    name = type(cause).__name__
    if name == "ForeignRedirectError":
        return RejectedError(f"refused: {cause}").unbilled()
    if name == "UnknownEncodingError":
        return UnreadableReplyError(f"the answer is packed as {cause}")
    return TooLongReplyError(str(cause)) if name == "TooLongBodyError" else None


UNREACHED = ("ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError")
"""Errors of the HTTP client before the request is sent; TLS begins before, too."""


def _unanswered(model_error: ModelError, error: Any) -> ModelError:
    """Return the ModelError, marked as not billed if the request never reached the server, or if the port
    speaks something else than HTTP."""
    name = type(error.__cause__).__name__
    no_http = name == "RemoteProtocolError" and str(error.__cause__).startswith("illegal")
    if name in UNREACHED or no_http:
        return model_error.unbilled()
    return model_error


ERRORS_BY_STATUS: Mapping[int, type[ModelError]] = {
    408: ConnectionLostError,
    429: RateLimitedError,
    529: OverloadedError,
}


def _refused(sdk: Sdk, error: Any) -> ModelError:
    """Return the error for an HTTP status of 400 or higher. A call with this status has no answer and costs
    nothing."""
    status: int = error.status_code
    message = _server_message(error)
    kind = ERRORS_BY_STATUS.get(status) or (ServerFailedError if status >= 500 else RejectedError)
    if kind is RejectedError and says_context_is_full(f"{_error_code(error)} {message[:2000]}"):
        kind = FullContextError
    model_error = kind(f"{status}: {clean(message, sdk.secrets)}")
    model_error.retry_after = retry_after(error.response.headers)
    model_error.request_id = request_id(error.response.headers)
    return model_error.unbilled()


_FULL_CONTEXT = re.compile(
    r"context_length_exceeded|context[ _](?:length|window|size)|prompt is too long|maximum context"
    r"|too many tokens",
    re.IGNORECASE,
)
"""How servers say that a prompt is too long."""


def says_context_is_full(text: str) -> bool:
    """Return whether a server's error says that prompt and answer do not fit into the model."""
    return bool(_FULL_CONTEXT.search(text))


def _error_code(error: Any) -> str:
    body = error.body if isinstance(error.body, dict) else {}
    inner = body.get("error", body)
    return str(inner.get("code") or "") if isinstance(inner, dict) else ""


def _server_message(error: Any) -> str:
    """Return the server's error message, if it sent one."""
    body = error.body if isinstance(error.body, dict) else {}
    inner = body.get("error", body)
    said = inner.get("message") if isinstance(inner, dict) else inner
    return said if isinstance(said, str) and said else str(error)


def clean(text: str, secrets: Iterable[str]) -> str:
    """Return the text as one line of limited length, with all secrets removed."""
    return " ".join(_without(secrets, text).split())[:MAX_ERROR_CHARACTERS]


def _without(secrets: Iterable[str], text: str) -> str:
    for secret in secrets:
        text = text.replace(secret, "(key)")
    return re.sub(r"\bsk-[\w-]{6,}", "(key)", text)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the server asks to wait; None if it does not ask. They are read from the
    header `retry-after-ms` or `retry-after` (seconds or a date)."""
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
    """Return the key in this environment variable; None if the variable is not set. Raises NotAskedError
    if the key contains invalid characters. The message does not show the key."""
    key = os.environ.get(name, "").strip()
    if not all("!" <= letter <= "~" for letter in key):
        raise not_asked_error(f"{name} is no key: it has letters in it that no key has")
    return key or None


def with_service(reply: Reply, told: Json) -> Reply:
    """Return the reply with the service tier and the region that the API reported, for `parameters`."""
    found = {name: told.get(name) for name in (TIER, REGION)} if isinstance(told, dict) else {}
    served = {name: value[:40] for name, value in found.items() if isinstance(value, str) and value}
    return replace(reply, parameters={SERVED: served}) if served else reply


def token_count(value: Json) -> int:
    """Return a number of tokens from an API response; 0 if the value is not a positive integer."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def part_of_tokens(whole: int, details: Json, name: str) -> int:
    """Return the number of tokens that an API's details give under this name, at most `whole`. Return 0 if
    there is none."""
    return min(whole, token_count(details.get(name))) if isinstance(details, dict) else 0


def not_asked_error(why: str) -> ModelError:
    """Return an error for a call that was not made and costs nothing."""
    return NotAskedError(why).unbilled()


def checked_reply(reply: Reply, tool: Tool | None) -> Reply:
    """Return the reply unchanged. Raises a ModelError, with the billed tokens, if it is a refusal, if it is
    too long, or if it has neither a text nor a tool call."""
    problem = _problem(reply, tool)
    if problem is None:
        return reply
    problem.usage = reply.usage
    raise problem


REFUSALS = ("refusal", "content_filter")
"""Why an answer ended, as the APIs name it: the model or the provider refused."""
_ENDINGS: Mapping[str, type[ModelError]] = {
    "max_tokens": TruncatedReplyError,
    "length": TruncatedReplyError,
    "model_context_window_exceeded": FullContextError,
}


def _problem(reply: Reply, tool: Tool | None) -> ModelError | None:
    if reply.stop in REFUSALS:
        said = " ".join(reply.text.split())[:MAX_ERROR_CHARACTERS]
        return RefusedReplyError(f"the model refused{': ' + said if said else ''}")
    size = len(reply.text) + (len(json.dumps(reply.call)) if reply.call else 0)
    if size > MAX_REPLY_CHARACTERS:
        return TooLongReplyError(f"the answer has {size} characters, at most {MAX_REPLY_CHARACTERS} are read")
    if reply.call is not None or reply.text.strip():
        return None
    missing = f"no call of {tool.name}" if tool else "no text"
    kind = _ENDINGS.get(reply.stop, UnreadableReplyError)
    return kind(f"{missing} in the answer (stopped: {reply.stop or 'unknown'})")


def tool_arguments_in(text: str, tool: Tool) -> dict[str, Json] | None:
    """Return the tool's arguments if the text contains them as JSON, in a code fence or between words.
    None if it does not."""
    arguments = json_object(text[text.find("{") : text.rfind("}") + 1])
    needed = tool.schema.get("required", ())
    return arguments if arguments is not None and all(key in arguments for key in needed) else None


def json_object(value: Json) -> dict[str, Json] | None:
    """Return the JSON object that a model wrote, as text or already parsed. None if it is not an object or
    is nested too deeply."""
    try:
        value = storable_json(read_json(value)) if isinstance(value, str) else check_depth(value)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
