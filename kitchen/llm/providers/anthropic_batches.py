"""Send many requests to Claude models as one message batch of Anthropic's API (`batch_calls`)."""

from __future__ import annotations

from functools import partial
from typing import Any

from kitchen.contract.language_model import ModelError, Reply, Request, UnreadableReplyError
from kitchen.contract.world import Json
from kitchen.infra.storable_json import storable_json
from kitchen.llm.providers import sdk_calls
from kitchen.llm.providers.anthropic import arguments_for, client, read_reply
from kitchen.llm.providers.batch_calls import (
    LostBatch,
    Requests,
    Results,
    UnclearBatchError,
    batch_id,
    connector,
    countdown,
    get_text,
    json_lines,
    lost_result,
    newest_batches,
    read_result,
    refused_call,
    unmade_call,
)
from kitchen.llm.service_settings import TIER, service_settings

_VERSION = "anthropic-version"


def lane(request: Request) -> str:
    """Return the API version that a request needs, and the server's address: they are the same for a whole
    batch. Raises NotAskedError if the model does not accept a setting."""
    return f"{_version(request)} {service_settings('anthropic', request.model).address}"


def _version(request: Request) -> str:
    return str(arguments_for(request).get("extra_headers", {}).get(_VERSION, ""))


def _sent(request: Request) -> dict[str, Any]:
    """Return a request as it stands in a batch."""
    arguments = arguments_for(request)
    arguments.pop("extra_headers", None)
    arguments |= arguments.pop("extra_body", {})
    arguments.pop(TIER, None)  # a batch is a tier of its own
    body: dict[str, Any] = storable_json(arguments)
    return body


def submit(requests: Requests, mark: str, seconds: float) -> str:
    """Send the requests, and return the batch's id. The API has no place for a mark. Raises ModelError if the
    API does not take them."""
    version = _version(next(iter(requests.values())))
    entries = [{"custom_id": name, "params": _sent(request)} for name, request in requests.items()]

    def send(connected: sdk_calls.Sdk, left: float) -> Any:
        headers = {_VERSION: version} if version else None
        create = connected.client.messages.batches.with_raw_response.create
        return create(requests=entries, timeout=left, extra_headers=headers)

    return batch_id(sdk_calls.fetch_from_server(connector(client, requests), seconds, send))


def find(lost: LostBatch, seconds: float) -> str:
    """Return the id of a batch that was perhaps sent; empty if it was not. It is the one with the names of
    the requests, which are known once a batch has ended. Raises UnclearBatchError as long as it may be a
    batch that has not ended."""
    connect, left, is_unclear = partial(client, lost.model), countdown(seconds), False

    def send(connected: sdk_calls.Sdk, some: float, page: dict[str, str]) -> Any:
        batches = connected.client.messages.batches.with_raw_response
        return batches.list(limit=100, timeout=some, **page)

    for told in newest_batches(connect, left, send, lost, "after_id"):
        counts, name = told.get("request_counts"), batch_id(told)
        numbers = counts.values() if isinstance(counts, dict) else ()
        if sum(map(sdk_calls.token_count, numbers)) != len(lost.names):
            continue
        if told.get("processing_status") != "ended":
            is_unclear = True
            continue
        lines = json_lines(get_text(f"/v1/messages/batches/{name}/results", connect, left()))
        if lost.names & {str(line.get("custom_id")) for line in lines if line}:
            return name
    if is_unclear:
        raise UnclearBatchError("a batch of the same size has not ended yet")
    return ""


def collect(batch: str, requests: Requests, seconds: float) -> Results | None:
    """Return the results of the requests, or None while the batch is being worked on. Raises ModelError if
    the API does not answer."""

    def send(connected: sdk_calls.Sdk, left: float) -> Any:
        return connected.client.messages.batches.with_raw_response.retrieve(batch, timeout=left)

    connect, left = connector(client, requests), countdown(seconds)
    if sdk_calls.fetch_from_server(connect, left(), send).get("processing_status") != "ended":
        return None
    sdk, found = connect(), dict[str, Reply | ModelError]()
    for line in json_lines(get_text(f"/v1/messages/batches/{batch}/results", connect, left())):
        name, result = (str(line.get("custom_id")), line.get("result")) if line else ("", None)
        if name in requests and isinstance(result, dict):
            found[name] = _result(sdk, requests[name], result)
    return {name: found.get(name) or lost_result() for name in requests}


def _result(sdk: sdk_calls.Sdk, request: Request, result: dict[str, Json]) -> Reply | ModelError:
    kind = result.get("type")
    if kind == "succeeded":
        return read_result(
            sdk, result.get("message"), lambda body: read_reply(body, request.tool), _sent(request)
        )
    if kind == "errored":
        told = result.get("error")
        inner = told.get("error", told) if isinstance(told, dict) else {}
        inner = inner if isinstance(inner, dict) else {}
        return refused_call(sdk, str(inner.get("type") or ""), str(inner.get("message") or ""))
    if kind in ("expired", "canceled"):
        return unmade_call(kind)
    return UnreadableReplyError("not a result of a message batch")
