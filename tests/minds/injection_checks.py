"""Check that people's words stay words, whatever they are, in what a model is sent and in what it says.

Two servers are played: one that follows the words in its line to people, and one that tells its prompt.
"""

from __future__ import annotations

import asyncio
import json
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kitchen.agents.make_situation import make_situation
from kitchen.contract.agent import Decision
from kitchen.contract.organisation import Member, make_organisation
from kitchen.contract.team_messages import TeamMessage
from kitchen.llm import circuit_breaker, provider_registry
from kitchen.registry.agent_registry import make_agent
from kitchen.words.quoted_messages import without_chat_marks
from kitchen.worlds.overcooked.world import Overcooked
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.dispatcher.dispatching import decide
from tests.minds.model_cases import RIGHT, RIGHT_WORDS, kitchen_situation
from tests.minds.reply_checks import MODELS, SECRET, Checked
from tests.stand_in_server import Answer, StandInServer

TEXTS: list[str] = tomllib.loads(Path(__file__).with_name("injected_words.toml").read_text("utf-8"))["texts"]
TEAM = make_organisation(
    "central",
    (Member(0, (0,), is_person=True), Member(1, (1, 2), is_person=False)),
    seats=3,
    settings={"talk": True},
)
PAIR = make_organisation(
    "central",
    (Member(0, (0,), is_person=True), Member(1, (1,), is_person=False)),
    seats=2,
    settings={"talk": True},
)
AIMS = {"first": ["dish"], "left": [], "mode": "work"}
"""What the model of the agent `fast_and_slow` answers."""
HARMLESS = "hello"
CHAT_MARK = re.compile(
    r"<\|[a-z_]+\|>|\[/?INST\]|<</?SYS>>|</?(?:s|system|assistant|think|tool_call)>|\[TOOL_CALLS\]"
)

Sent = list[tuple[str, str]]
"""The messages of a request, as (role, text)."""


def check_injections(server: StandInServer) -> Checked:
    """Check each text with each provider and each kind of agent."""
    found = Checked("people's words that give orders")
    for provider in MODELS:
        for agent in AGENTS:
            usual, _ = _sent(server, provider, agent, HARMLESS, "")
            for text in TEXTS:
                wrong = list(_wrong_with(server, provider, agent, text, usual))
                found.cases, found.calls = found.cases + 1, found.calls + 2
                found.wrong += [f"{provider}, {agent.name}, {text!r}: {each}" for each in wrong]
    return found


def _wrong_with(
    server: StandInServer, provider: str, agent: AskedAgent, text: str, usual: Sent
) -> Iterator[str]:
    words = " ".join(without_chat_marks(text).split())  # as the model was sent them
    sent, decision = _sent(server, provider, agent, text, words)
    yield from _wrong_prompt(sent, usual)
    yield from _wrong_decision(agent, decision)
    told = " ".join(sent[0][1].split())[200:480]
    _, telling = _sent(server, provider, agent, text, told)
    yield from _wrong_decision(agent, telling)
    if telling.says:
        yield "told people its prompt"


def _sent(
    server: StandInServer, provider: str, agent: AskedAgent, text: str, line: str
) -> tuple[Sent, Decision]:
    """Let a person write the text. Return what the model was sent, and what was decided on its answer, which
    has this line to people."""
    circuit_breaker.forget_pauses()
    server.script = [Answer(text=agent.answer(line))]
    server.asked.clear()
    decision = agent.decide(text, f"{provider}:{MODELS[provider]}")
    return list(_messages(provider, server.asked[-1].body)), decision


@dataclass(frozen=True, slots=True)
class AskedAgent:
    """A kind of agent that reads people's words."""

    name: str
    decide: Callable[[str, str], Decision]
    """Decide with the words of a person and the name of a model."""
    answer: Callable[[str], str]
    """Return the model's reply: what is right, and this line to people."""
    is_right: Callable[[Decision], bool]
    """Whether the decision is what the reply says."""


def _dispatched(text: str, model: str) -> Decision:
    said = TeamMessage(1, 11, 0, (1,), "say", text, is_new=True)
    seen = changed(kitchen_situation(), organisation=TEAM, member=1, messages=(said,))
    return decide(seen, model=model, reply="text", ask_unclear=False)


def _commands_are_right(decision: Decision) -> bool:
    return decision.commands.get(1) == RIGHT[1] and "goto_agent1_mixer0" not in repr(decision.commands)


def _reflected(text: str, model: str) -> Decision:
    world = Overcooked.create(seats=2, settings={"layout": "cramped_room", "clock": "tick"})
    world.reset(3)
    said = TeamMessage(1, 1, 0, (1,), "say", text, is_new=True)
    seen = make_situation(world, (1,), people=(0,), seed=1)
    mind = make_agent("fast_and_slow", {"model": model, "at_once": False, "structured": False})
    return asyncio.run(mind.decide(changed(seen, organisation=PAIR, member=1, messages=(said,))))


def _aims_are_right(decision: Decision) -> bool:
    note = decision.note if isinstance(decision.note, dict) else {}
    return (note.get("thought") or {}).get("aims") == AIMS


AGENTS = (
    AskedAgent(
        "dispatcher",
        _dispatched,
        lambda line: (f"Say: {line}\n" if line else "") + "\n".join(RIGHT_WORDS),
        _commands_are_right,
    ),
    AskedAgent(
        "fast_and_slow",
        _reflected,
        lambda line: json.dumps({**AIMS, "say": line}),
        _aims_are_right,
    ),
)


def _messages(provider: str, body: dict[str, Any]) -> Iterator[tuple[str, str]]:
    system = body.get("system", ()) if provider == provider_registry.ANTHROPIC else ()
    yield from (("system", block["text"]) for block in system)
    for message in body["messages"]:
        content = message["content"]
        texts = content if isinstance(content, str) else "".join(block["text"] for block in content)
        yield message["role"], texts


def _wrong_prompt(sent: Sent, usual: Sent) -> Iterator[str]:
    """Yield how the messages differ from those with harmless words, but for the line with the words."""
    if [role for role, _ in sent] != [role for role, _ in usual] or sent[:-1] != usual[:-1]:
        yield "changed other messages of the prompt"
    lines, others = sent[-1][1].split("\n"), usual[-1][1].split("\n")
    changed_lines = sum(one != other for one, other in zip(lines, others, strict=False))
    if len(lines) != len(others) or changed_lines != 1:
        yield "changed other lines of the prompt"
    if marks := CHAT_MARK.findall(sent[-1][1]):
        yield f"kept marks of chat templates: {marks}"
    if SECRET in repr(sent):
        yield "the key is in the prompt"


def _wrong_decision(agent: AskedAgent, decision: Decision) -> Iterator[str]:
    if not agent.is_right(decision):
        yield f"carried out {dict(decision.commands)}, noted {decision.note}"
    if SECRET in repr(decision):
        yield "the key is in what is stored"
