"""Let a language model write the policy of a co-player, and revise it after it has played.

In each round the model sees the best policy so far, the policy of the round before, and what both reached.
Its answer plays on the seeds that the model is told about, and on other seeds, by which the best policy is
chosen. So a policy that fits a few seeds is not preferred. A mistake in an answer is told to the model, which
is asked again. The idea is that of Co-pi-tree (arXiv 2606.08596).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import asdict, dataclass, field
from random import Random

from kitchen.agents.call_forecast import CALL_TRIES
from kitchen.agents.skill_agents.skill_text import titled_parts
from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.language_model import (
    Call,
    Message,
    Payer,
    RefusedReplyError,
    Request,
    TooLongReplyError,
    TruncatedReplyError,
    UnreadableReplyError,
    total_cost,
)
from kitchen.contract.world import Json
from kitchen.experiments.policy_evaluation import PolicyResult, PolicyTest
from kitchen.llm.call_costs import MIN_BYTES_PER_TOKEN, PriceList
from kitchen.llm.model_wrappers import ask_and_record
from kitchen.llm.provider_registry import STAND_IN, make_decision_model
from kitchen.llm.providers.stand_in_model import StandIn, StandInAdvice, StandInBehaviour
from kitchen.words.quoted_messages import shorten

MAX_REPAIRS = 2
"""Maximum number of times that the model is asked again for an answer without mistakes, in one round."""
MAX_ANSWER_TOKENS, CALL_SECONDS = 4096, 180.0
MAX_QUOTED = 6000
"""Maximum number of characters of a wrong answer that the model is shown again."""
UNUSABLE = (
    RefusedReplyError.code,
    TooLongReplyError.code,
    TruncatedReplyError.code,
    UnreadableReplyError.code,
)
"""Errors of answers that the model is told about like a mistake, and asked again."""
_FENCED = re.compile(r"```[a-z]*[ \t]*\r?\n(.*?)```", re.DOTALL)
_FORM = "Answer with the whole tree between ``` and ```, and nothing else."
RunAsync = Callable[[Coroutine[None, None, Call]], Call]


@dataclass(frozen=True, slots=True)
class WritingPlan:
    """How policies are written: by which model, and after how many episodes."""

    provider: str
    model: str
    rounds: int
    seeds: int
    """Seeds of each group: those that the model is told about, those that choose, and those of the end."""
    seed: int = 1
    nonsense: float = 0.0
    """The share of senseless answers of the stand-in."""

    def group(self, name: str) -> list[int]:
        """Return the seeds of a group."""
        return [derived_seed(self.seed, "policy", name, number) for number in range(self.seeds)]


@dataclass(slots=True)
class PolicyRound:
    """One round: the policy, what it reached, and the calls that led to it. Round 0 is the beginning."""

    number: int
    policy: str = ""
    shown: PolicyResult | None = None
    """The episodes that the model is told about; None if the round gave no policy."""
    chosen_by: PolicyResult | None = None
    """The episodes by which the best policy is chosen."""
    is_best: bool = False
    calls: list[Call] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    """The mistakes of each answer that could not be used."""

    @property
    def cost(self) -> float | None:
        """Return the US dollars of its calls; None if a price is unknown."""
        return total_cost(call.cost for call in self.calls)

    @property
    def error(self) -> str:
        """Return the code of the error of its last call; empty if the model answered. An answer that was
        cut off, refused or unreadable is an answer."""
        error = self.calls[-1].error if self.calls else ""
        return "" if error in UNUSABLE else error

    def to_json(self) -> dict[str, Json]:
        """Return everything about the round, for a file: prompts and replies in full."""
        return {
            "round": self.number,
            "policy": self.policy,
            "mean_shown": self.shown.mean if self.shown else None,
            "mean_chosen_by": self.chosen_by.mean if self.chosen_by else None,
            "is_best": self.is_best,
            "faults": self.faults,
            "cost": self.cost,
            "calls": [_call_json(call) for call in self.calls],
        }


def _call_json(call: Call) -> dict[str, Json]:
    return {
        "provider": call.provider,
        "model": call.request.model,
        "prompt": [{"role": each.role, "text": each.text} for each in call.request.messages],
        "reply": call.reply.text if call.reply else None,
        "error": call.error,
        "error_text": call.error_text,
        "usage": asdict(call.usage),
        "cost": call.cost,
    }


class PolicyWriter:
    """Writes a policy round by round. `best` is the best one so far.

    `purse` pays for the calls; None if they cost nothing. `run` runs a call to its end. `after_episode` is
    called after each episode.
    """

    def __init__(
        self,
        test: PolicyTest,
        plan: WritingPlan,
        run: RunAsync,
        purse: Payer | None = None,
        after_episode: Callable[[], None] = lambda: None,
    ) -> None:
        self.test, self.plan, self.run, self.purse = test, plan, run, purse
        self.after_episode = after_episode
        self.language = test.language
        self.fixed = f"{self.language.primer(test.levels)}\n\n{_FORM}"
        self.best = self.last = self.first = PolicyRound(0)

    @property
    def episodes(self) -> int:
        """Return the largest number of episodes of a whole run."""
        once = len(self.test.levels) * len(self.test.partners) * 2 * self.plan.seeds
        return once * (2 * (self.plan.rounds + 1) + 2)

    def rounds(self, beginning: str) -> Iterator[PolicyRound]:
        """Yield round 0, which plays the beginning, and then each round of the model. A round without a
        usable answer gives no policy, and the next one follows. A call without any answer, such as one that
        the budget does not cover, ends the rounds; its round is the last."""
        self.first = self.best = self.last = self._played(PolicyRound(0, beginning))
        self.first.is_best = True
        yield self.first
        for number in range(1, self.plan.rounds + 1):
            made = self._written(PolicyRound(number))
            if made.policy:
                self.last = self._played(made)
                if _mean(made) > _mean(self.best):
                    self.best, made.is_best = made, True
            yield made
            if made.error:
                return

    def measured_at_end(self) -> tuple[float, float]:
        """Return the means of the best policy and of the beginning, on seeds that chose nothing."""
        seeds = self.plan.group("end")
        best = self.test.play(self.best.policy, seeds, self.after_episode).mean
        if self.best is self.first:
            return best, best
        return best, self.test.play(self.first.policy, seeds, self.after_episode).mean

    def _played(self, made: PolicyRound) -> PolicyRound:
        made.shown = self.test.play(made.policy, self.plan.group("shown"), self.after_episode)
        made.chosen_by = self.test.play(made.policy, self.plan.group("choice"), self.after_episode)
        return made

    def _written(self, made: PolicyRound) -> PolicyRound:
        """Ask the model for a policy until there is one without mistakes, at most 1 + MAX_REPAIRS times."""
        messages = self.first_messages()
        for attempt in range(1 + MAX_REPAIRS):
            call = self.run(self._ask(messages, made.number, attempt))
            made.calls.append(call)
            if call.reply is None and call.error not in UNUSABLE:
                return made
            if call.reply is None:
                made.faults.append(call.error_text)
                messages = [*messages[:2], _unusable(call)]
                continue
            policy = policy_in_reply(call.reply.text)
            try:
                self.language.check(policy)
            except ValueError as error:
                made.faults.append(str(error))
                messages = [*messages[:2], *_correction(call.reply.text, str(error))]
            else:
                made.policy = policy
                return made
        return made

    def first_messages(self) -> list[Message]:
        """Return the messages of the next round's first call."""
        parts = [("The best tree so far", self._told(self.best))]
        if self.last is not self.best:
            parts.append(("The tree of the last round, which was not better", self._told(self.last)))
        asked = (
            "Revise the best tree so that it reaches more points, beside these partners and in both seats."
        )
        parts.append(("Now", [asked, _FORM]))
        return [Message("system", self.fixed, fixed=True), Message("user", titled_parts(parts))]

    def _told(self, made: PolicyRound) -> list[str]:
        assert made.shown  # noqa: S101 - only rounds that played are told
        return [
            "```",
            *made.policy.splitlines(),
            "```",
            *self.test.result_text(made.policy, made.shown).splitlines(),
        ]

    async def _ask(self, messages: list[Message], number: int, attempt: int) -> Call:
        seed = derived_seed(self.plan.seed, "policy", number, attempt)
        model = make_decision_model(
            self.plan.provider,
            rng=Random(seed),  # noqa: S311
            purse=self.purse,
            stand_in=lambda: self._stand_in(seed),
        )
        return await ask_and_record(model, self.request(messages))

    def request(self, messages: list[Message]) -> Request:
        """Return the request of a call with these messages."""
        return Request(self.plan.model, messages, max_tokens=MAX_ANSWER_TOKENS, seconds=CALL_SECONDS)

    def _stand_in(self, seed: int) -> StandIn:
        """Return the stand-in of a call, which varies the best policy at random."""
        policy = self.language.vary(self.best.policy, Random(seed))  # noqa: S311
        return StandIn(
            lambda: StandInAdvice({0: (f"```\n{policy}```",)}),
            StandInBehaviour(nonsense_rate=self.plan.nonsense),
            seed,
            writer=lambda commands, rng: commands[0][1][0],
        )

    def worst_cost(self, prices: PriceList) -> float:
        """Return the largest cost of all calls in US dollars, with every attempt of a call that fails. The
        prompt has the present tree, two trees of the largest size, and a wrong answer. Raises
        UnknownPriceError if there is no price."""
        if self.plan.provider == STAND_IN:
            return 0.0
        written = "x" * round(MAX_ANSWER_TOKENS * MIN_BYTES_PER_TOKEN)
        told = Message("user", 2 * written)  # a tree, and what its lines did
        longest = [*self.first_messages(), told, told, *_correction(written, "")]
        calls = self.plan.rounds * (1 + MAX_REPAIRS) * CALL_TRIES
        return calls * prices.worst(self.plan.provider, self.request(longest))


def _mean(made: PolicyRound) -> float:
    return made.chosen_by.mean if made.chosen_by else float("-inf")


def _correction(reply: str, fault: str) -> list[Message]:
    asked = f"This tree cannot be used: {fault}.\nSend the whole tree again. {_FORM}"
    return [Message("assistant", shorten(reply, MAX_QUOTED)), Message("user", asked)]


def _unusable(call: Call) -> Message:
    """Return the message that follows the first ones after an answer that could not be read."""
    return Message("user", f"Your last answer could not be used: {call.error_text}.\n{_FORM}")


def policy_in_reply(reply: str) -> str:
    """Return the policy in a model's reply: its last text between ``` and ```, else the whole reply. It ends
    with a line break."""
    fenced = _FENCED.findall(reply)
    return (fenced[-1] if fenced else reply).strip("\r\n") + "\n"
