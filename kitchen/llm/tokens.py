"""How many tokens a text may have, without a tokenizer: for forecasts, reserves and the stand-in.

English prose has about four bytes a token, the codes of a kitchen (`goto_agent1_pot0`) about two and a half;
newer tokenizers make up to a third more of either.
"""

from __future__ import annotations

import json

from kitchen.contract.model import Request

LIKELY = 3.5
"""Bytes of one token, on average."""
FEWEST = 2.0
"""Bytes of one token, at worst, over a whole prompt."""
MESSAGE = 8
"""Tokens that every message costs beside its text, at worst."""
TOOL = 600
"""Tokens that an API adds to explain a tool, at worst."""


def likely_tokens(text: str) -> int:
    """What a text probably counts; 0 for an empty one."""
    return round(len(text.encode()) / LIKELY)


def most_tokens(request: Request) -> int:
    """What the prompt of a request counts at worst."""
    size = sum(len(message.text.encode()) for message in request.messages)
    tokens = size / FEWEST + MESSAGE * len(request.messages)
    if request.tool:
        described = json.dumps([request.tool.name, request.tool.description, dict(request.tool.schema)])
        tokens += len(described) / FEWEST + TOOL
    return round(tokens)
