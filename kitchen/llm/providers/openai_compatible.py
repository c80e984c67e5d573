"""Ask any server with OpenAI's chat completions API, such as vLLM or Ollama, through OpenAI's SDK.

Three environment variables configure the server:

- `OPENAI_BASE_URL`: its address, such as `http://localhost:11434/v1` (by default OpenAI's).
- `OPENAI_API_KEY`: its key. Your own server may need none.
- `OPENAI_MODEL`: the models that it offers, separated by commas.

Incomplete replies are handled as in `providers.anthropic`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from kitchen.contract.language_model import (
    LanguageModel,
    OfferedModel,
    Reply,
    Request,
    Tool,
    UnreadableReplyError,
    Usage,
)
from kitchen.contract.world import Json
from kitchen.llm.providers import sdk_calls
from kitchen.llm.providers.sdk_calls import ApiArguments
from kitchen.llm.service_settings import service_settings

REASONING_FIELDS = ("reasoning_content", "reasoning")
"""Fields in which servers return a model's thinking."""
_THINKS = re.compile(r"\s*(?:(?:<think>)?(?P<thought>.*?)</think>\s*|<think>(?P<cut_off>.*)\Z)", re.DOTALL)
"""Thinking between marks. Some chat templates write the first mark themselves, so that only the second one
arrives."""
NO_KEY = "not-needed"
OPENAI_HOST = "api.openai.com"


class OpenAICompatible(LanguageModel):
    """A model that calls the chat completions API. All calls of a process share one client, which keeps
    connections open."""

    provider = "openai-compatible"

    async def ask(self, request: Request) -> Reply:
        """Return one answer within `request.seconds`. Raises ModelError if there is none. There is no
        second attempt."""

        def arguments(connected: sdk_calls.Sdk) -> ApiArguments:
            return arguments_for(request, own=not is_openai(connected.client.base_url.host))

        def send(connected: sdk_calls.Sdk, arguments: ApiArguments, seconds: float) -> Awaitable[Any]:
            ask = connected.client.chat.completions.with_raw_response.create
            answer: Awaitable[Any] = ask(timeout=seconds, **arguments)
            return answer

        return await sdk_calls.call_model(
            lambda: client(request.model),
            request,
            arguments,
            send,
            lambda body: read_reply(body, request.tool),
        )


def is_openai(host: str | None) -> bool:
    """Return whether a host is OpenAI's, in any region, and not a server of your own."""
    return host == OPENAI_HOST or bool(host and host.endswith(f".{OPENAI_HOST}"))


def client(model: str = "") -> sdk_calls.Sdk:
    """Return the SDK's client for the address and key in the environment. A model may have an address of its
    own. Raises NotAskedError if neither is set."""
    key = sdk_calls.key_from_environment("OPENAI_API_KEY")
    address = (
        service_settings("openai-compatible", model).address or os.environ.get("OPENAI_BASE_URL") or None
    )
    if not key and not address:
        raise sdk_calls.not_asked_error("neither OPENAI_BASE_URL nor OPENAI_API_KEY is set")
    if address and not urlsplit(address).scheme.startswith("http"):
        raise sdk_calls.not_asked_error("OPENAI_BASE_URL is no address such as http://localhost:11434/v1")
    return _client(key, address)


@lru_cache(maxsize=4)
def _client(key: str | None, address: str | None) -> sdk_calls.Sdk:
    import openai

    made = openai.AsyncOpenAI(
        api_key=key or NO_KEY,
        base_url=address,
        max_retries=0,
        http_client=openai.DefaultAsyncHttpxClient(**sdk_calls.limited_client()),
        default_headers=sdk_calls.plain_headers(),
    )
    return sdk_calls.Sdk(openai, made, (key,) if key else ())


# Requests


def arguments_for(request: Request, *, own: bool) -> dict[str, Any]:
    """Return the request as arguments of chat completions. Servers of your own (`own`) get `max_tokens`,
    OpenAI gets the newer `max_completion_tokens`."""
    arguments: dict[str, Any] = {
        "model": request.model,
        "messages": [{"role": message.role, "content": message.text} for message in request.messages],
        "max_tokens" if own else "max_completion_tokens": request.max_tokens,
    }
    wanted = {
        "temperature": request.temperature,
        "top_p": request.top_p,
        "seed": request.seed,
        "reasoning_effort": request.effort,
    }
    arguments |= {name: value for name, value in wanted.items() if value is not None}
    arguments |= service_settings("openai-compatible", request.model).sent
    if request.tool is not None:
        arguments |= _tool(request.tool)
    return arguments


def _tool(tool: Tool) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.schema),
        "strict": True,
    }
    return {
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": tool.name}},
    }


def offered(seconds: float) -> tuple[OfferedModel, ...]:
    """Return every model that the server lists. Raises ModelError if it lists none or does not answer
    within `seconds`."""
    return sdk_calls.fetch_model_list(client, seconds, _offered)


def _offered(told: dict[str, Json]) -> OfferedModel:
    """Return the description of one model in the server's list. Only vLLM states the maximum length of a
    prompt. Other servers give only a name."""
    return OfferedModel(
        str(told.get("id") or ""), reads=sdk_calls.token_count(told.get("max_model_len")) or None
    )


# Replies


def read_reply(body: Json, tool: Tool | None) -> Reply:
    """Return the reply in the body of the server's response. `tool` is the requested tool. Raises
    UnreadableReplyError if the body has no usable answer."""
    choice = _first(body.get("choices") if isinstance(body, dict) else None)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise UnreadableReplyError("not an answer of chat completions")
    usage, stop = _usage(body.get("usage")), str(choice.get("finish_reason") or "")
    if refused := _part(message.get("refusal")):
        stop, message = "refusal", {"content": refused}
    thought, text = _thought(message)
    call = _called(message, text, tool) if tool else None
    named = str(body.get("model") or "")
    reply = Reply(text=text, call=call, model=named, stop=stop, usage=usage, reasoning=thought)
    reply = sdk_calls.with_service(reply, body)
    return sdk_calls.checked_reply(reply, tool)


def _thought(message: dict[str, Json]) -> tuple[str, str]:
    """Return the model's thinking and its answer. Servers return thinking as a separate field, or at the
    start of the text between the model's marks."""
    text, parts_thought = _said(message.get("content"))
    if parts_thought:
        return parts_thought, text
    for name in REASONING_FIELDS:
        if isinstance(thought := message.get(name), str) and thought.strip():
            return thought.strip(), text
    found = _THINKS.match(text)
    if not found:
        return "", text
    return (found["thought"] or found["cut_off"] or "").strip(), text[found.end() :]


def _said(content: Json) -> tuple[str, str]:
    """Return the text and the thinking of an answer, which may be a text or a list of parts."""
    if isinstance(content, str):
        return content, ""
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    texts = [_part(part.get("text")) for part in parts if part.get("type") in (None, "text", "output_text")]
    thoughts = [_part(part.get("thinking")) for part in parts if part.get("type") == "thinking"]
    return "".join(texts), "\n\n".join(filter(None, thoughts)).strip()


def _part(value: Json) -> str:
    """Return the text of a part, which may have parts of its own."""
    return value if isinstance(value, str) else _said(value)[0]


def _called(message: dict[str, Json], text: str, tool: Tool) -> dict[str, Json] | None:
    """Return the arguments with which the model called the tool. If it made no tool call, read them from
    its text. Return None if there are none."""
    calls = message.get("tool_calls")
    for each in calls if isinstance(calls, list) else []:
        function = each.get("function") if isinstance(each, dict) else None
        if isinstance(function, dict) and function.get("name") == tool.name:
            return sdk_calls.json_object(function.get("arguments"))
    return sdk_calls.tool_arguments_in(text, tool)


def _first(choices: Json) -> dict[str, Json]:
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _usage(counted: Json) -> Usage:
    """Return the token counts of a call. Cached tokens are counted separately, unlike in OpenAI's counts,
    where they are part of the prompt."""
    counted = counted if isinstance(counted, dict) else {}
    details = counted.get("prompt_tokens_details")
    details = details if isinstance(details, dict) else {}
    read, written = (
        sdk_calls.token_count(details.get("cached_tokens")),
        sdk_calls.token_count(details.get("cache_write_tokens")),
    )
    output = sdk_calls.token_count(counted.get("completion_tokens"))
    told = counted.get("completion_tokens_details")
    return Usage(
        input=max(0, sdk_calls.token_count(counted.get("prompt_tokens")) - read - written),
        output=output,
        cache_read=read,
        cache_write=written,
        thinking=sdk_calls.part_of_tokens(output, told, "reasoning_tokens"),
    )
