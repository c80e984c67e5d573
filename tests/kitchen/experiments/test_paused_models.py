"""An experiment waits for a model that keeps failing, so that no fallback plays its steps."""

from __future__ import annotations

from typing import Any

import pytest

from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.language_model import LanguageModel, Reply, Request, ServerFailedError, Usage
from kitchen.experiments.episode_rows import EpisodeRow
from kitchen.experiments.experiment_setup import ExperimentSetup, episode_jobs
from kitchen.experiments.log_files import PlayedLog, read_log
from kitchen.experiments.model_waits import MODEL_WAIT_SECONDS, ModelAwayError
from kitchen.experiments.play_episodes import RunningEpisode, play_episode
from kitchen.experiments.setup_checks import check_setup
from kitchen.llm import circuit_breaker, provider_registry
from kitchen.llm.circuit_breaker import (
    FAILURES,
    PAUSE_SECONDS,
    ModelPause,
    PausingModel,
    ProcessValues,
    share_pauses,
)
from kitchen.llm.model_wrappers import ask_and_record
from tests.kitchen.experiments.paid_models import MODEL
from tests.kitchen.llm.conftest import request
from tests.kitchen.llm.fakes import Clock, Scripted

STEPS = 9
SETTINGS = {"model": MODEL, "demonstration": "none", "memory": 1, "ask_unclear": False}


class FailingServer(LanguageModel):
    """A model that fails from call `first` on, as long as the clock shows less than `until`."""

    provider = "anthropic"

    def __init__(self, clock: Clock, first: int, until: float) -> None:
        self.clock, self.first, self.until = clock, first, until
        self.asked = 0

    async def ask(self, request: Request) -> Reply:
        """Return a reply that moves nobody, or fail."""
        self.asked += 1
        if self.asked >= self.first and self.clock.now < self.until:
            raise ServerFailedError("500: down").unbilled()
        return Reply("noop_agent0\nnoop_agent1", model="claude-tested", usage=Usage(900, 30))


class Run:
    """One episode of an experiment, by a clock that only waiting moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, first: int, until: float) -> None:
        self.clock = Clock()
        self.model = FailingServer(self.clock, first, until)
        self.pieces, self.beats, self.slept = bytearray(), 0, list[float]()
        monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
        monkeypatch.setattr(provider_registry, "make_bare_model", lambda *_: self.model)
        monkeypatch.setattr(circuit_breaker, "unix_time", self.clock)
        share_pauses(ProcessValues(self.clock))

    def play(self, before: PlayedLog | None = None, coplayer: str = "dispatcher") -> EpisodeRow:
        """Play the episode from the end of the log `before`, by default with one agent for both seats."""
        levels = {"levels": ("level_3",), "agents": (2,), "alphas": (2.0,), "episodes": 1}
        setup = check_setup(ExperimentSetup("dispatcher", **levels, settings=SETTINGS))  # type: ignore[arg-type]
        (job,) = episode_jobs(setup)
        work: dict[str, Any] = {"after_step": self._beat, "sink": self.pieces.extend}
        column = setup.settings_of(job.column.variant)
        return play_episode(job, coplayer, column, steps=STEPS, before=before, sleep=self._sleep, **work)

    def _beat(self) -> None:
        self.beats += 1

    def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.clock.now += seconds


@pytest.mark.usefixtures("no_waits")
def test_an_experiment_waits_until_the_model_answers_again(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(monkeypatch, first=3, until=100 + 2 * PAUSE_SECONDS)
    row = run.play()
    log = read_log(bytes(run.pieces))
    assert row.steps == STEPS and row.fallback_codes == f"5xx x{FAILURES - 1}"
    assert [each.fallback for each in log.entries[2 + FAILURES - 1 :]] == [""] * (STEPS - FAILURES - 1)
    assert sum(run.slept) == 2 * PAUSE_SECONDS and run.beats == STEPS + len(run.slept)
    assert [(each.step, each.calls[0].error) for each in log.untaken] == [(7, "5xx"), (7, "5xx")]


@pytest.mark.usefixtures("no_waits")
def test_after_a_long_wait_the_experiment_stops_and_can_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(monkeypatch, first=3, until=1e9)
    with pytest.raises(ModelAwayError, match="claude-sonnet-5-5 gave no answer for 600 s"):
        run.play()
    assert sum(run.slept) == MODEL_WAIT_SECONDS
    log = read_log(bytes(run.pieces))
    run.model.until = 0.0
    row = run.play(before=log)
    assert row.steps == STEPS and row.fallbacks == FAILURES - 1


class CallingAgent(Agent):
    """An agent that calls one model for each decision, and waits."""

    def __init__(self, model: LanguageModel) -> None:
        self.called = model

    async def decide(self, situation: Situation) -> Decision:
        """Return the command to wait for each seat that is asked, and the call."""
        call = await ask_and_record(PausingModel(self.called), request(MODEL.partition(":")[2]))
        fallback = "" if call.reply else call.error
        return Decision(dict.fromkeys(situation.seats, ("noop",)), calls=(call,), fallback=fallback)


def team_of(run: Run, monkeypatch: pytest.MonkeyPatch) -> Scripted:
    """Let two agents play: one whose model always answers, and one with the model of this run. Return the
    first one's model."""
    paid = Scripted([Reply("I wait.", usage=Usage(900, 30))] * 99, provider="openai-compatible")
    agents = {0: CallingAgent(paid), 1: CallingAgent(run.model)}
    monkeypatch.setattr(RunningEpisode, "agents", lambda course: agents)
    return paid


def test_while_one_agents_model_is_paused_the_others_are_not_paid_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = Run(monkeypatch, first=3, until=100 + 3 * PAUSE_SECONDS)
    paid = team_of(run, monkeypatch)
    row = run.play(coplayer="planner+planner")
    log = read_log(bytes(run.pieces))
    assert row.steps == STEPS and sum(run.slept) == 3 * PAUSE_SECONDS
    assert len(paid.asked) == STEPS, "once in each step"
    assert [len(each.calls) for each in log.entries] == [2] * STEPS
    assert [[call.provider for call in each.calls] for each in log.untaken] == [["anthropic"]] * 3


def test_what_the_others_were_paid_is_recorded_if_the_experiment_stops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = Run(monkeypatch, first=1, until=1e9)
    paid = team_of(run, monkeypatch)
    with pytest.raises(ModelAwayError):
        run.play(coplayer="planner+planner")
    calls = read_log(bytes(run.pieces)).calls
    assert len([call for call in calls if call.provider == paid.provider]) == len(paid.asked) == FAILURES


@pytest.mark.usefixtures("no_waits")
def test_an_experiment_is_not_decided_again_while_a_trial_call_of_another_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = Run(monkeypatch, first=1, until=0.0)
    pause = ModelPause(MODEL)
    for _ in range(FAILURES):
        pause.fail(trial=False)
    run.clock.now += PAUSE_SECONDS
    assert pause.admit(60), "this is the trial, and it hangs"
    row = run.play()
    log = read_log(bytes(run.pieces))
    assert row.steps == STEPS and row.fallbacks == 0
    assert [each.calls[0].error for each in log.untaken] == ["paused"], "once, and then it waits"
    assert sum(run.slept) >= 60
