"""Ask Claude models through Anthropic's SDK, with only the parameters that each model accepts.

The environment variable `ANTHROPIC_API_KEY` or `ANTHROPIC_AUTH_TOKEN` holds the key. `ANTHROPIC_BASE_URL`
holds the address (by default Anthropic's). A reply that was cut off at `max_tokens` is accepted if it has
some text or a whole tool call. A reply without either, and a refusal, is an error.

What Claude models accept (November 2026, API version 2026-10-21):

- `temperature`: Claude 4.7 and newer refuse it. API version 2026-10-21 refuses it for older models, too. So a
  request to an older model with a temperature uses version 2023-06-01.
- Thinking: models from Claude 5 on think before they answer, unless the request switches it off. Opus 5.5 and
  Fable 5.1 always think.
- `tool_choice`: Opus 5.5, Sonnet 5.5 and Fable 5.1 cannot be forced to call a tool, and no model can while it
  thinks. The tool's schema is then sent as the required format of the answer.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

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
from kitchen.llm.model_capabilities import listed_model, without_date
from kitchen.llm.providers import sdk_calls
from kitchen.llm.providers.sdk_calls import ApiArguments
from kitchen.llm.service_settings import service_settings

TEMPERATURE_API_VERSION = "2023-06-01"
"""The API version that still accepts a temperature."""


@dataclass(frozen=True, slots=True)
class ClaudeTraits:
    """The capabilities of one Claude model. The default values (no optional features) are used for unknown
    models."""

    temperature: bool = False
    forced_tool: bool = False
    effort: bool = True
    least: dict[str, Json] = field(default_factory=dict)
    """Arguments that make it think as little as possible."""

    def calls_tools(self, *, thinks: bool) -> bool:
        """Return whether the model can be forced to answer with a tool call. `thinks` is True if thinking is
        requested."""
        return self.forced_tool and not thinks


_OFF: dict[str, Json] = {"thinking": {"type": "disabled"}}
_LOW: dict[str, Json] = {"output_config": {"effort": "low"}}

CLAUDE_MODELS: dict[str, ClaudeTraits] = {
    "claude-fable-5-1": ClaudeTraits(least=_LOW),
    "claude-haiku-4-5": ClaudeTraits(temperature=True, forced_tool=True, effort=False),
    "claude-haiku-5-5": ClaudeTraits(forced_tool=True, least=_OFF),
    "claude-opus-4-5": ClaudeTraits(temperature=True, forced_tool=True, effort=False),
    "claude-opus-4-6": ClaudeTraits(temperature=True, forced_tool=True),
    "claude-opus-4-7": ClaudeTraits(forced_tool=True),
    "claude-opus-4-8": ClaudeTraits(forced_tool=True),
    "claude-opus-5": ClaudeTraits(forced_tool=True, least=_OFF),
    "claude-opus-5-5": ClaudeTraits(least=_LOW),
    "claude-sonnet-4-6": ClaudeTraits(temperature=True, forced_tool=True),
    "claude-sonnet-5": ClaudeTraits(forced_tool=True, least=_OFF),
    "claude-sonnet-5-5": ClaudeTraits(least={"thinking": {"type": "between_tools"}}),
}
"""The models offered, by name."""


def claude_traits(model: str) -> ClaudeTraits:
    """Return the capabilities of a model, ignoring a date at the end of its name. If a list of models was
    stored (`kitchen.llm.model_capabilities`), its entries about thinking and effort take precedence."""
    ours = CLAUDE_MODELS.get(without_date(model))
    told = listed_model("anthropic", model)
    if told is None or not told.thinking:
        return ours or ClaudeTraits()
    sent = (ours.least if ours else {}).get("thinking", {}).get("type", "")
    least = ours.least if ours and (not sent or sent in told.thinking) else _least(told)
    return replace(ours or ClaudeTraits(), effort=bool(told.efforts), least=least)


def _least(told: OfferedModel) -> dict[str, Json]:
    """Return the API arguments with which a model thinks as little as possible. `told` is the API's
    description of the model."""
    for way in ("disabled", "between_tools"):
        if way in told.thinking:
            return {"thinking": {"type": way}}
    return _LOW if "low" in told.efforts else {}


class Anthropic(LanguageModel):
    """A model that calls Anthropic's Messages API. All calls of a process share one client, which keeps
    connections open."""

    provider = "anthropic"

    async def ask(self, request: Request) -> Reply:
        """Return one answer within `request.seconds`. Raises ModelError if there is none. There is no
        second attempt."""
        arguments = arguments_for(request)

        def send(connected: sdk_calls.Sdk, arguments: ApiArguments, seconds: float) -> Awaitable[Any]:
            ask = connected.client.messages.with_raw_response.create
            answer: Awaitable[Any] = ask(timeout=seconds, **arguments)
            return answer

        return await sdk_calls.call_model(
            lambda: client(request.model),
            request,
            lambda _: arguments,
            send,
            lambda body: read_reply(body, request.tool),
        )


def client(model: str = "") -> sdk_calls.Sdk:
    """Return the SDK's client for the key in the environment. A model may have an address of its own. Raises
    NotAskedError if no key is set."""
    key = sdk_calls.key_from_environment("ANTHROPIC_API_KEY")
    token = None if key else sdk_calls.key_from_environment("ANTHROPIC_AUTH_TOKEN")
    if not key and not token:
        raise sdk_calls.not_asked_error("ANTHROPIC_API_KEY is not set")
    own = service_settings("anthropic", model).address
    return _client(key, token, own or os.environ.get("ANTHROPIC_BASE_URL") or None)


@lru_cache(maxsize=4)
def _client(key: str | None, token: str | None, address: str | None) -> sdk_calls.Sdk:
    import anthropic

    made = anthropic.AsyncAnthropic(
        api_key=key,
        auth_token=token,
        base_url=address,
        max_retries=0,
        http_client=anthropic.DefaultAsyncHttpxClient(**sdk_calls.limited_client()),
        default_headers=sdk_calls.plain_headers(),
    )
    return sdk_calls.Sdk(anthropic, made, tuple(secret for secret in (key, token) if secret))


# Requests


def arguments_for(request: Request) -> dict[str, Any]:
    """Return the request as arguments of the Messages API. Raises NotAskedError for a setting that this
    model does not accept."""
    if request.top_p is not None or request.seed is not None:
        raise sdk_calls.not_asked_error("Claude takes neither top_p nor a seed: leave them empty")
    model = claude_traits(request.model)
    arguments: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        **_messages(request),
        **_thinking(request, model),
        **service_settings("anthropic", request.model).sent,
    }
    if request.temperature is not None:
        arguments |= _temperature(request, model)
    if request.tool is not None:
        _add_tool(arguments, request.tool, forced=model.calls_tools(thinks=request.effort is not None))
    return arguments


def _messages(request: Request) -> dict[str, Any]:
    """Return the messages as API arguments. System messages become the system prompt. The part of the prompt
    to cache ends with the last message that is `fixed`."""
    messages, hour = request.messages, {"ttl": "1h"} if request.cache_hour else {}
    last = max((number for number, message in enumerate(messages) if message.fixed), default=None)
    ends_cache = {"cache_control": {"type": "ephemeral", **hour}}
    blocks = [
        {"type": "text", "text": message.text, **(ends_cache if number == last else {})}
        for number, message in enumerate(messages)
    ]
    pairs = list(zip(messages, blocks, strict=True))
    system = [block for message, block in pairs if message.role == "system"]
    spoken = [{"role": m.role, "content": [block]} for m, block in pairs if m.role != "system"]
    return {"messages": spoken, **({"system": system} if system else {})}


def _thinking(request: Request, model: ClaudeTraits) -> dict[str, Any]:
    if request.effort is None:
        return dict(model.least)
    if not model.effort:
        raise sdk_calls.not_asked_error(f"{request.model} takes no effort: leave it empty")
    return {
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": request.effort},
    }


def _temperature(request: Request, model: ClaudeTraits) -> dict[str, Any]:
    if not model.temperature:
        raise sdk_calls.not_asked_error(f"{request.model} takes no temperature: leave it empty")
    return {
        "extra_body": {"temperature": request.temperature},
        "extra_headers": {"anthropic-version": TEMPERATURE_API_VERSION},
    }


def _add_tool(arguments: dict[str, Any], tool: Tool, *, forced: bool) -> None:
    """Change the API arguments so that the answer follows the tool's schema. With `forced`, the model must
    call the tool; otherwise its text must have this format."""
    if forced:
        described = {"name": tool.name, "description": tool.description, "input_schema": dict(tool.schema)}
        arguments["tools"] = [{**described, "strict": True}]
        arguments["tool_choice"] = {"type": "tool", "name": tool.name, "disable_parallel_tool_use": True}
        return
    schema = {"description": tool.description, **tool.schema}
    format_ = {"type": "json_schema", "schema": schema}
    arguments["output_config"] = {**arguments.get("output_config", {}), "format": format_}


# Token counts and model lists

COUNTED = ("model", "messages", "system", "thinking", "tools", "tool_choice", "output_config")
"""The arguments of a request that count as prompt."""


def count_tokens(request: Request) -> int:
    """Ask the API for the number of tokens of a prompt, within `request.seconds`, and return it. This
    costs nothing. Raises ModelError if there is no count."""
    plain = replace(request, temperature=None, top_p=None, seed=None)
    arguments = {name: value for name, value in arguments_for(plain).items() if name in COUNTED}

    def send(connected: sdk_calls.Sdk, seconds: float) -> Any:
        return connected.client.messages.with_raw_response.count_tokens(timeout=seconds, **arguments)

    if counted := sdk_calls.token_count(
        sdk_calls.fetch_from_server(lambda: client(request.model), request.seconds, send).get("input_tokens")
    ):
        return counted
    raise UnreadableReplyError("no number of tokens in the answer")


def offered(seconds: float) -> tuple[OfferedModel, ...]:
    """Return every model that the key in the environment can use, as the API lists them. Raises ModelError
    if the API does not answer within `seconds`."""
    return sdk_calls.fetch_model_list(client, seconds, _offered, limit=1000)


def _offered(told: dict[str, Json]) -> OfferedModel:
    return OfferedModel(
        name=str(told.get("id") or ""),
        status=str(told.get("lifecycle") or ""),
        thinking=_supported(told, "capabilities", "thinking", "types"),
        efforts=_supported(told, "capabilities", "effort"),
        reads=sdk_calls.token_count(told.get("max_input_tokens")) or None,
        writes=sdk_calls.token_count(told.get("max_tokens")) or None,
    )


def _supported(told: Json, *names: str) -> tuple[str, ...]:
    """Return the names of the features that the API marks as supported, under the keys `names` of its
    answer."""
    for name in names:
        told = told.get(name) if isinstance(told, dict) else None
    ways = told.items() if isinstance(told, dict) else ()
    return tuple(name for name, way in ways if isinstance(way, dict) and way.get("supported"))


# Replies


def read_reply(body: Json, tool: Tool | None) -> Reply:
    """Return the reply in the body of the API's response. `tool` is the requested tool. Raises
    UnreadableReplyError if the body has no usable answer."""
    blocks = body.get("content") if isinstance(body, dict) else None
    if not isinstance(blocks, list):
        raise UnreadableReplyError("not an answer of the Messages API")
    usage, stop = _usage(body.get("usage")), str(body.get("stop_reason") or "")
    text = "".join(str(b.get("text", "")) for b in blocks if _is(b, "text"))
    call = _called(blocks, text, tool) if tool else None
    named, thought = str(body.get("model") or ""), _thought(blocks)
    reply = Reply(text=text, call=call, model=named, stop=stop, usage=usage, reasoning=thought)
    reply = sdk_calls.with_service(reply, body.get("usage"))
    return sdk_calls.checked_reply(reply, tool)


def _thought(blocks: list[Json]) -> str:
    """Return the texts in which the model thinks, block by block. A block that the API hides gives
    `(redacted)`."""
    said = [str(block.get("thinking") or "") for block in blocks if _is(block, "thinking")]
    hidden = ["(redacted)" for block in blocks if _is(block, "redacted_thinking")]
    return "\n\n".join(part for part in (*said, *hidden) if part.strip())


def _called(blocks: list[Json], text: str, tool: Tool) -> dict[str, Json] | None:
    """Return the arguments with which the model called the tool. If it made no tool call, read them from
    its text. Return None if there are none."""
    for block in blocks:
        if _is(block, "tool_use") and block.get("name") == tool.name:
            return sdk_calls.json_object(block.get("input"))
    return sdk_calls.tool_arguments_in(text, tool)


def _is(block: Json, kind: str) -> bool:
    return isinstance(block, dict) and block.get("type") == kind


def _usage(counted: Json) -> Usage:
    counted = counted if isinstance(counted, dict) else {}
    output = sdk_calls.token_count(counted.get("output_tokens"))
    return Usage(
        input=sdk_calls.token_count(counted.get("input_tokens")),
        output=output,
        cache_read=sdk_calls.token_count(counted.get("cache_read_input_tokens")),
        cache_write=sdk_calls.token_count(counted.get("cache_creation_input_tokens")),
        thinking=sdk_calls.part_of_tokens(output, counted.get("output_tokens_details"), "thinking_tokens"),
    )
