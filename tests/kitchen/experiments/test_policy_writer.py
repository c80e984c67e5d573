"""A model writes policies in rounds: which is kept, what it is told, mistakes, and money."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import ClassVar

import pytest

from kitchen.agents.call_forecast import CALL_TRIES
from kitchen.contract.episode_log import EpisodeLog
from kitchen.contract.language_model import ModelError, RefusedReplyError, Reply, TruncatedReplyError, Usage
from kitchen.contract.policy_language import PolicyLanguage
from kitchen.contract.world import Json
from kitchen.experiments.policy_evaluation import PlayedPolicy, PolicyResult, PolicyTest
from kitchen.experiments.policy_writer import (
    MAX_REPAIRS,
    PolicyRound,
    PolicyWriter,
    WritingPlan,
    policy_in_reply,
)
from kitchen.llm import provider_registry
from kitchen.llm.call_costs import load_prices
from kitchen.llm.in_memory_purse import InMemoryPurse
from tests.kitchen.llm.fakes import Scripted

CLAUDE = WritingPlan("anthropic", "claude-sonnet-5-5", rounds=3, seeds=2)


class Letters(PolicyLanguage):
    """Policies whose lines are single letters."""

    agent: ClassVar[str] = "letters"
    setting: ClassVar[str] = "text"
    beginning = "a\n"

    def primer(self, levels: Sequence[str]) -> str:
        return "Write letters."

    def check(self, policy: str) -> None:
        for number, line in enumerate(policy.splitlines(), 1):
            if len(line) > 1:
                raise ValueError(f"line {number}: {line!r} is no letter")

    def vary(self, policy: str, chance: Random) -> str:
        return policy + chance.choice("abcdefgh") + "\n"

    def decisions(self, log: EpisodeLog, seat: int) -> Mapping[int, int]:
        return {}

    def result_text(self, scores: Sequence[Mapping[str, Json]], seat: int) -> str:
        return f"{scores[0]['letters']} letters"


class LetterTest(PolicyTest):
    """A test without a game. A policy gets a point for each different letter. On the seeds of which the model
    is told, `x` is worth ten."""

    @property
    def language(self) -> PolicyLanguage:
        return Letters()

    def play(
        self, policy: str, seeds: Sequence[int], after_episode: Callable[[], None] = lambda: None
    ) -> PolicyResult:
        letters = set(policy) - {"\n"}
        is_told = list(seeds) == CLAUDE.group("shown")
        points = float(len(letters) + 9 * (is_told and "x" in letters))
        return PolicyResult((PlayedPolicy("plain", "nobody", 0, {"letters": len(letters)}, points, {1: 3}),))


TEST = LetterTest("overcooked", ("plain",), ("nobody",), 10)


def fenced(policy: str) -> Reply:
    return Reply(f"Here it is:\n```\n{policy}\n```", usage=Usage(1000, 100))


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Scripted]:
    """A paid model that gives these answers."""

    def made(*replies: Reply | ModelError) -> Scripted:
        model = Scripted(replies)
        monkeypatch.setattr(provider_registry, "make_bare_model", lambda *_: model)
        return model

    return made


def written(plan: WritingPlan, purse: InMemoryPurse | None = None) -> tuple[PolicyWriter, list[PolicyRound]]:
    """The writer after all rounds, and the rounds."""
    with asyncio.Runner() as loop:
        writer = PolicyWriter(TEST, plan, loop.run, purse)
        return writer, list(writer.rounds("a\n"))


def test_the_stand_in_improves_a_policy_by_chance() -> None:
    writer, rounds = written(WritingPlan("stand-in", "stand-in-1", rounds=8, seeds=2))
    assert len(rounds) == 9
    assert writer.measured_at_end()[0] >= 4 > writer.measured_at_end()[1]
    assert rounds[0].is_best
    assert all(each.cost == 0 for each in rounds)


def test_the_same_seed_writes_the_same_policies() -> None:
    plan = WritingPlan("stand-in", "stand-in-1", rounds=4, seeds=1)
    assert [each.policy for each in written(plan)[1]] == [each.policy for each in written(plan)[1]]


def test_a_policy_that_fits_only_the_seeds_it_was_told_about_is_not_kept(
    answers: Callable[..., Scripted],
) -> None:
    answers(fenced("x"), fenced("a\nb"), fenced("x\na"))
    writer, rounds = written(CLAUDE)
    assert [each.is_best for each in rounds] == [True, False, True, False]
    assert writer.best.policy == "a\nb\n"
    assert rounds[3].shown
    assert rounds[3].shown.mean == 11


def test_the_model_is_told_the_best_policy_and_what_the_last_one_reached(
    answers: Callable[..., Scripted],
) -> None:
    model = answers(fenced("x"), fenced("a\nb"), fenced("c"))
    written(CLAUDE)
    system, told = (message.text for message in model.asked[1].messages)
    assert system.startswith("Write letters.")
    assert told.index("# The best tree so far\n```\na\n```\nplain, seat 0 beside nobody: 1 letters\n") >= 0
    assert "which was not better\n```\nx\n```" in told
    assert "100% by line 1: x" in told


def test_a_mistake_is_told_and_asked_again_at_most_twice(answers: Callable[..., Scripted]) -> None:
    model = answers(fenced("ab"), fenced("a\nb"), *[fenced("no")] * 3, fenced("c"))
    _, rounds = written(CLAUDE)
    assert model.asked[1].messages[-1].text.startswith("This tree cannot be used: line 1: 'ab' is no letter.")
    assert [(len(each.calls), each.policy) for each in rounds[1:]] == [(2, "a\nb\n"), (3, ""), (1, "c\n")]
    assert rounds[2].faults == ["line 1: 'no' is no letter"] * 3


def test_an_answer_that_was_cut_off_or_refused_is_told_and_asked_again(
    answers: Callable[..., Scripted],
) -> None:
    cut, refused = TruncatedReplyError("no text in the answer"), RefusedReplyError("the model refused")
    model = answers(cut, fenced("a\nb"), *[refused] * 3, fenced("c"))
    _, rounds = written(CLAUDE)
    assert "Your last answer could not be used: no text in the answer." in model.asked[1].messages[-1].text
    assert [(len(each.calls), each.policy) for each in rounds[1:]] == [(2, "a\nb\n"), (3, ""), (1, "c\n")]
    assert rounds[2].faults == ["the model refused"] * 3 and not rounds[2].error


def test_at_worst_every_call_fails_and_tells_two_long_trees(answers: Callable[..., Scripted]) -> None:
    model = answers(fenced("a\nb"), *[fenced("x" * 4000)] * 3, fenced("c"))
    writer, _ = written(CLAUDE)
    prices = load_prices()
    longest = max(prices.worst("anthropic", request) for request in model.asked)
    assert writer.worst_cost(prices) > 3 * (1 + MAX_REPAIRS) * CALL_TRIES * longest


def test_writing_ends_before_a_call_that_the_budget_does_not_cover(answers: Callable[..., Scripted]) -> None:
    model = answers(fenced("a\nb"), fenced("c"), fenced("d"))
    writer, rounds = written(CLAUDE, InMemoryPurse(0.01))
    assert (len(rounds), len(model.asked)) == (2, 0)
    writer, rounds = written(CLAUDE, purse := InMemoryPurse(1.0))
    assert purse.spent == pytest.approx(sum(each.cost or 0 for each in rounds))
    assert writer.worst_cost(load_prices()) > purse.spent > 0


def test_a_policy_is_the_last_text_in_fences_or_the_whole_reply() -> None:
    assert policy_in_reply("Old:\n```\na\n```\nNew:\n```text\nb\n  c\n```\nGood luck.") == "b\n  c\n"
    assert policy_in_reply("\nput\nfill") == "put\nfill\n"
