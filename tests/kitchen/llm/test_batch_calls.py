"""What batches of providers are made of: lines of results, errors of single calls, ids, sizes of answers."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace

import httpx2
import pytest

from kitchen.contract.language_model import Message, Request, UnreadableReplyError
from kitchen.llm.providers.anthropic_batches import _sent, lane
from kitchen.llm.providers.batch_calls import batch_id, json_lines, refused_call, unmade_call
from kitchen.llm.providers.response_limits import MAX_BATCH_BYTES, MAX_BODY_BYTES, limit_response
from kitchen.llm.providers.sdk_calls import Sdk

SDK = Sdk(SimpleNamespace(__name__="sdk"), None, ("sk-secret-key",))


def test_lines_that_are_no_objects_are_left_out() -> None:
    lines = ['{"custom_id": "a"}', "", "[1]", '{"cut', '{"custom_id": "b"}']
    assert [line["custom_id"] for line in json_lines("\n".join(lines))] == ["a", "b"]


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


def test_calls_that_were_never_made_may_be_made_again() -> None:
    assert [unmade_call(why).code for why in ("expired", "canceled")] == ["timeout", "connection"]


def test_a_temperature_goes_into_the_body_and_its_api_version_into_the_lane() -> None:
    old = Request("claude-opus-4-5", (Message("user", "go"),), temperature=0.5)
    assert lane(old) == "2023-06-01" and lane(Request("claude-opus-5", old.messages)) == ""
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
