"""Play an episode of an experiment whose model calls are answered in batches.

A step is decided with the answers that are already there. At the first call without an answer, the decision
is given up, and the call is listed in `wanted`. Once it is answered, the step is decided again. Agents decide
the same each time, as in replays (`verify_replay`), so no answer is lost.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from kitchen.agents.agent_team import AskedMember
from kitchen.agents.episode_loop import ask_member
from kitchen.contract.agent import NO_ONE, Agent, Decision, DecisionLimits, Situation
from kitchen.contract.canonical_json import canonical_json
from kitchen.contract.language_model import Call, RecordedAnswers, Request
from kitchen.contract.organisation import Member
from kitchen.contract.world import Json
from kitchen.experiments.episode_rows import EpisodeRow
from kitchen.experiments.experiment_setup import EpisodeJob
from kitchen.experiments.log_files import LogRecorder, PlayedLog, WritePiece
from kitchen.experiments.model_waits import do_nothing
from kitchen.experiments.play_episodes import (
    DECISION_SECONDS,
    EpisodeFailedError,
    RunningEpisode,
    episode_row,
    log_head,
    take_and_log_step,
    unforeseen,
)
from kitchen.llm.recorded_calls import request_texts

NAME_CHARACTERS = 40
"""Length of the name of a call in its batch."""


@dataclass(frozen=True, slots=True)
class WantedCall:
    """A call that an episode needs in a step. `name` is the same each time the step is decided."""

    name: str
    step: int
    provider: str
    request: Request

    @property
    def model_name(self) -> str:
        """Return the model as `provider:model`."""
        return f"{self.provider}:{self.request.model}"


class CallWantedError(BaseException):
    """Raised at a call that has no answer yet. Agents catch errors of models, and must not catch this one."""


class StepAnswers(RecordedAnswers):
    """The answers for one member in one step. Calls without an answer are added to `wanted`."""

    def __init__(
        self, place: str, step: int, answers: Mapping[str, Call], wanted: dict[str, WantedCall]
    ) -> None:
        """`place` names the member and its episode."""
        self.place, self.step, self.answers, self.wanted = place, step, answers, wanted
        self._asked: Counter[str] = Counter()

    def answer(self, provider: str, request: Request) -> Call:
        """Return the answered call. Raises CallWantedError if there is none yet."""
        name = self._name(provider, request)
        if name in self.answers:
            return self.answers[name]
        self.wanted[name] = WantedCall(name, self.step, provider, request)
        raise CallWantedError

    def sent_tool(self) -> bool | None:
        """Return None: the agent itself chooses the form of its calls."""
        return None

    def _name(self, provider: str, request: Request) -> str:
        """Return the name of a call. Equal calls of a decision are numbered."""
        bare: Json = asdict(replace(request, messages=(), tool=None, seconds=0.0))
        told = canonical_json([self.place, self.step, provider, request_texts(request), bare])
        self._asked[told] += 1
        return hashlib.sha256(f"{told} {self._asked[told]}".encode("utf-8", "surrogatepass")).hexdigest()[
            :NAME_CHARACTERS
        ]


class BatchedEpisode:
    """An episode in progress. `answers` holds the answered calls of its open step, by name. `wanted` holds
    those that it waits for."""

    def __init__(
        self,
        name: str,
        job: EpisodeJob,
        coplayer: str,
        settings: Mapping[str, Json],
        *,
        sink: WritePiece,
        before: PlayedLog | None = None,
        program: str = "",
        after_step: Callable[[], Any] = do_nothing,
    ) -> None:
        """`name` is part of the names of its calls. `after_step` is called after each step. The other
        arguments are those of `play_episode`. Raises LogError if `before` belongs to another episode, and
        EpisodeFailedError if an agent cannot be made."""
        self.name, self.after_step = name, after_step
        self.answers: dict[str, Call] = {}
        self.wanted: dict[str, WantedCall] = {}
        self._course = RunningEpisode(log_head(job, coplayer, settings, program=program))
        if before is not None:
            self._course.catch_up(before)
        self._recorder = LogRecorder(self._course.head, sink, before)
        with unforeseen():
            self._agents = self._course.agents()

    @property
    def step(self) -> int:
        """Return the number of the open step."""
        return self._course.game.clock + 1

    def play_on(self) -> EpisodeRow | None:
        """Play until a call has no answer, and return None. At the end of the episode, return its result row.
        Raises EpisodeFailedError if the co-player or the world fails."""
        try:
            while not self._course.is_over:
                asked = self._ask()
                if self.wanted:
                    return None
                self._take(asked)
                self.after_step()
        finally:
            self._recorder.close()
        return episode_row(self._course, self._recorder.log)

    def _ask(self) -> list[AskedMember]:
        """Return the decisions of the open step. They are of use only if no call is wanted."""
        self.wanted, step = {}, self.step

        def answers(member: int) -> RecordedAnswers:
            return StepAnswers(f"{self.name}/{member}", step, self.answers, self.wanted)

        limits = DecisionLimits(DECISION_SECONDS)
        try:
            with unforeseen():
                return asyncio.run(self._course.ask(self._agents, answers, limits, self._ask_member))
        except CallWantedError:
            return []

    async def _ask_member(self, member: Member, agent: Agent, situation: Situation) -> AskedMember:
        """Return a member's decision. If it waits for a call, and others do not depend on it, return an
        empty decision: the calls of the others are then sent in the same batch."""
        try:
            return await ask_member(member, agent, situation)
        except CallWantedError:
            if not self._decide_apart:
                raise
            return AskedMember(member, situation, Decision({}), 0.0)

    @property
    def _decide_apart(self) -> bool:
        """Return whether the members of the team decide without knowing what others do in the step."""
        team = self._course.team
        talks = team.organisation is not None and team.organisation.talks_within
        return team.knowing == NO_ONE and not talks

    def _take(self, asked: list[AskedMember]) -> None:
        with unforeseen():
            entry = take_and_log_step(self._course, self._course.step_of(asked))
        try:
            self._recorder.add(entry)
        except (TypeError, ValueError) as error:  # the co-player's note or memory is not JSON
            raise EpisodeFailedError.by(error) from error
        self.answers.clear()
