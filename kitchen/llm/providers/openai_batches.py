"""Send many requests as one batch of OpenAI's API: a file with a request in each line (`batch_calls`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from kitchen.contract.language_model import ModelError, RateLimitedError, Reply, Request
from kitchen.contract.world import Json
from kitchen.infra.storable_json import storable_json
from kitchen.llm.providers import sdk_calls
from kitchen.llm.providers.batch_calls import (
    BatchRefusedError,
    LostBatch,
    Requests,
    Results,
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
from kitchen.llm.providers.openai_compatible import arguments_for, client, is_openai, read_reply
from kitchen.llm.service_settings import TIER, service_settings

ENDPOINT = "/v1/chat/completions"
RESULT_FILES = ("output_file_id", "error_file_id")
MARK = "brigade"
"""Key of the mark in a batch's metadata."""
ENDED = ("completed", "expired", "cancelled")


def lane(request: Request) -> str:
    """Return the model of a request, and the server's address: they are the same for a whole batch."""
    return f"{request.model} {service_settings('openai-compatible', request.model).address}"


def _sent(sdk: sdk_calls.Sdk, request: Request) -> dict[str, Any]:
    body: dict[str, Any] = storable_json(arguments_for(request, own=not is_openai(sdk.client.base_url.host)))
    body.pop(TIER, None)  # a batch is a tier of its own
    return body


def submit(requests: Requests, mark: str, seconds: float) -> str:
    """Send the requests, and return the batch's id. `mark` becomes part of its metadata. Raises
    ModelError if the server does not take them."""
    connect, left = connector(client, requests), countdown(seconds)
    sdk = connect()
    lines = [
        {"custom_id": name, "method": "POST", "url": ENDPOINT, "body": _sent(sdk, request)}
        for name, request in requests.items()
    ]
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()

    def upload(connected: sdk_calls.Sdk, left: float) -> Any:
        create = connected.client.files.with_raw_response.create
        return create(file=("requests.jsonl", data), purpose="batch", timeout=left)

    file = batch_id(sdk_calls.fetch_from_server(connect, left(), upload))

    def begin(connected: sdk_calls.Sdk, left: float) -> Any:
        create = connected.client.batches.with_raw_response.create
        more = {"endpoint": ENDPOINT, "completion_window": "24h", "metadata": {MARK: mark}}
        return create(input_file_id=file, timeout=left, **more)

    return batch_id(sdk_calls.fetch_from_server(connect, left(), begin))


def find(lost: LostBatch, seconds: float) -> str:
    """Return the id of a batch that was perhaps sent; empty if it was not. It is the one with the mark.
    Raises ModelError if the server does not list its batches."""

    def send(connected: sdk_calls.Sdk, left: float, page: dict[str, str]) -> Any:
        return connected.client.batches.with_raw_response.list(limit=100, timeout=left, **page)

    for told in newest_batches(partial(client, lost.model), countdown(seconds), send, lost, "after"):
        metadata = told.get("metadata")
        if isinstance(metadata, dict) and metadata.get(MARK) == lost.mark:
            return batch_id(told)
    return ""


def collect(batch: str, requests: Requests, seconds: float) -> Results | None:
    """Return the results of the requests, or None while the batch is being worked on. Raises ModelError if
    the server does not answer, or if it refused the whole batch."""

    def send(connected: sdk_calls.Sdk, left: float) -> Any:
        return connected.client.batches.with_raw_response.retrieve(batch, timeout=left)

    connect, left = connector(client, requests), countdown(seconds)
    told = sdk_calls.fetch_from_server(connect, left(), send)
    status, sdk = str(told.get("status") or ""), connect()
    if status == "failed":
        return dict.fromkeys(requests, _refusal(sdk, told))
    if status not in ENDED:
        return None
    found, is_whole = dict[str, Reply | ModelError](), True
    for file in (batch_id({"id": told[name]}) for name in RESULT_FILES if told.get(name)):
        for line in json_lines(get_text(f"/files/{file}/content", connect, left())):
            if line is None:
                is_whole = False
            elif (name := str(line.get("custom_id"))) in requests:
                found[name] = _result(sdk, requests[name], line)
    was_made = status == "completed" or not is_whole
    missing = lost_result() if was_made else unmade_call(status)
    return {name: found.get(name) or missing for name in requests}


def _refusal(sdk: sdk_calls.Sdk, told: Mapping[str, Json]) -> ModelError:
    """Return the error of a batch that the server may take later. Raises BatchRefusedError if it does not. It
    costs nothing."""
    errors = told.get("errors")
    listed = errors.get("data") if isinstance(errors, dict) else None
    first = listed[0] if isinstance(listed, list) and listed and isinstance(listed[0], dict) else {}
    text = sdk_calls.clean(f"the batch was refused: {first.get('message')}", sdk.secrets)
    if first.get("code") != "token_limit_exceeded":
        raise BatchRefusedError(text).unbilled()
    return RateLimitedError(text).unbilled()


def _result(sdk: sdk_calls.Sdk, request: Request, line: Mapping[str, Json]) -> Reply | ModelError:
    response, error = line.get("response"), line.get("error")
    if isinstance(error, dict) and error:
        if error.get("code") == "batch_expired":
            return unmade_call("expired")
        return refused_call(sdk, str(error.get("code") or ""), str(error.get("message") or ""))
    response = response if isinstance(response, dict) else {}
    body, status = response.get("body"), sdk_calls.token_count(response.get("status_code"))
    if status == 200:
        return read_result(sdk, body, lambda told: read_reply(told, request.tool), _sent(sdk, request))
    inner = body.get("error") if isinstance(body, dict) else None
    inner = inner if isinstance(inner, dict) else {}
    return refused_call(sdk, str(inner.get("type") or ""), str(inner.get("message") or ""), status)
