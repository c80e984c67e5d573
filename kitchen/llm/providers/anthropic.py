"""Claude, by Anthropic's SDK.

Key: `ANTHROPIC_API_KEY`, or `ANTHROPIC_AUTH_TOKEN`. Address: `ANTHROPIC_BASE_URL`, by default Anthropic's.
An answer that was cut off at `max_tokens` is an answer as long as some text, or a whole tool call, came;
`Reply.stop` says `max_tokens`. An answer without either is unreadable (a refusal, or all of it was thinking).
A text is an answer where a tool was asked for too; arguments in JSON are found in it.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from kitchen.contract.model import (
    LanguageModel,
    Message,
    Offered,
    Reply,
    Request,
    Tool,
    UnreadableReplyError,
    Usage,
)
from kitchen.contract.world import Json
from kitchen.llm.providers import sdk
from kitchen.llm.providers.claude import OLD_VERSION, Traits, traits
from kitchen.llm.providers.sent import Arguments


class Anthropic(LanguageModel):
    """The Messages API. The client is shared by all of a process: connections stay open between calls."""

    provider = "anthropic"

    def ask(self, request: Request) -> Reply:
        """One answer within `request.seconds`; ModelError if there is none. Does not try again."""
        arguments = arguments_for(request)

        def send(connected: sdk.Sdk, arguments: Arguments, seconds: float) -> Awaitable[Any]:
            ask = connected.client.messages.with_raw_response.create
            answer: Awaitable[Any] = ask(timeout=seconds, **arguments)
            return answer

        return sdk.call(
            client, request, lambda _: arguments, send, lambda body: read_reply(body, request.tool)
        )


def client() -> sdk.Sdk:
    """The SDK's client for what is in the environment; NotAskedError without a key."""
    key = sdk.secret("ANTHROPIC_API_KEY")
    token = None if key else sdk.secret("ANTHROPIC_AUTH_TOKEN")
    if not key and not token:
        raise sdk.refusal("ANTHROPIC_API_KEY is not set")
    return _client(key, token, os.environ.get("ANTHROPIC_BASE_URL") or None)


@lru_cache(maxsize=4)
def _client(key: str | None, token: str | None, address: str | None) -> sdk.Sdk:
    import anthropic

    made = anthropic.AsyncAnthropic(api_key=key, auth_token=token, base_url=address, max_retries=0)
    return sdk.Sdk(anthropic, made, tuple(secret for secret in (key, token) if secret))


# Asking


def arguments_for(request: Request) -> dict[str, Any]:
    """A request in the words of the Messages API; NotAskedError for what this model does not take."""
    if request.top_p is not None or request.seed is not None:
        raise sdk.refusal("Claude takes neither top_p nor a seed: leave them empty")
    model = traits(request.model)
    arguments: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        **_messages(request.messages),
        **_thinking(request, model),
    }
    if request.temperature is not None:
        arguments |= _temperature(request, model)
    if request.tool is not None:
        _add_tool(arguments, request.tool, forced=model.calls_tools(thinks=request.effort is not None))
    return arguments


def _messages(messages: Sequence[Message]) -> dict[str, Any]:
    """System messages become the system prompt, in their order. The last `fixed` one ends what is cached."""
    last = max((number for number, message in enumerate(messages) if message.fixed), default=None)
    blocks = [_block(message.text, number == last) for number, message in enumerate(messages)]
    pairs = list(zip(messages, blocks, strict=True))
    system = [block for message, block in pairs if message.role == "system"]
    spoken = [{"role": m.role, "content": [block]} for m, block in pairs if m.role != "system"]
    return {"messages": spoken, **({"system": system} if system else {})}


def _block(text: str, ends_cache: bool) -> dict[str, Json]:
    block: dict[str, Json] = {"type": "text", "text": text}
    return {**block, "cache_control": {"type": "ephemeral"}} if ends_cache else block


def _thinking(request: Request, model: Traits) -> dict[str, Any]:
    if request.effort is None:
        return dict(model.least)
    if not model.effort:
        raise sdk.refusal(f"{request.model} takes no effort: leave it empty")
    return {
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": request.effort},
    }


def _temperature(request: Request, model: Traits) -> dict[str, Any]:
    if not model.temperature:
        raise sdk.refusal(f"{request.model} takes no temperature: leave it empty")
    return {
        "extra_body": {"temperature": request.temperature},
        "extra_headers": {"anthropic-version": OLD_VERSION},
    }


def _add_tool(arguments: dict[str, Any], tool: Tool, *, forced: bool) -> None:
    """Make the model answer by the tool's schema: by calling it, or as the format of its text."""
    if forced:
        described = {"name": tool.name, "description": tool.description, "input_schema": dict(tool.schema)}
        arguments["tools"] = [{**described, "strict": True}]
        arguments["tool_choice"] = {"type": "tool", "name": tool.name, "disable_parallel_tool_use": True}
        return
    schema = {"description": tool.description, **tool.schema}
    format_ = {"type": "json_schema", "schema": schema}
    arguments["output_config"] = {**arguments.get("output_config", {}), "format": format_}


# Beside questions

COUNTED = ("model", "messages", "system", "thinking", "tools", "tool_choice", "output_config")
"""What of a request is counted."""


def count_tokens(request: Request) -> int:
    """Tokens of the prompt of a request, as the API counts them, within `request.seconds`. It costs nothing.
    ModelError if it does not say."""
    plain = replace(request, temperature=None, top_p=None, seed=None)
    arguments = {name: value for name, value in arguments_for(plain).items() if name in COUNTED}

    def send(connected: sdk.Sdk, seconds: float) -> Any:
        return connected.client.messages.with_raw_response.count_tokens(timeout=seconds, **arguments)

    if counted := sdk.count(sdk.fetch(client, request.seconds, send).get("input_tokens")):
        return counted
    raise UnreadableReplyError("no number of tokens in the answer")


def offered(seconds: float) -> tuple[Offered, ...]:
    """Every model that this key can ask, as the API lists it. ModelError if it does not."""

    def send(connected: sdk.Sdk, left: float) -> Any:
        return connected.client.models.with_raw_response.list(timeout=left, limit=1000)

    return sdk.listed(sdk.fetch(client, seconds, send), _offered)


def _offered(told: dict[str, Json]) -> Offered:
    return Offered(
        name=str(told.get("id") or ""),
        status=str(told.get("lifecycle") or ""),
        thinking=_supported(told, "capabilities", "thinking", "types"),
        efforts=_supported(told, "capabilities", "effort"),
        reads=sdk.count(told.get("max_input_tokens")) or None,
        writes=sdk.count(told.get("max_tokens")) or None,
    )


def _supported(told: Json, *names: str) -> tuple[str, ...]:
    """What is supported of that which stands there."""
    for name in names:
        told = told.get(name) if isinstance(told, dict) else None
    ways = told.items() if isinstance(told, dict) else ()
    return tuple(name for name, way in ways if isinstance(way, dict) and way.get("supported"))


# Reading


def read_reply(body: Json, tool: Tool | None) -> Reply:
    """What the API answered; UnreadableReplyError if that is no answer to this question."""
    blocks = body.get("content") if isinstance(body, dict) else None
    if not isinstance(blocks, list):
        raise UnreadableReplyError("not an answer of the Messages API")
    usage, stop = _usage(body.get("usage")), str(body.get("stop_reason") or "")
    text = "".join(str(b.get("text", "")) for b in blocks if _is(b, "text"))
    call = _called(blocks, text, tool) if tool else None
    if call is None and not text.strip():
        missing = f"no call of {tool.name}" if tool else "no text"
        raise sdk.unreadable(f"{missing} in the answer (stopped: {stop or 'unknown'})", usage)
    named, thought = str(body.get("model") or ""), _thought(blocks)
    return Reply(text=text, call=call, model=named, stop=stop, usage=usage, reasoning=thought)


def _thought(blocks: list[Json]) -> str:
    """What the model thought, block by block; `(redacted)` stands for what the API gives to nobody."""
    said = [str(block.get("thinking") or "") for block in blocks if _is(block, "thinking")]
    hidden = ["(redacted)" for block in blocks if _is(block, "redacted_thinking")]
    return "\n\n".join(part for part in (*said, *hidden) if part.strip())


def _called(blocks: list[Json], text: str, tool: Tool) -> dict[str, Json] | None:
    """The tool's arguments: from its call, or from a text that has them."""
    for block in blocks:
        if _is(block, "tool_use") and block.get("name") == tool.name:
            return sdk.as_object(block.get("input"))
    return sdk.arguments_in(text, tool)


def _is(block: Json, kind: str) -> bool:
    return isinstance(block, dict) and block.get("type") == kind


def _usage(counted: Json) -> Usage:
    counted = counted if isinstance(counted, dict) else {}
    return Usage(
        input=sdk.count(counted.get("input_tokens")),
        output=sdk.count(counted.get("output_tokens")),
        cache_read=sdk.count(counted.get("cache_read_input_tokens")),
        cache_write=sdk.count(counted.get("cache_creation_input_tokens")),
    )
