"""Define the `Agent` interface: an agent receives a situation (all that it may know) and returns a decision.

An agent gives the commands of one or more seats, which are the players' places in the world. The agent object
stores nothing between calls, so any process can use it. An agent that needs a memory returns it with its
decision (`Decision.memory`). The next situation contains that memory (`Situation.memory`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, TypeVar

from kitchen.contract.assigned_jobs import Job
from kitchen.contract.declared_settings import Setting, clean_settings
from kitchen.contract.language_model import Call, Payer, RecordedAnswers
from kitchen.contract.organisation import Organisation
from kitchen.contract.team_messages import MessageDraft, TeamMessage
from kitchen.contract.world import Aim, Command, Event, Intent, Json, World

T = TypeVar("T")

FALLBACKS = {
    "timeout": "No decision in time",
    "outage": "A person's time ran out in a turn that an outage had touched",
    "error": "The co-player failed",
}
"""Reason codes for a decision that the platform replaced. Agents that fall back use their ModelError's."""

MAX_PLAN_STEPS = 50
"""Maximum number of commands in the plan of one seat."""


EVERYBODY, PEOPLE, NO_ONE = "everybody", "people", "nobody"
KNOWLEDGE_LABELS = {
    EVERYBODY: "what people and the co-players before it chose; one co-player decides after the other",
    PEOPLE: "what people chose; co-players decide side by side",
    NO_ONE: "nothing of this step; co-players decide side by side",
}
"""Labels for how much an agent knows of the other commands of its step, as far as its seats may see them.
This also sets the order in which agents are asked."""

REASON_SEAT, REASON_PLAN_BROKEN, REASON_JOB, REASON_MESSAGE = "seat", "plan_broken", "job", "message"
"""Why an agent is asked (`DecisionRequest.because`). `seat`: one of its seats has something to choose. If
another reason also holds, the first of these that holds is given: its plan broke; a job has news; there is a
new message."""
REASON_TO_ANSWER = "answer"
"""Another reason: somebody wrote to the agent and expects an answer before anybody chooses. Only the messages
of this decision are used."""
REASON_OVERDUE, REASON_REMINDER = "overdue", "reminder"
"""Further reasons if the organisation has a schedule other than `together`, for an agent without news. A job
that it gave has not changed for long, or nobody has answered its question
(`kitchen.contract.answer_delays_and_reminders`)."""


@dataclass(frozen=True, slots=True)
class LateDecision:
    """A decision, or some of its commands, that had no effect.

    There are two reasons. The decision arrived after its time limit or after its step was over. Or
    commands of a slow decision (`Organisation.think_steps`) were no longer legal when they were due.
    """

    step: int
    """The step that it was made for; the first is 1."""
    commands: Mapping[int, Command]
    stale: bool = False
    """True if only these commands had no effect, because they were no longer legal."""


@dataclass(frozen=True, slots=True)
class DecisionRequest:
    """The reason why an agent is asked to decide, the seats that need a command, and what the agent may
    know of other players' commands."""

    because: str = REASON_SEAT
    """The reason why the agent is asked now."""
    asked: tuple[int, ...] | None = None
    """The agent's seats that need a command now; None for all of them. The commands of the others are already
    in `Situation.commanded`, except for those in `may_act`."""
    may_act: tuple[int, ...] = ()
    """The agent's seats that are busy with a lasting action but may be commanded now, for example to stop it
    (`World.asks`). A seat without a command continues its action."""
    knowing: str = EVERYBODY
    """Whose commands of a step the agent knows before it decides: one of `KNOWLEDGE_LABELS`."""
    tells: bool = False
    """True if people see what this agent is about to do, so that it may fill in `Decision.intents`."""


@dataclass(frozen=True, slots=True)
class TeamTalk:
    """An agent's rights in the organisation (who may write to whom), its messages and its jobs."""

    organisation: Organisation | None = None
    """The rules about who may send what to whom; None in an episode without messages."""
    member: int = 0
    """The number of this agent among the members of the organisation."""
    messages: tuple[TeamMessage, ...] = ()
    """The newest messages that it sent and received, in order. Those after its last decision are new. Treat
    the text as what somebody said, never as an instruction to the platform."""
    jobs: tuple[Job, ...] = ()
    """The open jobs that it was given or gave, however old."""
    taken_over: int = 0
    """The number of the last message from the time when a person had its seat. Messages up to it were
    addressed to that person. 0 where the agent has always had its seats."""
    aims: Mapping[int, Sequence[Aim]] = field(default_factory=dict)
    """The aims that each member that it may command can be asked for (`World.aims` of its first seat), by
    number."""
    public_brief: Mapping[str, Json] = field(default_factory=dict)
    """The facts that everybody may know of the world (`World.public_brief`), if the agent may command
    somebody."""
    public_state: Mapping[str, Json] = field(default_factory=dict)
    """What everybody may know of the present state (`World.public_state`), if the agent may command
    somebody."""


@dataclass(frozen=True, slots=True)
class DecisionLimits:
    """Limits of a decision: its time, and the account that pays for model calls."""

    seconds: float = 5.0
    """Seconds left for this decision."""
    purse: Payer | None = None
    """The account that pays for calls of language models; None if no costs are counted."""
    answers: RecordedAnswers | None = None
    """Recorded answers of language models from an earlier run of this decision. They are returned at no cost
    instead of calling the models. None: call the models."""


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything an agent may know when it decides. The keys of the mappings are the agent's seats."""

    world: str
    """Name of the world."""
    step: int
    """Number of steps taken so far. The decision is for the next step."""
    seats: tuple[int, ...]
    """The seats that it commands; empty for an agent that only leads others."""
    briefs: Mapping[int, Mapping[str, Json]]
    """Each seat's knowledge that never changes (`World.brief`)."""
    observations: Mapping[int, Mapping[str, Json]]
    """The observation of each seat now (`World.observe`). A leader also gets the observations of the seats
    that it may see (`Organisation.seats_seen`)."""
    legal: Mapping[int, Sequence[Command]]
    """The commands that each seat could carry out now (`World.legal_actions`)."""
    commanded: Mapping[int, Command] = field(default_factory=dict)
    """Commands of this step that are already known, by seat. They come from people and from agents asked
    earlier, as far as the episode shows them (`KNOWLEDGE_LABELS`)."""
    people: tuple[int, ...] = ()
    """Seats played by people."""
    events: tuple[Event, ...] = ()
    """The events of the last step."""
    memory: Json = None
    """The memory that this agent returned last time; None at the first step."""
    seed: int = 0
    """The only source of chance. It differs for every step, and is the same if a step is decided again."""
    plans: Mapping[int, Sequence[Command]] = field(default_factory=dict)
    """The part of its seats' plans that remains after the coming step. Where the world shows plans
    (`World.shows_plans`), also what remains of those of other seats."""
    late: tuple[LateDecision, ...] = ()
    """Decisions that arrived too late and that the agent has not been informed of, oldest first."""
    request: DecisionRequest = DecisionRequest()
    talk: TeamTalk = TeamTalk()
    limits: DecisionLimits = DecisionLimits()

    def limited(self, **limits: Any) -> Self:
        """Return a copy of the situation with these limits replaced. The keywords are fields of
        `DecisionLimits`."""
        return replace(self, limits=replace(self.limits, **limits))


@dataclass(frozen=True, slots=True)
class Decision:
    """An agent's decision for the coming step.

    `commands` are in the order in which they run. A seat left out does the world's default. `played_by` names
    what chose the commands, for example a kind of agent or `stand-in`; empty for the agent itself. `note` is
    JSON for the log: reasons, questions and answers. An agent that reads model replies also notes how well it
    could read them (`kitchen.contract.decision_notes`).

    `calls` lists all calls of language models for this decision, in order, including calls without an answer.
    `fallback` is the code of the ModelError because of which a substitute decided; empty if there was none.

    `plans` gives the commands of a seat for the steps after this one, at most `MAX_PLAN_STEPS`. The agent is
    not asked while the plan runs. A plan goes on as long as each command is legal in its step and the seat
    can choose a command. A new plan replaces the rest of the seat's old plan.

    `intents` states what a seat will do after the coming step, if the agent has already decided it. It never
    holds guesses or the commands of the coming step. It is stored in the note, under `intents`, only if
    people see it (`DecisionRequest.tells`).

    `says` are messages to others. Each is sent if the organisation (the rules of the team) permits it.

    `planned` is False if the agent only goes on with a job and did not plan. If thinking takes steps
    (`Organisation.think_steps`), such a decision takes effect at once.
    """

    commands: Mapping[int, Command]
    memory: Json = None
    played_by: str = ""
    note: Json = None
    calls: tuple[Call, ...] = ()
    fallback: str = ""
    intents: Mapping[int, Intent] = field(default_factory=dict)
    says: tuple[MessageDraft, ...] = ()
    plans: Mapping[int, Sequence[Command]] = field(default_factory=dict)
    planned: bool = True


def add_to_note(note: Json, key: str, value: Json) -> dict[str, Json]:
    """Return a decision's note (JSON for the log) with one more entry. A note that is not a dict becomes the
    entry `note`."""
    return {**(note if isinstance(note, dict) else {"note": note}), key: value}


def run_without_waiting(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits, and return its result. This needs no event loop. Raises
    RuntimeError if the coroutine waits for something."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    coroutine.close()
    raise RuntimeError("a decision waits for something where it must not")


@dataclass(frozen=True, slots=True)
class ForecastTrial:
    """Settings for a trial run of a co-player. The cost of real model calls is forecast from the prompts
    of this run."""

    settings: Mapping[str, Json]
    """Settings of a co-player of the same kind that calls the stand-in model with the same prompts, at once,
    and remembers nothing."""
    remembered: int = 0
    """Maximum number of exchanges from earlier steps in its prompts."""
    repairs: int = 0
    """Maximum number of repeated calls within one step."""
    remembering: Mapping[str, Json] = field(default_factory=dict)
    """The settings with its real memory, for prompts that are shown complete. Empty: the same settings."""
    extra_tokens: int = 0
    """Maximum number of tokens that its prompts spend on other information about earlier steps."""
    remembers_tries: bool = False
    """True if second tries in the same step count among the exchanges in its prompts."""
    least_steps_apart: int = 1
    """Minimum number of steps from one call to the next."""
    usual_steps_apart: int = 1
    """Expected number of steps from one call to the next."""


class Agent(ABC):
    """A co-player with its settings. Each subclass is one kind of co-player."""

    kind: ClassVar[str]
    """The name in the registry."""
    worlds: ClassVar[tuple[str, ...] | None] = None
    """The worlds it can play; None for every world."""
    pursues: ClassVar[bool] = False
    """True if it can play only worlds that have an `AimPursuer` (`WorldKit.pursuer`)."""
    skilled: ClassVar[bool] = False
    """True if it can play only worlds that have skills (`WorldKit.skills`)."""
    settings: ClassVar[tuple[Setting, ...]] = ()
    """The settings that a researcher may set."""
    reads_words: ClassVar[bool] = False
    """True if it reads what people write to it (`TeamTalk.messages`), so that words may change what it does.
    Pages inform people if an agent does not."""
    leads: ClassVar[bool] = False
    """True if it gives jobs to others, and so can play without a seat."""
    instant: ClassVar[bool] = False
    """True if it decides in well under a tick (20 ms) without waiting for anything: no network, file,
    database or budget. It is then asked in the process that runs the step."""
    light: ClassVar[bool] = False
    """True if it also needs almost no processor time (0.1 ms), so that it needs no process of its own. It
    decides in a thread that other people's steps share, without a time limit: a slow light agent delays all
    of them."""
    package: ClassVar[str] = ""
    """An optional Python package without which the agent cannot play; empty if it needs none. Forms do not
    offer an agent whose package is missing."""
    repeatable: ClassVar[bool] = True
    """False if the same situation may give another decision on another machine, as with trained networks. A
    replay then takes the commands of the log and does not ask again."""
    names_model: ClassVar[str] = ""
    """The setting that names the language model as `provider:model`, or `stand-in`; empty for a co-player
    that calls none. If it names a model, `decide` runs in an event loop where many others wait: it may block
    the thread for some milliseconds only, and leaves longer work to `asyncio.to_thread`."""

    def __init__(self, chosen: Mapping[str, Json]) -> None:
        """Store the settings by name, with defaults for those not given. Raises SettingsError if one is
        wrong."""
        self.chosen = clean_settings(self.settings, chosen)

    def cautions(self) -> tuple[str, ...]:
        """Return warnings for the researcher: what will prevent the agent from playing with these settings,
        such as a missing key.

        Each warning is a whole sentence. Only facts that this process can check are included. The study is
        assumed to have a budget.
        """
        return ()

    def world_cautions(self, world: str, settings: Mapping[str, Json]) -> tuple[str, ...]:
        """Return warnings for the researcher, whole sentences, about playing this world with these settings,
        although the agent can play."""
        return ()

    def remarks(self) -> tuple[str, ...]:
        """Return sentences for the settings form about settings that have no effect, although the agent
        can play."""
        return ()

    def refusal(self) -> str:
        """Return the reason why a form must reject these settings, as `setting: reason`. Return an empty
        text if the form accepts them. Settings that are already stored remain in use."""
        return ""

    def facts(self) -> Mapping[str, Json]:
        """Return facts by name that exported data and reports state in addition to the settings, such as the
        encoding of a policy file. Empty if there are none, or if they are unknown on this machine."""
        return {}

    def unfit(self, world: World, seats: Collection[int]) -> str:
        """Return a short reason why the agent cannot play these seats of this world with its present
        settings; empty if it can."""
        return ""

    def model(self) -> str:
        """Return the language model that the agent uses, as `provider:model`. If the settings name none, this
        is the process's default. Empty if the agent uses no model."""
        return ""

    def rehearsal(self) -> ForecastTrial | None:
        """Return the settings for a trial run without cost, which measures the agent's prompts. None if the
        agent calls no language model."""
        return None

    def fixed_messages(self, situation: Situation) -> tuple[str, ...]:
        """Return the messages to a language model that stay the same in every step of an episode. `situation`
        is the first of the episode. Empty if the agent uses no model."""
        return ()

    def placeholders(self, situation: Situation) -> Mapping[str, str]:
        """Return the values for the placeholders in the agent's texts (`Setting.placeholders`) in this
        situation. Placeholders without a value are left out."""
        return {}

    def foretells(self) -> bool:
        """Return whether the agent notes predictions of what others will do next
        (`kitchen.contract.decision_notes`)."""
        return False

    def will_plan(self, situation: Situation) -> bool:
        """Return whether a new plan will be made in this situation (`Decision.planned`). Must be quick. May
        raise."""
        return True

    def decides_later(self, situation: Situation) -> bool:
        """Return whether steps may continue before this agent has decided. False for agents that decide at
        once, or may decide without a new plan: the step waits for them."""
        return not self.instant and self.will_plan(situation)

    def prepare(self, world: str) -> None:  # noqa: B027 - most agents have nothing to load
        """Load what the first decision in this world would otherwise wait for, such as a network. Called
        before the first step in each process that may decide. By default there is nothing to load."""

    @abstractmethod
    async def decide(self, situation: Situation) -> Decision:
        """Return the decision for the coming step: commands, messages and a new memory. May raise any
        error: the caller then records it and calls `fall_back`."""

    def fall_back(self, situation: Situation, code: str) -> Decision:
        """Return the decision for a step in which `decide` was late (`code` is `timeout`) or failed
        (`error`). By default it has no commands. It must be computed at once. May raise."""
        return Decision(commands={}, memory=situation.memory)

    def arrived(self, situation: Situation, late: Decision) -> Decision | None:
        """Return a new decision that uses `late`, or None to ignore it. `late` is a decision for an earlier
        step of a real-time world that has arrived only now.

        `situation.memory` includes the fallback decisions that were made meanwhile. Must be quick and wait
        for nothing. May raise.
        """
        return None
