"""All four rows of Table 7 are played; without feedback a stand-in that errs serves less.

THIS IS HOW THE STAND-IN IS BUILT AND NO FINDING: it repeats a refused command unless feedback speaks of it
(`kitchen.llm.providers.stand_in_model`). What is shown is that the switch reaches the prompt, and that what
the prompt says reaches the score; nothing can be learnt from the size of the difference.
"""

from __future__ import annotations

from typing import Any

import pytest

from kitchen.contract.language_model import Reply, Request
from kitchen.experiments.episode_rows import EpisodeRow
from kitchen.experiments.experiment_setup import episode_jobs
from kitchen.experiments.play_episodes import play_episode
from kitchen.experiments.setup_arguments import read_setup
from kitchen.llm.providers.stand_in_model import StandIn

GIVEN: dict[str, Any] = dict.fromkeys(("co_player", "demo", "no_feedback", "no_hints"))
GIVEN |= {"preset": "table7", "model": "stand-in", "levels": "3", "agents": "2", "alphas": "1.0"}
GIVEN |= {"episodes": "3", "seed": "1"}
ERRING = {**GIVEN, "set": ["stand_in_errors=0.3"]}


ANSWER = StandIn.ask

EPISODES = {"full": 2, "few_step_demo": 1, "no_inference_knowledge": 1, "no_feedback": 2}
"""The number of episodes of each row of Table 7."""

Heard = dict[str, tuple[list[EpisodeRow], list[Request]]]


@pytest.fixture(scope="module")
def heard() -> Heard:
    """The episodes of each row of Table 7 and all that the stand-in was asked in them."""
    found = Heard()
    for variant, episodes in EPISODES.items():
        with pytest.MonkeyPatch.context() as patch:
            requests = listening(patch)
            found[variant] = (played(variant, episodes), requests)
    return found


def played(variant: str, episodes: int) -> list[EpisodeRow]:
    """Episodes of one row of Table 7, the same seeds for every variant."""
    setup = read_setup({**ERRING, "episodes": str(episodes)})
    jobs = [job for job in episode_jobs(setup) if job.column.variant.name == variant]
    return [play_episode(job, setup.coplayer, setup.settings_of(job.column.variant)) for job in jobs]


def test_each_of_the_four_is_played_to_its_end_with_its_own_prompt(heard: Heard) -> None:
    """What each switch takes out is out in every step, and nothing else is."""
    fixed, asked = dict[str, set[str]](), dict[str, list[str]]()
    for variant, (rows, requests) in heard.items():
        row, requests = rows[0], requests[:60]
        assert (row.steps, row.played_by, row.calls) == (60, "stand-in x60", 60)
        fixed[variant] = {request.messages[0].text for request in requests}
        asked[variant] = [request.messages[-1].text for request in requests]
    assert {len(texts) for texts in fixed.values()} == {1}
    (full,), (few,), (no_hints,), (uninformed,) = (parts(texts) for texts in fixed.values())
    assert {"Demonstration", "Good to know"} <= full.keys()
    assert changed(full, few) == {"Demonstration"}
    assert 0 < len(few["Demonstration"]) < len(full["Demonstration"])
    assert changed(full, no_hints) == {"Good to know"} and "Good to know" not in no_hints
    assert changed(full, uninformed) == {"Instructions"}
    informed = {
        name: sum("Feedback on the last step" in text for text in texts) for name, texts in asked.items()
    }
    assert informed.pop("no_feedback") == 0
    assert min(informed.values()) > 5


def listening(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """Every request that the stand-in gets from now on."""
    found: list[Request] = []

    async def ask(self: StandIn, request: Request) -> Reply:
        found.append(request)
        return await ANSWER(self, request)

    monkeypatch.setattr(StandIn, "ask", ask)
    return found


def parts(texts: set[str]) -> list[dict[str, str]]:
    """The parts of each prompt by their titles."""
    cut = [text.removeprefix("# ").split("\n\n# ") for text in texts]
    return [dict(part.split("\n", 1) for part in found) for found in cut]


def changed(one: dict[str, str], other: dict[str, str]) -> set[str]:
    """The parts in which two prompts differ."""
    return {title for title in one.keys() | other.keys() if one.get(title) != other.get(title)}


def test_without_feedback_an_erring_stand_in_serves_fewer_orders(heard: Heard) -> None:
    informed, uninformed = heard["full"][0], heard["no_feedback"][0]
    assert [row.seed for row in informed] == [row.seed for row in uninformed]
    assert {row.played_by for row in (*informed, *uninformed)} == {"stand-in x60"}
    assert sum(row.completed for row in uninformed) < sum(row.completed for row in informed)
