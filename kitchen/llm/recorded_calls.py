"""Record the requests to a language model, and replay recorded answers instead of making new calls.

`request_texts` returns a request's texts as (role, text) pairs. `ReplayedModel` is a model that returns
recorded replies and failures in order, at no cost.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from kitchen.contract.language_model import (
    Call,
    LanguageModel,
    ModelError,
    NotAskedError,
    RecordedAnswers,
    Reply,
    Request,
    Tool,
)

OTHER_PROMPT = "something else was asked"
OTHER_NUMBER = "another number of calls was made"


class RecordedCalls:
    """The recorded calls of one decision. `faults` collects differences between the new requests and the
    recorded ones. The function `same` compares two requests."""

    def __init__(self, calls: Sequence[Call], same: Callable[[Request, Request], bool]) -> None:
        self.calls, self.same, self.given = list(calls), same, 0
        self.faults: list[str] = []

    def answer(self, provider: str, request: Request) -> Call:
        """Return the next recorded call. If its request differs from `request`, the difference is added to
        `faults`. Raises NotAskedError if there is no recorded call left."""
        if self.given == len(self.calls):
            self.faults.append(OTHER_NUMBER)
            raise NotAskedError("no more answers are stored")
        call = self.calls[self.given]
        self.given += 1
        if call.provider != provider or not self.same(call.request, request):
            self.faults.append(OTHER_PROMPT)
        return call

    def sent_tool(self) -> bool | None:
        """Return whether a tool was sent with the first recorded request; None if there is no request."""
        return self.calls[0].request.tool is not None if self.calls else None

    def differences(self) -> Iterator[str]:
        """Yield each difference between the new and the recorded requests, without repetitions. Call this
        after the decision."""
        yield from dict.fromkeys(self.faults)
        if self.given < len(self.calls):
            yield OTHER_NUMBER


TOOL_ROLE = "tool"
"""The role of the tool's description and schema, which follow the messages."""


def request_texts(request: Request) -> list[tuple[str, str]]:
    """Return (role, text) pairs for the messages in order, and one for the tool if there is one."""
    said = [(message.role, message.text) for message in request.messages]
    return [*said, (TOOL_ROLE, tool_to_text(request.tool))] if request.tool else list(said)


def tool_to_text(tool: Tool) -> str:
    """Return the tool as JSON text; `tool_from_text` restores an equal one."""
    described = {"name": tool.name, "description": tool.description, "schema": dict(tool.schema)}
    return json.dumps(described, ensure_ascii=False)


def tool_from_text(text: str) -> Tool:
    """Restore a tool from the output of `tool_to_text`."""
    return Tool(**json.loads(text))


FAILURE_KINDS: dict[str, type[ModelError]] = {kind.code: kind for kind in ModelError.__subclasses__()}


class ReplayedModel(LanguageModel):
    """A model that returns the recorded answers of one decision and calls nothing."""

    is_recorded = True

    def __init__(self, provider: str, answers: RecordedAnswers) -> None:
        self.provider, self.answers = provider, answers

    async def ask(self, request: Request) -> Reply:
        """Return the next recorded reply. Raises the recorded ModelError if that call failed, and
        NotAskedError if no call is left."""
        call = self.answers.answer(self.provider, request)
        if call.reply is not None:
            return call.reply
        raise recorded_failure(call)


def recorded_failure(call: Call) -> ModelError:
    """Return the ModelError with which a recorded call ended; use it for a call without a reply."""
    failure = FAILURE_KINDS.get(call.error, ModelError)(call.error_text)
    failure.usage, failure.raw = call.usage, call.raw
    failure.cost, failure.attempts, failure.parameters = call.cost, call.attempts, call.parameters
    return failure
