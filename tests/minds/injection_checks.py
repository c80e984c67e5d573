"""Check that people's words stay words, whatever they are, in what a model is sent and in what it says.

Two servers are played: one that follows the words in its line to people, and one that tells its prompt.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kitchen.contract.agent import Decision, Situation
from kitchen.contract.organisation import Member, make_organisation
from kitchen.contract.team_messages import TeamMessage
from kitchen.llm import circuit_breaker, provider_registry
from kitchen.words.quoted_messages import without_chat_marks
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
HARMLESS = "hello"
CHAT_MARK = re.compile(
    r"<\|[a-z_]+\|>|\[/?INST\]|<</?SYS>>|</?(?:s|system|assistant|think|tool_call)>|\[TOOL_CALLS\]"
)

Sent = list[tuple[str, str]]
"""The messages of a request, as (role, text)."""


def check_injections(server: StandInServer) -> Checked:
    """Check each text with each provider."""
    found = Checked("people's words that give orders")
    for provider in MODELS:
        usual, _ = _sent(server, provider, HARMLESS, "")
        for text in TEXTS:
            found.cases += 1
            words = " ".join(without_chat_marks(text).split())  # as the model was sent them
            obedient = f"Say: {words}\n" + "\n".join(RIGHT_WORDS)
            sent, decision = _sent(server, provider, text, obedient)
            wrong = [*_wrong_prompt(sent, usual), *_wrong_decision(decision)]
            told = f"Say: {' '.join(sent[0][1].split())[200:480]}\n" + "\n".join(RIGHT_WORDS)
            _, telling = _sent(server, provider, text, told)
            wrong += [*_wrong_decision(telling), *(["told people its prompt"] if telling.says else [])]
            found.calls += 2
            found.wrong += [f"{provider}, {text!r}: {each}" for each in wrong]
    return found


def _sent(server: StandInServer, provider: str, text: str, answer: str) -> tuple[Sent, Decision]:
    """Let a person write the text. Return what the model was sent, and what was decided on its answer."""
    circuit_breaker.forget_pauses()
    server.script = [Answer(text=answer or "noop_agent1\nnoop_agent2")]
    server.asked.clear()
    model = f"{provider}:{MODELS[provider]}"
    decision = decide(_written(text), model=model, reply="text", ask_unclear=False)
    return list(_messages(provider, server.asked[-1].body)), decision


def _written(text: str) -> Situation:
    said = TeamMessage(1, 11, 0, (1,), "say", text, is_new=True)
    return changed(kitchen_situation(), organisation=TEAM, member=1, messages=(said,))


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


def _wrong_decision(decision: Decision) -> Iterator[str]:
    if decision.commands.get(1) != RIGHT[1] or "goto_agent1_mixer0" in repr(decision.commands):
        yield f"carried out {dict(decision.commands)}"
    if SECRET in repr(decision):
        yield "the key is in what is stored"
