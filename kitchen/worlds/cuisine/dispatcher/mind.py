"""The dispatcher as a co-player: prompt, model, extraction, validation, and a fallback that says so."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from kitchen.contract.agent import Agent, Decision, Rehearsal, Situation
from kitchen.contract.talk import Say
from kitchen.contract.world import Intent, Json, Setting, SettingsError
from kitchen.llm.registry import STAND_IN, hindrances, read_model
from kitchen.worlds.cuisine.dispatcher.door import Adviser, Door
from kitchen.worlds.cuisine.dispatcher.feedback import feedback
from kitchen.worlds.cuisine.dispatcher.fitting import no_room, not_sent
from kitchen.worlds.cuisine.dispatcher.memory import Memory
from kitchen.worlds.cuisine.dispatcher.moment import Moment
from kitchen.worlds.cuisine.dispatcher.notes import note_answer, note_fallback
from kitchen.worlds.cuisine.dispatcher.options import SETTINGS, Options
from kitchen.worlds.cuisine.dispatcher.own_text import idle, missing
from kitchen.worlds.cuisine.dispatcher.prompt import fixed_part, parts, pieces, state_part
from kitchen.worlds.cuisine.dispatcher.talk import Answered, Talk
from kitchen.worlds.cuisine.dispatcher.validation import NOOP
from kitchen.worlds.cuisine.dispatcher.wording import Fault

RESERVE = 1.0
"""Seconds kept back of the time for a decision, so that the fallback is in time; a quarter where there are
less than four."""

REHEARSED: Mapping[str, Json] = {
    "model": STAND_IN,
    "memory": 1,
    "repair": 0,
    "stand_in_errors": 0.0,
    "stand_in_nonsense": 0.0,
    "stand_in_latency": 0.0,
    "stand_in_failures": 0.0,
}
"""How it is tried out for a forecast."""


class Dispatcher(Agent):
    """A language model that commands every seat it holds (MindAgent, arXiv 2309.09971, section 4).

    Keeps nothing between steps but `Decision.memory`. `Decision.played_by` is `dispatcher` where a language
    model chose, `stand-in` where none is set up, and `planner` or `noop` where there was no answer; then
    `Decision.fallback` has the ModelError's code. An agent that the model left out is left out. What it
    intends is the plan of its structured reply, the same for every agent; a reply in free text tells none.
    """

    kind = "dispatcher"
    reads_words = True
    worlds = ("cuisine",)
    settings: ClassVar[tuple[Setting, ...]] = SETTINGS
    names_model: ClassVar[str] = "model"

    def __init__(self, chosen: Mapping[str, Json]) -> None:
        """SettingsError for a model of a provider that there is not, and for a system text that lacks
        something."""
        super().__init__(chosen)
        self.options = Options.read(self.chosen)
        read_model(self.options.model)
        if why := missing(self.options):
            raise SettingsError(why)

    def cautions(self) -> tuple[str, ...]:
        """Without a key, a model's name or a price, the fallback would play every step."""
        provider, model = read_model(self.options.model)
        return tuple(f"{why}: {PLAYS[self.options.fallback]}." for why in hindrances(provider, model))

    def remarks(self) -> tuple[str, ...]:
        """Settings of which nothing is sent to the model that plays."""
        return (*not_sent(self.options), *idle(self.options))

    def refusal(self) -> str:
        """Thinking that leaves no room for a reply."""
        return no_room(self.options)

    def model(self) -> str:
        """What the settings name, or the default of this process."""
        return ":".join(read_model(self.options.model))

    def rehearsal(self) -> Rehearsal:
        """By the stand-in, whatever the settings say of it. Two messages are one exchange."""
        kept = (self.options.memory - 1) // 2
        chosen = {**self.chosen, **REHEARSED}
        remembering = {**chosen, "memory": self.options.memory}
        return Rehearsal(chosen, kept, self.options.repair, remembering)

    def fixed_messages(self, situation: Situation) -> tuple[str, ...]:
        """The system message."""
        return (fixed_part(Moment.of(situation), self.options),)

    def placeholders(self, situation: Situation) -> Mapping[str, str]:
        """The parts that are switched on, and all pieces."""
        moment = Moment.of(situation)
        return {**parts(moment, self.options), **pieces(moment, self.options)}

    def decide(self, situation: Situation) -> Decision:
        """Ask the model within the time of the situation, and fall back as the settings say."""
        deadline = time.monotonic() + situation.seconds - min(RESERVE, situation.seconds / 4)
        moment = Moment.of(situation)
        memory = Memory.read(situation.memory).within(self.options.memory)
        adviser = Adviser(situation, moment, memory)
        door = Door(self.options, situation, adviser, deadline)
        told = feedback(moment, memory.feedback) if self.options.feedback else []
        talk = Talk(moment, self.options, memory, door)
        answer = talk.decide(state_part(moment, told))
        if answer is None:
            return self._fall_back(talk, memory, adviser, told)
        return self._follow(talk, memory, adviser, answer, told)

    def _follow(
        self, talk: Talk, memory: Memory, adviser: Adviser, answer: Answered, told: list[str]
    ) -> Decision:
        faults = () if talk.moment.only_answers else answer.verdict.faults
        after = memory.after(talk.exchange, faults, adviser.plan)
        return Decision(
            commands=dict(answer.verdict.commands),
            memory=after.within(self.options.memory).to_json(),
            played_by="stand-in" if talk.door.is_stand_in else self.kind,
            note=note_answer(talk, answer, told),
            calls=tuple(talk.calls),
            intents=self._intents(talk, adviser),
            says=self._says(talk, adviser),
        )

    def _says(self, talk: Talk, adviser: Adviser) -> tuple[Say, ...]:
        """The model's line to all people, and its answers to jobs; the stand-in's words are the planner's."""
        if talk.door.is_stand_in:
            return adviser.decision.says if talk.talks else ()
        line = (Say(talk.line),) if talk.line and not talk.withheld else ()
        return (*line, *talk.answers)

    def _intents(self, talk: Talk, adviser: Adviser) -> Mapping[int, Intent]:
        """The model's own words, the same for all its agents; the stand-in's are the planner's."""
        if talk.door.is_stand_in:
            return adviser.decision.intents
        words = {"said": talk.plan, "thought": talk.thought if self.options.tell_thoughts else ""}
        told = {name: text for name, text in words.items() if text}
        return dict.fromkeys(talk.moment.team.mine, told) if told else {}

    def fall_back(self, situation: Situation, code: str) -> Decision:
        """The settings' fallback, for a decision of which nothing came out."""
        moment = Moment.of(situation)
        memory = Memory.read(situation.memory).within(self.options.memory)
        decision = self._without_answer(moment, memory, Adviser(situation, moment, memory), code)
        return replace(decision, note={"fallback": {"by": decision.played_by, "code": code}})

    def _fall_back(self, talk: Talk, memory: Memory, adviser: Adviser, told: list[str]) -> Decision:
        code = talk.calls[-1].error
        decision = self._without_answer(talk.moment, memory, adviser, code)
        return replace(
            decision,
            note=note_fallback(talk, decision.played_by, told),
            calls=tuple(talk.calls),
            fallback=code,
        )

    def _without_answer(self, moment: Moment, memory: Memory, adviser: Adviser, code: str) -> Decision:
        """Nobody answered: the planner commands, or the agents wait."""
        by = self.options.fallback
        waits = dict.fromkeys(moment.team.asked, NOOP)
        commands = adviser.decision.commands if by == "planner" else waits
        after = memory.after(None, [no_answer(code, by)], adviser.plan)
        return Decision(commands=commands, memory=after.to_json(), played_by=by)


WHY_NOT = {
    "timeout": "No answer of yours came in time",
    "connection": "You could not be reached in the last step",
    "429": "You could not be reached in the last step",
    "529": "You could not be reached in the last step",
    "5xx": "You could not be reached in the last step",
    "4xx": "You could not be asked in the last step",
    "not_asked": "You were not asked in the last step",
    "unreadable": "What you answered in the last step could not be read",
    "budget": "You were not asked in the last step",
    "unpriced": "You were not asked in the last step",
    "error": "You could not be asked in the last step",
}
"""Every ModelError's code in words for the model, which is told of it in the next step."""

PLAYS = {
    "planner": "the planner will command the teammates in every step, as the fallback",
    "noop": "the teammates will wait in every step, as the fallback",
}

THEN = {
    "planner": "so somebody else commanded your agents.",
    "noop": "so your agents did nothing.",
}


def no_answer(code: str, by: str) -> Fault:
    """What happened in a step without an answer, and who stood in."""
    return Fault("no_answer", f"{WHY_NOT[code]}, {THEN[by]}")
