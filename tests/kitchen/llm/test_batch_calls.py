"""Read the parts of providers' batches: result lines, errors of single calls, ids, sizes of answers."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from kitchen.contract.language_model import Message, Reply, Request, UnreadableReplyError
from kitchen.llm.providers import anthropic_batches, openai_batches, sdk_calls
from kitchen.llm.providers.anthropic_batches import _sent, lane
from kitchen.llm.providers.batch_calls import (
    MAX_PAGES,
    LostBatch,
    NoBatchListError,
    UnclearBatchError,
    batch_id,
    json_lines,
    refused_call,
    unmade_call,
)
from kitchen.llm.providers.response_limits import MAX_BATCH_BYTES, MAX_BODY_BYTES, limit_response
from kitchen.llm.providers.sdk_calls import Sdk

SDK = Sdk(SimpleNamespace(__name__="sdk"), None, ("sk-secret-key",))


def test_lines_that_are_no_objects_are_marked() -> None:
    lines = ['{"custom_id": "a"}', "", "[1]", '{"cut', '{"custom_id": "b"}']
    assert [line and line["custom_id"] for line in json_lines("\n".join(lines))] == ["a", None, None, "b"]


@pytest.mark.parametrize("provider", [anthropic_batches, openai_batches])
def test_a_line_break_within_a_reply_loses_no_result_and_a_lost_result_may_have_been_billed(
    monkeypatch: pytest.MonkeyPatch, provider: Any
) -> None:
    usage = {"input_tokens": 5, "output_tokens": 2}
    said = "one\u2028two\x85three"
    message = {"content": [{"type": "text", "text": said}], "usage": usage}
    completion = {"choices": [{"message": {"content": said}}]}
    line = {
        "custom_id": "a",
        "result": {"type": "succeeded", "message": message},
        "response": {"status_code": 200, "body": completion},
    }
    deep = '{"custom_id": "b", "result": ' + "[" * 60 + "]" * 60 + "}"
    text = json.dumps(line, ensure_ascii=False) + "\n" + deep + "\n"
    told = {"processing_status": "ended", "status": "completed", "output_file_id": "file-1"}
    sdk = replace(SDK, client=SimpleNamespace(base_url=SimpleNamespace(host="api.openai.com")))
    monkeypatch.setattr(sdk_calls, "fetch_from_server", lambda *_: told)
    monkeypatch.setattr(provider, "get_text", lambda *_: text)
    monkeypatch.setattr(provider, "client", lambda *_: sdk)
    requests = {name: Request("claude-opus-5", (Message("user", "go"),)) for name in ("a", "b", "c")}
    results = provider.collect("batch_1", requests, 9.0)
    assert isinstance(results["a"], Reply) and results["a"].text == said
    assert [(results[name].code, results[name].usage) for name in ("b", "c")] == [("unreadable", None)] * 2


@pytest.mark.parametrize("name", ["", "../../v1/files", "a/b", "a?b", "x" * 121, None])
def test_an_id_that_is_no_part_of_an_address_is_refused(name: str | None) -> None:
    assert batch_id({"id": "msgbatch_01-Ab"}) == "msgbatch_01-Ab"
    with pytest.raises(UnreadableReplyError):
        batch_id({"id": name})


@pytest.mark.parametrize(
    "kind, message, status, code",
    [
        ("overloaded_error", "later", 0, "529"),
        ("api_error", "broken", 0, "5xx"),
        ("", "broken", 503, "5xx"),
        ("", "slowly", 429, "429"),
        ("invalid_request_error", "no sk-secret-key", 0, "4xx"),
        ("invalid_request_error", "prompt is too long: 900 tokens", 0, "context"),
    ],
)
def test_each_refusal_of_a_call_has_its_code_and_costs_nothing(
    kind: str, message: str, status: int, code: str
) -> None:
    error = refused_call(SDK, kind, message, status)
    assert error.code == code and error.usage is not None and "secret" not in str(error)


SINCE = datetime(2026, 11, 30, tzinfo=UTC)
LISTED: dict[Any, list[dict[str, Any]]] = {
    anthropic_batches: [
        {"id": "other", "request_counts": {"succeeded": 1, "errored": 0}},
        {"id": "known", "request_counts": {"processing": 2}},
        {"id": "wanted", "request_counts": {"succeeded": 1, "expired": 1}, "processing_status": "ended"},
    ],
    openai_batches: [{"id": "other", "metadata": None}, {"id": "wanted", "metadata": {"brigade": "mark-1"}}],
}


@pytest.mark.parametrize("provider", LISTED)
def test_a_lost_batch_is_found_by_its_mark_or_by_its_names(
    monkeypatch: pytest.MonkeyPatch, provider: Any
) -> None:
    listed = [{**each, "created_at": "2026-11-30T00:00:00Z"} for each in LISTED[provider]]
    before = {"id": "before", "created_at": 1_700_000_000}
    pages = [{"data": listed[:1], "has_more": True}, {"data": [*listed[1:], before], "has_more": True}]
    lines = "".join(json.dumps({"custom_id": name}) + "\n" for name in "ab")
    monkeypatch.setattr(sdk_calls, "fetch_from_server", lambda *_: pages.pop(0))
    monkeypatch.setattr(provider, "client", lambda *_: SDK)
    monkeypatch.setattr(provider, "get_text", lambda *_: lines, raising=False)
    lost = LostBatch("mark-1", frozenset("ab"), "m", SINCE, frozenset({"known"}))
    assert provider.find(lost, 9.0) == "wanted"
    pages += [{"data": [before], "has_more": True}]
    assert provider.find(lost, 9.0) == "", "older batches are not it"
    pages += [{"data": listed[:1], "has_more": True}] * MAX_PAGES
    with pytest.raises(NoBatchListError):
        provider.find(lost, 9.0)


def test_a_batch_of_the_same_size_that_has_not_ended_may_be_the_lost_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    working = {"id": "new", "request_counts": {"processing": 2}, "processing_status": "in_progress"}
    monkeypatch.setattr(sdk_calls, "fetch_from_server", lambda *_: {"data": [working]})
    with pytest.raises(UnclearBatchError):
        anthropic_batches.find(LostBatch("", frozenset("ab"), "m", SINCE, frozenset()), 9.0)


def test_calls_that_were_never_made_may_be_made_again() -> None:
    assert [unmade_call(why).code for why in ("expired", "canceled")] == ["timeout", "connection"]


def test_a_temperature_goes_into_the_body_and_its_api_version_into_the_lane() -> None:
    old = Request("claude-opus-4-5", (Message("user", "go"),), temperature=0.5)
    assert lane(old) == "2023-06-01 " and lane(Request("claude-opus-5", old.messages)) == " "
    sent = _sent(old)
    assert sent["temperature"] == 0.5 and not {"extra_body", "extra_headers"} & sent.keys()
    assert json.dumps(sent)


@pytest.mark.parametrize(
    "path, most", [("/v1/messages", MAX_BODY_BYTES), ("/v1/messages/batches/b/results", MAX_BATCH_BYTES)]
)
def test_the_answers_of_a_batch_may_be_longer_than_a_reply(path: str, most: int) -> None:
    class Body(httpx2.AsyncByteStream):
        pass

    asked = httpx2.Request("GET", f"https://api.example{path}")
    response = httpx2.Response(200, request=asked, stream=Body())
    asyncio.run(limit_response(response))
    assert response.stream._most == most  # type: ignore[union-attr]
