"""A model's place taken by what was answered before: the same replies and failures, at once, for nothing."""

from __future__ import annotations

from kitchen.contract.model import Answers, Call, LanguageModel, ModelError, Reply, Request

KINDS: dict[str, type[ModelError]] = {kind.code: kind for kind in ModelError.__subclasses__()}


class Replayed(LanguageModel):
    """Gives stored answers again, for one decision."""

    def __init__(self, provider: str, answers: Answers) -> None:
        self.provider, self.answers = provider, answers

    def ask(self, request: Request) -> Reply:
        """The stored reply; the stored ModelError where there was none, and where nothing is stored."""
        call = self.answers.answer(self.provider, request)
        if call.reply is not None:
            return call.reply
        raise failure_of(call)


def failure_of(call: Call) -> ModelError:
    """How a call without a reply ended."""
    failure = KINDS.get(call.error, ModelError)(call.error_text)
    failure.usage, failure.raw = call.usage, call.raw
    failure.cost, failure.attempts, failure.parameters = call.cost, call.attempts, call.parameters
    return failure
