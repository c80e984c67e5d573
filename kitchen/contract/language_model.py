"""Define the interface of language models: requests, replies, errors and costs.

A call that returns no answer raises one of the errors below. The error is logged, and the agent's fallback
rule decides instead. The last column shows whether the call may be repeated::

    ModelError                code       may be tried again
    ├── CallTimeoutError      timeout    no
    ├── ConnectionLostError   connection yes
    ├── RateLimitedError      429        yes, not before `retry_after`
    ├── OverloadedError       529        yes
    ├── ServerFailedError     5xx        yes
    ├── RejectedError         4xx        no: the key, the model's name or the request is wrong
    ├── NotAskedError         not_asked  no: there is no key, or the model does not accept a setting
    ├── UnreadableReplyError  unreadable no: the answer is not what the API promises, or is empty
    ├── RefusedReplyError     refusal    no: the model or its provider refuses to answer
    ├── TruncatedReplyError   truncated  no: all tokens were used up before anything usable was said
    ├── FullContextError      context    no: the prompt and the answer do not fit into the model's context
    ├── TooLongReplyError     too_long   no: the answer is longer than any that is asked for
    ├── BudgetSpentError      budget     no: the study's money is spent
    ├── ModelPausedError      paused     no: the model failed several times, so it is not called for a while
    └── UnpricedError         unpriced   no: the price of the call is unknown, and the study has a budget
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol, Self

from kitchen.contract.world import Json

MAX_TOKENS_LIMIT = 2**31 - 1
"""Token counts of a server above this limit are treated as wrong."""

Role = Literal["system", "user", "assistant"]

Effort = Literal["low", "medium", "high", "xhigh", "max"]


class ModelError(Exception):
    """The base class of errors for a call without an answer. `code` is written to the log. The message is
    one line for people."""

    code: ClassVar[str] = "error"
    again: ClassVar[bool] = False
    server_failed: ClassVar[bool] = False
    """True if the server or the network failed, whatever was asked."""
    retry_after: float | None = None
    """Seconds that the server asked to wait, if it did."""
    usage: Usage | None = None
    """Tokens counted although there is no answer; None if unknown (the call may have been billed)."""
    raw: str = ""
    """The server's response, where it is not an answer to the question."""
    cost: float | None = 0.0
    """US dollars booked for the call; None if its price is unknown."""
    attempts: tuple[Attempt, ...] = ()
    """All attempts of the call."""
    request_id: str = ""
    """The request's id (`Reply.request_id`)."""
    parameters: Mapping[str, Json] | None = None
    """Everything that was sent (`Reply.parameters`); None if nothing was sent."""

    def unbilled(self) -> Self:
        """Record that the call has cost nothing, and return the error itself."""
        self.usage = Usage()
        return self


class CallTimeoutError(ModelError):
    """No answer in time."""

    code = "timeout"
    server_failed = True


class NoTimeLeftError(CallTimeoutError):
    """The time was over before anything was sent."""

    server_failed = False


class ConnectionLostError(ModelError):
    """The server was not reached, or the connection broke."""

    code = "connection"
    again = True
    server_failed = True


class RateLimitedError(ModelError):
    """Too many calls (429)."""

    code = "429"
    again = True
    server_failed = True


class OverloadedError(ModelError):
    """The server is overloaded (529)."""

    code = "529"
    again = True
    server_failed = True


class ServerFailedError(ModelError):
    """The server failed (500 to 599, apart from 529)."""

    code = "5xx"
    again = True
    server_failed = True


class RejectedError(ModelError):
    """The server refuses the call because of its key, model or content (400 to 499, apart from 429)."""

    code = "4xx"


class NotAskedError(ModelError):
    """The call was not made: there is no key or address, or the model does not accept the request."""

    code = "not_asked"


class UnreadableReplyError(ModelError):
    """An answer that cannot be used: malformed, or empty."""

    code = "unreadable"


class RefusedReplyError(ModelError):
    """The model or its provider refuses to answer."""

    code = "refusal"


class TruncatedReplyError(ModelError):
    """All tokens of the answer were used up before anything usable was said."""

    code = "truncated"


class FullContextError(ModelError):
    """The prompt and the answer do not fit into the model's context."""

    code = "context"


class TooLongReplyError(ModelError):
    """An answer that is longer than any that is asked for; the rest of it was not read."""

    code = "too_long"


class BudgetSpentError(ModelError):
    """The study's budget does not cover this call: it was not made."""

    code = "budget"


class ModelPausedError(ModelError):
    """The model failed several times in a row, so it is not called for a while: the call was not made."""

    code = "paused"


class UnpricedError(ModelError):
    """The study has a budget and no price is known for this call: it was not made."""

    code = "unpriced"


def error_codes() -> dict[str, str]:
    """Return the meaning of each error code in the log, by code."""
    kinds = ModelError.__subclasses__()
    return {kind.code: str(kind.__doc__).rstrip(".") for kind in kinds} | {ModelError.code: "anything else"}


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation with a model.

    The messages at the beginning of a prompt may be the same at every step of an episode. `fixed` marks
    the last of them. A provider may cache the messages up to this one.
    """

    role: Role
    text: str
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """A structured answer that the model must give: a JSON object with this schema."""

    name: str
    description: str
    schema: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a model."""

    model: str
    """The model's name at the provider, without the provider."""
    messages: Sequence[Message]
    temperature: float | None = None
    """None: the provider's default (some models accept no temperature)."""
    max_tokens: int = 1024
    tool: Tool | None = None
    """If set, the answer should be a call of this tool. A server that ignores this answers in words."""
    seconds: float = 30.0
    """Time limit for the whole call, including all attempts and waits."""
    effort: Effort | None = None
    """The limit on the model's thinking (counts towards `max_tokens`); None: as little as possible."""
    top_p: float | None = None
    """Probability mass of the tokens to sample from, above 0 up to 1; None: the provider's default."""
    seed: int | None = None
    """The seed sent with the request. The same seed should give the same answer, as far as the provider
    supports it. None: none is sent."""
    cache_hour: bool = False
    """True if the provider should keep the fixed part of the prompt for an hour, which costs more to store,
    instead of five minutes."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The number of tokens of one call, as counted by the API. `input` excludes cached tokens."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    thinking: int = 0
    """The part of `output` in which the model thought; 0 if the API does not count it."""

    @property
    def is_believable(self) -> bool:
        """Return True if the counts are plausible: none is above MAX_TOKENS_LIMIT."""
        return max(self.input, self.output, self.cache_read, self.cache_write) <= MAX_TOKENS_LIMIT


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt within a call. `outcome` is `ok` or the code of a ModelError. `seconds` is its duration,
    `waited` the pause after it in seconds. `began` and `ended` are UTC times in ISO 8601 with
    milliseconds."""

    outcome: str
    seconds: float
    waited: float = 0.0
    detail: str = ""
    cost: float | None = 0.0
    """US dollars booked for it."""
    began: str = ""
    ended: str = ""
    allowed: float | None = None
    """Its time limit in seconds."""
    request_id: str = ""
    """The request's id (`Reply.request_id`)."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of a model. `call` has the arguments of the requested tool, None if the model did not call
    it."""

    text: str
    call: Mapping[str, Json] | None = None
    model: str = ""
    """Model and version, as the API names them."""
    stop: str = ""
    """Why the model stopped, as the API names it."""
    usage: Usage = field(default_factory=Usage)
    attempts: tuple[Attempt, ...] = ()
    seconds: float = 0.0
    """Wall time of the whole call."""
    cost: float | None = 0.0
    """US dollars booked for the whole call; None if its price is unknown."""
    reasoning: str = ""
    """The model's thinking before the answer, as far as the API gives it; not part of `text`."""
    request_id: str = ""
    """The id by which the server's operator finds the request; empty if the server gave none."""
    parameters: Mapping[str, Json] = field(default_factory=dict)
    """Everything that was sent besides the texts of messages and tool, under the API's names."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a model as the log stores it: the request, and its reply or error."""

    provider: str
    request: Request
    reply: Reply | None = None
    error: str = ""
    """A ModelError's code where there is no reply."""
    error_text: str = ""
    raw: str = ""
    """The server's response where there is no reply."""
    usage: Usage = field(default_factory=Usage)
    """Tokens that the server counted, also for an unusable answer; zeros where it gave no counts."""
    attempts: tuple[Attempt, ...] = ()
    seconds: float = 0.0
    cost: float | None = 0.0
    """US dollars by the price list, for all attempts. None if the price is unknown."""
    parameters: Mapping[str, Json] = field(default_factory=dict)
    """Everything that was sent (`Reply.parameters`); empty if nothing was sent."""


@dataclass(frozen=True, slots=True)
class OfferedModel:
    """One model that a server offers, as the server describes it. Missing information is empty."""

    name: str
    status: str = ""
    """`active`, `deprecated` or `retired`."""
    thinking: tuple[str, ...] = ()
    """Kinds of thinking that it supports, under the API's names."""
    efforts: tuple[str, ...] = ()
    reads: int | None = None
    """Maximum number of tokens of a prompt."""
    writes: int | None = None
    """Maximum number of tokens of an answer."""


class Payer(Protocol):
    """An account that pays for model calls. Several workers can use it at the same time."""

    async def reserve(self, amount: float) -> None:
        """Reserve money for one call. Raises BudgetSpentError if there is not enough."""

    async def settle(self, reserved: float, spent: float) -> None:
        """Release the reserved amount, and record the amount that the call really cost."""


class RecordedAnswers(Protocol):
    """Answers of an earlier run. They are returned in order, and no model is called."""

    def answer(self, provider: str, request: Request) -> Call:
        """Return the recorded call that belongs to this request. Raises ModelError if there is none left."""

    def sent_tool(self) -> bool | None:
        """Return whether a tool was sent with the first recorded request; None if there is no request."""


class LanguageModel(ABC):
    """Sends requests to the models of one provider."""

    provider: str
    """The name in the registry; a wrapper has the name of the model it wraps."""
    is_recorded: ClassVar[bool] = False
    """True if it returns recorded answers, and calls nothing."""

    @abstractmethod
    async def ask(self, request: Request) -> Reply:
        """Return the model's answer. Raises ModelError if there is none within `request.seconds`.
        Implementations must not block the event loop, and must be thread-safe."""


def total_cost(costs: Iterable[float | None]) -> float | None:
    """Return the sum of the costs; None if one of them is unknown."""
    known = list(costs)
    return None if None in known else sum(cost or 0.0 for cost in known)
