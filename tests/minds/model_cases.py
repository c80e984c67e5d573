"""Define the replies and the faults of the local model server, and what a right decision is for each."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kitchen.contract.agent import Decision, Situation
from kitchen.contract.world import Command
from tests.kitchen.worlds.cuisine.cooking import kitchen
from tests.kitchen.worlds.cuisine.dispatcher import dispatching
from tests.stand_in_server import Answer, status

SHAPES = Path(dispatching.__file__).parent
LIST_STEP = 12
"""The step in which the replies command agents 1 and 2. Some replies name it."""
RIGHT: Mapping[int, Command] = {1: ("goto", "pot0"), 2: ("get", "storage0", "tuna")}
RIGHT_WORDS = ("goto_agent1_pot0", "get_agent2_storage0_tuna")
FILLED = {
    "{right}": "\n".join(RIGHT_WORDS),
    "{wrong}": "goto_agent1_mixer0\nget_agent2_storage0_rice",
    "{right,}": ", ".join(RIGHT_WORDS),
    "{wrong,}": "goto_agent1_mixer0, get_agent2_storage0_rice",
    "{n}": "\n",
}
"""Abbreviations in `reply_shapes.toml`."""

READ, PARTLY, OPEN = "read", "partly", "open"
"""What a reply must lead to: both commands; nothing but these commands; no command for agent 1."""


@dataclass(frozen=True, slots=True)
class ReplyStyle:
    """One way in which a model may write its commands. `right` is READ, PARTLY or OPEN."""

    name: str
    text: str
    right: str

    def misread(self, decision: Decision) -> str:
        """Return what is wrong with the decision that was made from this reply. Empty if nothing is."""
        done = {seat: command for seat, command in decision.commands.items() if command != ("noop",)}
        if foreign := {seat: each for seat, each in done.items() if RIGHT.get(seat) != each}:
            return f"carried out what was not meant: {foreign}"
        if self.right == OPEN and 1 in done:
            return "carried out what was taken back or left open"
        read = decision.note.get("extracted", ()) if isinstance(decision.note, dict) else ()
        if self.right == READ and not (set(RIGHT_WORDS) <= {*read} and done.get(1) == RIGHT[1]):
            return f"lost a command: read {read}"
        return ""


@dataclass(frozen=True, slots=True)
class ServerFault:
    """One way in which a server fails. `code` is that of the error. `cost` is `free` (not billed), `counted`
    (the tokens that the server counted) or `worst` (unknown, so the most that it can cost)."""

    name: str
    answer: Answer
    code: str
    cost: str
    again: bool = False
    """True if the call is repeated."""
    seconds: float = 30.0
    """Time limit of the decision."""


def reply_styles() -> list[ReplyStyle]:
    """Return all styles, from the files of the dispatcher's tests."""
    shapes, styles = _tables("reply_shapes.toml"), _tables("styles.toml")
    groups = (
        (READ, {**styles["spellings"], **styles["lists"], **shapes["read"]}),
        (PARTLY, shapes["asked_again"]),
        (OPEN, {**styles["words"], **shapes["left_open"]}),
    )
    surrogate = ReplyStyle("a lone surrogate", "\ud800{right}", READ)
    return [
        replace(each, text=_filled(each.text))
        for each in (
            surrogate,
            *(ReplyStyle(*pair, right) for right, texts in groups for pair in texts.items()),
        )
    ]


def _tables(name: str) -> dict[str, dict[str, str]]:
    return tomllib.loads((SHAPES / name).read_text(encoding="utf-8"))


def _filled(text: str) -> str:
    for name, commands in FILLED.items():
        text = text.replace(name, commands)
    return text


def server_faults(provider: str, secret: str) -> Iterator[ServerFault]:
    """Yield all faults of a provider's server. Its error messages contain the key `secret`."""
    for code, name in ((408, "connection"), (429, "429"), (500, "5xx"), (503, "5xx"), (529, "529")):
        yield ServerFault(f"status {code}", status(code, message=f"busy {secret}"), name, "free", again=True)
    for code in (400, 401, 403, 404, 413, 422):
        yield ServerFault(f"status {code}", status(code, message=f"bad key {secret}"), "4xx", "free")
    yield ServerFault("too long a prompt", status(400, message="prompt is too long"), "context", "free")
    yield ServerFault("another host", Answer("redirect", "http://other.invalid/v1"), "4xx", "free")
    for kind in ("cut", "hang_up"):
        yield ServerFault(kind, Answer(kind, "noop_agent1"), "connection", "worst", again=True)
    yield ServerFault("half of the JSON", Answer("malformed", "noop_agent1"), "unreadable", "worst")
    bodies: list[Any] = [{"hello": 1}, [], "words", None, {"content": 1, "choices": 2}]
    for body in bodies:
        yield ServerFault(f"the body {body}", Answer("raw", body=body), "unreadable", "worst")
    yield ServerFault("no content", Answer("empty"), "unreadable", "counted")
    refuses, cut = ("refusal", "max_tokens") if provider == "anthropic" else ("content_filter", "length")
    yield ServerFault("a refusal", Answer(text="I will not.", stop=refuses), "refusal", "counted")
    yield ServerFault("no words left", Answer(stop=cut), "truncated", "counted")
    for kind in ("plain", "gzip"):
        yield ServerFault(f"a body without end, {kind}", Answer("flood", kind), "too_long", "worst")
    yield ServerFault("a byte now and then", Answer("dribble"), "timeout", "worst", seconds=0.4)


def kitchen_situation() -> Situation:
    """Return the situation in which agents 1 and 2 are commanded, beside a person in seat 0."""
    world = kitchen(seats=3)
    while world.clock < LIST_STEP - 1:
        world.step(dict.fromkeys(range(3), ("noop",)))
    return dispatching.seen(world)
