"""Define the interface of language models: requests, replies, errors and costs. Plain Python, no Django.

Errors: every end without an answer is one of these, so that it can be logged and a stated fallback steps in::

    ModelError                code       may be tried again
    ├── CallTimeoutError      timeout    no
    ├── ConnectionLostError   connection yes
    ├── RateLimitedError      429        yes, not before `retry_after`
    ├── OverloadedError       529        yes
    ├── ServerFailedError     5xx        yes
    ├── RejectedError         4xx        no: the key, the model's name or the request is wrong
    ├── NotAskedError         not_asked  no: without a key, or with settings that the model does not take
    ├── UnreadableReplyError  unreadable no: the answer is not what the API promises, was cut off, or is empty
    ├── BudgetSpentError      budget     no: the study's money is spent
    └── UnpricedError         unpriced   no: nobody knows what the call costs, and the study has a budget
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol, Self

from kitchen.contract.world import Json

MAX_TOKENS_LIMIT = 2**31 - 1
"""A server that counts more is not believed."""

Role = Literal["system", "user", "assistant"]

Effort = Literal["low", "medium", "high", "xhigh", "max"]


class ModelError(Exception):
    """A call that ended without an answer. `code` is for the log, the message, in one line, for people."""

    code: ClassVar[str] = "error"
    again: ClassVar[bool] = False
    retry_after: float | None = None
    """Seconds that the server asked to wait, if it did."""
    usage: Usage | None = None
    """What the server counted all the same; None where that is not known (the call may have been billed)."""
    raw: str = ""
    """What came from the server, where it is no answer to the question."""
    cost: float | None = 0.0
    """US dollars booked for the call; None where its price is not known."""
    attempts: tuple[Attempt, ...] = ()
    """Every try that was made."""
    request_id: str = ""
    """As in `Reply`."""
    parameters: Mapping[str, Json] | None = None
    """As in `Reply`; None where nothing was sent."""

    def unbilled(self) -> Self:
        """Itself, of a call that is known to have cost nothing."""
        self.usage = Usage()
        return self


class CallTimeoutError(ModelError):
    """No answer in time."""

    code = "timeout"


class ConnectionLostError(ModelError):
    """The server was not reached, or the connection broke."""

    code = "connection"
    again = True


class RateLimitedError(ModelError):
    """Too many calls (429)."""

    code = "429"
    again = True


class OverloadedError(ModelError):
    """The server is overloaded (529)."""

    code = "529"
    again = True


class ServerFailedError(ModelError):
    """The server failed (500 to 599, apart from 529)."""

    code = "5xx"
    again = True


class RejectedError(ModelError):
    """The server will not take this call: key, model or request (400 to 499, apart from 429)."""

    code = "4xx"


class NotAskedError(ModelError):
    """No key or address is there, or the model does not take such a request: the call was not made."""

    code = "not_asked"


class UnreadableReplyError(ModelError):
    """An answer that cannot be used: malformed, cut off in mid-answer, or empty."""

    code = "unreadable"


class BudgetSpentError(ModelError):
    """The study's budget does not cover this call: it was not made."""

    code = "budget"


class UnpricedError(ModelError):
    """The study has a budget and no price is known for this call: it was not made."""

    code = "unpriced"


def error_codes() -> dict[str, str]:
    """Every code of a call without an answer, with what it means."""
    kinds = ModelError.__subclasses__()
    return {kind.code: str(kind.__doc__).rstrip(".") for kind in kinds} | {ModelError.code: "anything else"}


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation. `fixed` marks the end of the part that is the same at every step of an
    episode, which a provider may have cached."""

    role: Role
    text: str
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """A structured answer that the model is made to give: a JSON schema of one object."""

    name: str
    description: str
    schema: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model."""

    model: str
    """As the provider names it, without the provider."""
    messages: Sequence[Message]
    temperature: float | None = None
    """None: the provider's default (some models take none)."""
    max_tokens: int = 1024
    tool: Tool | None = None
    """If set, the answer should be a call of this tool. A server that ignores that answers in words."""
    seconds: float = 30.0
    """Time for the whole call, all attempts and waits included."""
    effort: Effort | None = None
    """How much the model is to think before it answers; None: as little as it can be made to. What it thinks
    counts towards `max_tokens`."""
    top_p: float | None = None
    """Of how much of the likeliest words it draws, above 0 up to 1; None: the provider's default."""
    seed: int | None = None
    """The same seed is to give the same answer, as far as a provider keeps to it; None: none is sent."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, as the API counted them. `input` excludes the cached ones."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def is_believable(self) -> bool:
        """Whether a server can have counted this."""
        return max(self.input, self.output, self.cache_read, self.cache_write) <= MAX_TOKENS_LIMIT


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try within a call: how it ended (`ok` or a ModelError's code), how long it took and what was waited
    after it, in seconds. `began` and `ended` are the clock's time, UTC, in ISO 8601 with milliseconds."""

    outcome: str
    seconds: float
    waited: float = 0.0
    detail: str = ""
    cost: float | None = 0.0
    """US dollars booked for it."""
    began: str = ""
    ended: str = ""
    allowed: float | None = None
    """Seconds that it had."""
    request_id: str = ""
    """As in `Reply`."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: `text`, and `call` (the tool's arguments) if a tool was asked for and called. `text` alone
    is an answer too."""

    text: str
    call: Mapping[str, Json] | None = None
    model: str = ""
    """Model and version as the API named it."""
    stop: str = ""
    """Why the model stopped, as the API named it."""
    usage: Usage = field(default_factory=Usage)
    attempts: tuple[Attempt, ...] = ()
    seconds: float = 0.0
    """Wall time of the whole call."""
    cost: float | None = 0.0
    """US dollars booked for the whole call; None where its price is not known."""
    reasoning: str = ""
    """What the model thought before it answered, as far as the API gives it; no part of `text`."""
    request_id: str = ""
    """By which whoever runs the server finds the request; empty where it named none."""
    parameters: Mapping[str, Json] = field(default_factory=dict)
    """Everything that was sent beside the texts of messages and tool, as the API calls it."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call as it goes into the log with its decision: what was asked and how it ended."""

    provider: str
    request: Request
    reply: Reply | None = None
    error: str = ""
    """A ModelError's code where there is no reply."""
    error_text: str = ""
    raw: str = ""
    """What came from the server where there is no reply."""
    usage: Usage = field(default_factory=Usage)
    """What the server counted, for an answer that could not be used too; nothing where it told nothing."""
    attempts: tuple[Attempt, ...] = ()
    seconds: float = 0.0
    cost: float | None = 0.0
    """Money, in US dollars, by the price list, for all attempts; 0 for models that cost nothing, None where
    the price is not known."""
    parameters: Mapping[str, Json] = field(default_factory=dict)
    """As in `Reply`; nothing where nothing was sent."""


@dataclass(frozen=True, slots=True)
class OfferedModel:
    """One model that a server offers, as it says itself; what it does not say is empty."""

    name: str
    status: str = ""
    """`active`, `deprecated` or `retired`."""
    thinking: tuple[str, ...] = ()
    """Ways of thinking that it takes, as its API calls them."""
    efforts: tuple[str, ...] = ()
    reads: int | None = None
    """Tokens of the longest prompt."""
    writes: int | None = None
    """Tokens of the longest answer."""


class Payer(Protocol):
    """Who pays. Safe to use from several workers at once."""

    def reserve(self, amount: float) -> None:
        """Set money aside for one call; BudgetSpentError if it does not suffice."""

    def settle(self, reserved: float, spent: float) -> None:
        """Give back what was set aside and book what was spent."""


class RecordedAnswers(Protocol):
    """Calls that were made before, in their order: their answers are given again, and no model is asked."""

    def answer(self, provider: str, request: Request) -> Call:
        """The call in whose place this request stands now; ModelError where none is left."""


class LanguageModel(ABC):
    """A provider's models."""

    provider: str
    """The name in the registry; a wrapper's is that of the model within."""

    @abstractmethod
    def ask(self, request: Request) -> Reply:
        """One answer within `request.seconds`, returned when it is there; ModelError if there is none. It
        waits by `machine.waiting` and in no other way: others wait in the same thread. Safe in threads."""


def total_cost(costs: Iterable[float | None]) -> float | None:
    """The sum of money booked; None as soon as one part is not known."""
    known = list(costs)
    return None if None in known else sum(cost or 0.0 for cost in known)
