"""All that a request sends, as role and text: what is kept of it, and compared when it is asked again."""

from __future__ import annotations

import json

from kitchen.contract.model import Request, Tool

TOOL = "tool"
"""The role of what is no message: the description and schema of the tool, after the messages."""


def sent(request: Request) -> list[tuple[str, str]]:
    """The messages in order, and the tool where one is asked for."""
    said = [(message.role, message.text) for message in request.messages]
    return [*said, (TOOL, tool_text(request.tool))] if request.tool else list(said)


def tool_text(tool: Tool) -> str:
    """A tool as JSON; `read_tool` gives an equal one."""
    described = {"name": tool.name, "description": tool.description, "schema": dict(tool.schema)}
    return json.dumps(described, ensure_ascii=False)


def read_tool(text: str) -> Tool:
    """What `tool_text` wrote."""
    return Tool(**json.loads(text))
