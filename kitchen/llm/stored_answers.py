"""Calls that were made before, given again in their order where somebody decides once more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kitchen.contract.model import Call, NotAskedError, Request

OTHER_PROMPT = "something else was asked"
OTHER_NUMBER = "another number of calls was made"


class StoredAnswers:
    """The calls of one decision; `faults` has what was asked otherwise than then, by what is the `same`."""

    def __init__(self, calls: Sequence[Call], same: Callable[[Request, Request], bool]) -> None:
        self.calls, self.same, self.given = list(calls), same, 0
        self.faults: list[str] = []

    def answer(self, provider: str, request: Request) -> Call:
        """The next one; NotAskedError where there are no more."""
        if self.given == len(self.calls):
            self.faults.append(OTHER_NUMBER)
            raise NotAskedError("no more answers are stored")
        call = self.calls[self.given]
        self.given += 1
        if call.provider != provider or not self.same(call.request, request):
            self.faults.append(OTHER_PROMPT)
        return call

    def differences(self) -> Iterator[str]:
        """What was otherwise than then, once each, when the decision is there."""
        yield from dict.fromkeys(self.faults)
        if self.given < len(self.calls):
            yield OTHER_NUMBER
