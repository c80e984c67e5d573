"""The dispatcher as a co-player: prompt, model, extraction, validation, and a fallback that says so."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import ClassVar

from kitchen.coplayers.base import CoPlayer, Decision, Situation
from kitchen.coplayers.dispatcher.door import Adviser, Door, read_model
from kitchen.coplayers.dispatcher.feedback import feedback
from kitchen.coplayers.dispatcher.memory import Memory
from kitchen.coplayers.dispatcher.moment import Moment
from kitchen.coplayers.dispatcher.notes import note_answer, note_fallback
from kitchen.coplayers.dispatcher.options import SETTINGS, Options
from kitchen.coplayers.dispatcher.prompt import state_part
from kitchen.coplayers.dispatcher.talk import Answered, Talk
from kitchen.coplayers.dispatcher.validation import NOOP
from kitchen.coplayers.dispatcher.wording import Fault
from kitchen.worlds.base import Json, Setting

RESERVE = 1.0
"""Seconds kept back of the time for a decision, so that the fallback is in time; a quarter where there are
less than four."""


class Dispatcher(CoPlayer):
    """A language model that commands every seat it holds (MindAgent, arXiv 2309.09971, section 4).

    Keeps nothing between steps but `Decision.memory`. `Decision.played_by` is `dispatcher` where a language
    model chose, `stand-in` where none is set up, and `planner` or `noop` where there was no answer; then
    `Decision.fallback` has the ModelError's code. An agent that the model left out is left out.
    """

    kind = "dispatcher"
    worlds = ("cuisine",)
    settings: ClassVar[tuple[Setting, ...]] = SETTINGS

    def __init__(self, chosen: Mapping[str, Json]) -> None:
        """SettingsError for a model of a provider that there is not."""
        super().__init__(chosen)
        self.options = Options.read(chosen)
        read_model(self.options.model)

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
        after = memory.after(talk.exchange, answer.verdict.faults, adviser.plan)
        return Decision(
            commands=dict(answer.verdict.commands),
            memory=after.within(self.options.memory).to_json(),
            played_by="stand-in" if talk.door.is_stand_in else self.kind,
            note=note_answer(talk, answer, told),
            calls=tuple(talk.calls),
        )

    def _fall_back(self, talk: Talk, memory: Memory, adviser: Adviser, told: list[str]) -> Decision:
        """Nobody answered: the planner commands, or the agents wait."""
        by = self.options.fallback
        waits = dict.fromkeys(talk.moment.team.mine, NOOP)
        commands = adviser.decision.commands if by == "planner" else waits
        after = memory.after(None, [_NO_ANSWER[by]], adviser.plan)
        return Decision(
            commands=commands,
            memory=after.to_json(),
            played_by=by,
            note=note_fallback(talk, by, told),
            calls=tuple(talk.calls),
            fallback=talk.calls[-1].error,
        )


_NO_ANSWER = {
    "planner": Fault("no_answer", "No answer of yours came in time, so somebody else commanded your agents."),
    "noop": Fault("no_answer", "No answer of yours came in time, so your agents did nothing."),
}
