"""Read a reply of the agent `collab`'s language model: its analysis, plan, requests and message.

The reply is a tool call, JSON or lines of text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from kitchen.contract.agent import MAX_PLAN_STEPS
from kitchen.contract.data_limits import json_object_in_text
from kitchen.contract.language_model import Reply, Tool
from kitchen.contract.team_messages import MAX_AGENT_CHARACTERS
from kitchen.contract.world import Command, Json
from kitchen.worlds.collab_overcooked.macro_checks import REQUEST, read_macros, without_request

_MACROS = {"type": "array", "items": {"type": "string"}}
TURN_TOOL = Tool(
    "take_turn",
    "Give your plan, your requests to the teammate, and what you say.",
    {
        "type": "object",
        "properties": {
            "analysis": {"type": "string"},
            "plan": _MACROS,
            "requests": _MACROS,
            "say": {"type": "string"},
        },
        "required": ["analysis", "plan", "requests", "say"],
        "additionalProperties": False,
    },
)
PARTS = ("analysis", "plan", "requests", "say")
LISTS = ("plan", "requests")
_HEADING = re.compile(r"^\W*(analysis|plan|requests?|say)\W*:[*_\s]*(.*)$", re.IGNORECASE)
_NOTHING = re.compile(r"^\W*+(none|nothing|n/a|empty)?\W*$", re.IGNORECASE)
"""Texts that models write for an empty part."""
_END = re.compile(r"\bEND\W*$")


@dataclass(frozen=True, slots=True)
class TurnReply:
    """One answer of the model, read into its four parts."""

    analysis: str
    plan: tuple[Command, ...]
    requests: tuple[Command, ...]
    say: str

    @property
    def ends(self) -> bool:
        """Return True if the message ends the conversation: its last word is `END`."""
        return bool(_END.search(self.say))


class UnreadableTurnError(ValueError):
    """An answer that lacks its analysis, its plan or both. The error message says what is missing."""


def read_turn_reply(reply: Reply) -> TurnReply:
    """Return the parts of a model's answer. A `request(...)` in the plan is moved to the requests, as in
    the paper. Raises UnreadableTurnError if the analysis or the plan is missing."""
    parts = dict(reply.call) if reply.call else _parts(reply.text)
    analysis = parts.get("analysis")
    if not isinstance(analysis, str) or not analysis.strip():
        raise UnreadableTurnError("`analysis` is missing")
    if not isinstance(parts.get("plan"), str | list):
        raise UnreadableTurnError("`plan` is missing")
    planned, asked = (_macros(parts.get(name)) for name in LISTS)
    plan = tuple(one for one in planned if one[0] != REQUEST)[:MAX_PLAN_STEPS]
    requested = map(without_request, (*asked, *(one for one in planned if one[0] == REQUEST)))
    requests = tuple(one for one in requested if one)[:MAX_PLAN_STEPS]
    say = parts.get("say")
    words = say.strip()[:MAX_AGENT_CHARACTERS] if isinstance(say, str) and not _NOTHING.match(say) else ""
    return TurnReply(analysis, plan, requests, words)


def _macros(given: Json) -> list[Command]:
    """Return the macros in a part of the reply. Texts that models write for an empty part give none."""
    return [macro for macro in read_macros(given) if not _NOTHING.match(" ".join(macro))]


def _parts(text: str) -> Mapping[str, Json]:
    found = json_object_in_text(text)
    return _lines(text) if found is None else found


def _lines(text: str) -> dict[str, Json]:
    """Read an answer in lines under the headings Analysis, Plan, Requests and Say."""
    parts: dict[str, Json] = {}
    name = ""
    for line in text.splitlines():
        if heading := _HEADING.match(line):
            name, rest = heading[1].lower(), heading[2].strip()
            name = "requests" if name == "request" else name
            parts[name] = [rest] if rest else []
        elif name and line.strip():
            parts[name].append(line.strip())
    return {key: lines if key in LISTS else " ".join(lines) for key, lines in parts.items()}


def written_turn(reply: TurnReply) -> str:
    """Return the JSON text that a model would write for this answer. The stand-in model, a program that
    replaces the language model, answers with it."""
    return json.dumps(
        {
            "analysis": reply.analysis,
            "plan": [" ".join(macro) for macro in reply.plan],
            "requests": [" ".join(macro) for macro in reply.requests],
            "say": reply.say,
        }
    )
