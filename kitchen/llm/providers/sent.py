"""What is kept of a request beside its texts, and by which name the server knows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kitchen.contract.world import Json

Arguments = dict[str, Any]
"""A request in the words of an API."""

LONGEST_ID = 120
"""Characters of a request's id that are kept."""

TEXTS = ("messages", "system", "description", "input_schema", "parameters", "schema")
"""What of a request is kept elsewhere, by content: the messages, and what the tool says."""


def parameters_of(arguments: Arguments) -> dict[str, Json]:
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
        return {name: _without_texts(part) for name, part in value.items() if name not in TEXTS}
    return [_without_texts(part) for part in value] if isinstance(value, list) else value


def request_id(headers: Mapping[str, str]) -> str:
    """What a server calls the request, on one line; empty where it says nothing."""
    named = headers.get("request-id") or headers.get("x-request-id") or ""
    return " ".join(named.split())[:LONGEST_ID]
