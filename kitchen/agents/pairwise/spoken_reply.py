"""Parse a language model's reply to the agent `pairwise` into a message, its addressee and a command.

The reply may be a tool call, JSON or lines of text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from kitchen.contract.data_limits import json_object_in_text
from kitchen.contract.language_model import Reply, Tool
from kitchen.contract.organisation import ANSWER, ASK, END, REQUEST, SAY
from kitchen.contract.team_messages import MAX_AGENT_CHARACTERS
from kitchen.contract.world import Json

SPOKEN_KINDS = (SAY, ASK, ANSWER, REQUEST, END)
REPLY_TOOL = Tool(
    "reply",
    "Say something to another player, begin a command, or both.",
    {
        "type": "object",
        "properties": {
            "say": {"type": "string", "description": "Your words; empty to say nothing."},
            "to": {"type": "string", "description": "The name of the player; empty for your partner."},
            "kind": {"type": "string", "enum": list(SPOKEN_KINDS)},
            "command": {"type": "string", "description": "One command; empty for none."},
        },
        "required": ["say", "to", "kind", "command"],
        "additionalProperties": False,
    },
)
_LINE = re.compile(
    rf"^\W*(?:({'|'.join(SPOKEN_KINDS)})(?:\s+to\s+([^:]{{1,80}}?))?|(command))\W*:[*_\s]*(.*)$",
    re.IGNORECASE,
)
_NOTHING = re.compile(r"^\W*+(none|nothing|n/a|empty)?\W*$", re.IGNORECASE)
"""Texts that models write for an empty part."""


@dataclass(frozen=True, slots=True)
class SpokenReply:
    """One reply of the model, after it was parsed."""

    say: str = ""
    to: str = ""
    """The name of the addressee as the model wrote it; empty for the present partner."""
    kind: str = SAY
    command: str = ""
    """The command as the model wrote it."""

    @property
    def speaks(self) -> bool:
        """Return whether the reply contains a message to send."""
        return bool(self.say) or self.kind == END

    def written(self) -> str:
        """Return this reply as text in the form in which a model writes it. The stand-in (a program that
        imitates a language model) sends it."""
        return json.dumps({"say": self.say, "to": self.to, "kind": self.kind, "command": self.command})


def read_spoken_reply(reply: Reply) -> SpokenReply | None:
    """Return the parsed reply; None if it has neither a message nor a command in the requested form."""
    parts = dict(reply.call) if reply.call else _parts(reply.text)
    if not {"say", "command"} & parts.keys():
        return None
    kind = str(parts.get("kind", SAY)).strip().lower()
    return SpokenReply(
        _words(parts.get("say"))[:MAX_AGENT_CHARACTERS],
        _words(parts.get("to")),
        kind if kind in SPOKEN_KINDS else SAY,
        _words(parts.get("command")),
    )


def _words(value: Json) -> str:
    return value.strip() if isinstance(value, str) and not _NOTHING.match(value) else ""


def _parts(text: str) -> Mapping[str, Json]:
    found = json_object_in_text(text)
    return _lines(text) if found is None else found


def _lines(text: str) -> dict[str, Json]:
    """Read a reply in lines such as `Say to NAME: text` and `Command: text`. `Say` can also be `Ask`,
    `Answer`, `Request` or `End`. The first line of each kind counts."""
    parts: dict[str, Json] = {}
    for line in filter(None, map(_LINE.match, text.splitlines())):
        kind, to, command, rest = line.groups()
        if command:
            parts.setdefault("command", rest)
        elif "say" not in parts:
            parts |= {"say": rest, "kind": kind.lower(), "to": to or ""}
    return parts
