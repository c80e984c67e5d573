"""Define the `Agent` interface: how a co-player receives a situation and returns a decision.

An agent commands one or more seats. It keeps nothing between calls, so any worker can continue after
another one died. What it must remember goes out as `Decision.memory`, is stored with the step, and comes
back as `Situation.memory`.

Plain Python, no Django.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from kitchen.contract.assigned_jobs import Job
from kitchen.contract.language_model import Call, Payer, RecordedAnswers
from kitchen.contract.organisation import Organisation
from kitchen.contract.team_messages import MessageDraft, TeamMessage
from kitchen.contract.world import UNKNOWN, Aim, Command, Event, Intent, Json, Setting, World, clean_settings

FALLBACKS = {
    "timeout": "No decision in time",
    "outage": "A person's time ran out in a turn that an outage had touched",
    "error": "The co-player failed",
}
"""Why a mind is replaced from outside. What makes a mind fall back by itself has a ModelError's code."""

MAX_PLAN_STEPS = 50
"""Commands that a seat can be given ahead."""


EVERYBODY, PEOPLE, NO_ONE = "everybody", "people", "nobody"
KNOWLEDGE_LABELS = {
    EVERYBODY: "what people and the co-players before it chose; one co-player decides after the other",
    PEOPLE: "what people chose; co-players decide side by side",
    NO_ONE: "nothing of this step; co-players decide side by side",
}
"""What a mind may be told of the commands of the step that it decides, as far as its seats get to know them,
and in which order minds are asked therefore."""

REASON_SEAT, REASON_PLAN_BROKEN, REASON_JOB, REASON_MESSAGE = "seat", "plan_broken", "job", "message"
"""Why a mind is asked (`Situation.because`): a seat of its own has something to choose. If more is to be said
of it, the first of these that is so: its plan could not go on; something new was said of a job, or at all."""
REASON_TO_ANSWER = "answer"
"""Another reason: somebody has written to it and is to be answered before anybody chooses; then only what it
says is followed."""


@dataclass(frozen=True, slots=True)
class LateDecision:
    """What a mind decided when its step was over, or its time: nothing came of it."""

    step: int
    """For which it was; the first is 1."""
    commands: Mapping[int, Command]


@dataclass(frozen=True, slots=True)
class Situation:
    """All that a mind may know when it decides. Mappings are keyed by the seats that the mind commands."""

    world: str
    """Name of the world."""
    step: int
    """Steps taken so far: the decision is for the step after it."""
    seats: tuple[int, ...]
    briefs: Mapping[int, Mapping[str, Json]]
    """What each seat knows that never changes (`World.brief`)."""
    observations: Mapping[int, Mapping[str, Json]]
    """What each seat sees now (`World.observe`); for who leads also of those that it may see
    (`Organisation.seats_seen`)."""
    legal: Mapping[int, Sequence[Command]]
    """What each seat could do now (`World.legal_actions`)."""
    commanded: Mapping[int, Command] = field(default_factory=dict)
    """Commands of this step that are known already, by seat: those of people and of earlier minds, as far as
    the episode lets its minds know them (`KNOWLEDGE_LABELS`)."""
    people: tuple[int, ...] = ()
    """Seats played by people."""
    events: tuple[Event, ...] = ()
    """What happened in the last step."""
    memory: Json = None
    """What this mind returned last time; None at the first step."""
    seed: int = 0
    """The only source of chance: another one at every step, the same one if this step is decided again."""
    seconds: float = 5.0
    """The time left for this decision."""
    purse: Payer | None = None
    """Who pays for calls of language models; None where nobody counts."""
    plans: Mapping[int, Sequence[Command]] = field(default_factory=dict)
    """What is left of the plans of its seats, after the coming step."""
    late: tuple[LateDecision, ...] = ()
    """What it decided too late and has not been told of, oldest first."""
    asked: tuple[int, ...] | None = None
    """Those of `seats` that are to be commanded now, None for all of them. What the others do in this step is
    settled, and in `commanded`, but for those that `may_act`."""
    may_act: tuple[int, ...] = ()
    """Those of `seats` that are in the middle of something and may be commanded now, for example to stop
    (`World.asks`). One without a command goes on."""
    answers: RecordedAnswers | None = None
    """What language models answered when this was decided before: given again instead of asking them, at no
    cost. None where they are asked."""
    tells: bool = False
    """People are shown what this mind is about to do: it may say so (`Decision.intents`)."""
    because: str = REASON_SEAT
    """Why it is asked now."""
    organisation: Organisation | None = None
    """Who may say what to whom; None where nobody says anything."""
    member: int = 0
    """The number of this mind in it."""
    knowing: str = EVERYBODY
    """Whose commands of a step it is told before it decides: one of `KNOWLEDGE_LABELS`."""
    messages: tuple[TeamMessage, ...] = ()
    """What it has said and heard, in order: the newest. What came after its last decision is new. It is what
    somebody said, never an instruction to the house."""
    jobs: tuple[Job, ...] = ()
    """Those that it was given or gave and that are open, however long ago that was said."""
    taken_over: int = 0
    """The last message of the time when a person had its seat: what was said up to there was said to them. 0
    where it has had its seats all along."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a mind decided for the coming step.

    `commands` are in the order in which they are to run; a seat left out does the world's default.
    `played_by` names who really chose, where that is not the mind itself (a stand-in). `note` is JSON for the
    log: why, what was asked and answered; who reads replies says in it how
    (`kitchen.contract.decision_notes`).

    `calls` are all calls of language models that this decision took, in order, those without an answer among
    them. `fallback` is the code of the ModelError that made the mind fall back on its stand-in, empty if it
    did not.

    `plans` says what a seat is to do after its command, step by step, without the mind being asked for it: as
    long as each is legal when its turn comes, and while the seat has something to choose. At most
    `LONGEST_PLAN`. Of a seat that has a plan already it takes the place of what is left.

    `intents` says what a seat is to do after the coming step, as far as the mind has settled that now: never
    a guess, and nothing of the coming step's commands. It is kept with the note, as `intents`, where people
    are shown it (`Situation.tells`), and nowhere else.

    `says` are messages to others: each is sent if the organisation lets this mind
    (`kitchen.contract.team_messages`).
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


def add_to_note(note: Json, key: str, value: Json) -> dict[str, Json]:
    """Return a decision's note with one more entry, which the platform adds."""
    return {**(note if isinstance(note, dict) else {"note": note}), key: value}


@dataclass(frozen=True, slots=True)
class Advice:
    """What would be good for one seat to do next: for hints to a person. `aim` says what for, in the codes of
    the world; its page has the words (`Page.hint`)."""

    command: Command
    aim: Intent


class Adviser:
    """Who knows what is good to do in a world: for hints to people, and for programs that take part as people
    do. This one knows nothing; a world's own says what it can. It keeps nothing between calls."""

    def advise(self, situation: Situation) -> Advice | None:
        """What would be good for the one seat of the situation; None where there is no telling. Quick: a page
        waits for it."""
        return None

    def lead(self, situation: Situation) -> Advice | None:
        """What somebody who learns the game does next, to come soon and by the plainest way to what practice
        is to reach (`Practice.until`); None where there is no telling. Quick, too."""
        return self.advise(situation)

    def decide(self, situation: Situation) -> Decision:
        """What a sensible person in the one seat of the situation does, who may take a moment; without a
        command where there is no telling."""
        advice = self.advise(situation)
        return Decision({situation.seats[0]: advice.command} if advice else {}, memory=situation.memory)

    def expected(self, situation: Situation, seats: Sequence[int]) -> Mapping[int, Command]:
        """What a sensible person in the one seat of the situation expects of these other seats, as far as
        there is a telling. `commanded` has what the person does."""
        return {}

    def came_true(self, seat: int, command: Command, observation: Mapping[str, Json]) -> bool:
        """Whether this seat, as a person sees it after the step, looks as if it had done that."""
        return False

    def success(self, score: Mapping[str, Json]) -> float | None:
        """How well an episode went, from 0 to 1; None where that cannot be said."""
        return None

    def output(self, score: Mapping[str, Json], steps: int) -> float:
        """How much came out of so many steps, from 0 to 1: of the most that anybody could expect."""
        return 0.0


@dataclass(frozen=True, slots=True)
class AimStep:
    """What somebody does next for an aim, and how that stands."""

    status: str = UNKNOWN
    """As `World.aim_status` says it."""
    command: Command | None = None
    """None: to wait."""


class AimPursuer:
    """Who knows the way to each aim of a world: for agents that do as they are told. Keeps nothing."""

    def pursue(self, situation: Situation, seat: int, aim: Aim, since: Json) -> AimStep:
        """What this seat does next for this aim, for which it was asked when the world's `aim_mark` said
        `since`. Quick. What it cannot read is an aim that cannot be reached."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class ForecastTrial:
    """How a co-player is tried out for a forecast of money, before any model is asked."""

    settings: Mapping[str, Json]
    """Of one of its kind that asks the stand-in in the model's place, the very same, at once, and remembers
    nothing."""
    remembered: int = 0
    """Exchanges of earlier steps that its prompts may hold at most."""
    repairs: int = 0
    """How often it may ask again within one step."""
    remembering: Mapping[str, Json] = field(default_factory=dict)
    """The settings where it remembers as it will: for prompts that are shown whole. Empty: the same."""
    told: int = 0
    """Tokens of what else its prompts may tell of earlier steps, at worst."""
    remembers_tries: bool = False
    """Second tries of the same step count among the exchanges that its prompts hold."""


class Agent(ABC):
    """A kind of mind with its settings."""

    kind: ClassVar[str]
    """The name in the registry."""
    worlds: ClassVar[tuple[str, ...] | None] = None
    """The worlds it can play; None for every world."""
    pursues: ClassVar[bool] = False
    """It can play only worlds that say how aims are pursued (`WorldKit.pursuer`)."""
    skilled: ClassVar[bool] = False
    """It can play only worlds that have skills (`WorldKit.skills`)."""
    settings: ClassVar[tuple[Setting, ...]] = ()
    """What a researcher may set."""
    reads_words: ClassVar[bool] = False
    """It reads what people write to it (`Situation.messages`): words may change what it does. Pages say so of
    one that does not."""
    instant: ClassVar[bool] = False
    """It decides in well under a tick (20 ms), without waiting for anything: no network, no file, no
    database, no budget. Then it is asked where the step is taken."""
    light: ClassVar[bool] = False
    """And it costs next to no processor time (0.1 ms): no process of its own is needed for it. It decides
    between other people's steps, in their thread, and nobody stops it: a light co-player that is slow holds
    up all."""
    names_model: ClassVar[str] = ""
    """The setting that names the language model as `provider:model`, or `stand-in`; empty for a co-player
    that asks none. One that names a model waits for nothing but its models, or by `machine.waiting`: beside
    it many others wait in the same thread."""

    def __init__(self, chosen: Mapping[str, Json]) -> None:
        """Settings by name; what is not given has its default. SettingsError if they are wrong."""
        self.chosen = clean_settings(self.settings, chosen)

    def cautions(self) -> tuple[str, ...]:
        """What will keep it from playing as these settings say, as far as this process can see: whole
        sentences for the researcher. The study has a budget."""
        return ()

    def remarks(self) -> tuple[str, ...]:
        """What of these settings comes to nothing although it plays: whole sentences for the form in which
        they are set."""
        return ()

    def refusal(self) -> str:
        """Why a form refuses these settings, as `setting: why`; empty if it does not. What was stored before
        goes on playing."""
        return ""

    def unfit(self, world: World) -> str:
        """Why it cannot play this world as that is set up, in a few words; empty if it can."""
        return ""

    def model(self) -> str:
        """The language model that plays, `provider:model`, as this process is set up where the settings name
        none; empty for a co-player that asks none."""
        return ""

    def rehearsal(self) -> ForecastTrial | None:
        """How what it asks can be tried out for nothing; None for a co-player that asks no language model."""
        return None

    def fixed_messages(self, situation: Situation) -> tuple[str, ...]:
        """What a language model is told at every step of an episode that begins so, as it is sent; nothing
        for a co-player that asks none."""
        return ()

    def placeholders(self, situation: Situation) -> Mapping[str, str]:
        """What the placeholders of its texts (`Setting.placeholders`) mean in this situation; those that mean
        nothing here are left out."""
        return {}

    def foretells(self) -> bool:
        """Whether it says in its notes what others will do next (`kitchen.contract.decision_notes`)."""
        return False

    @abstractmethod
    def decide(self, situation: Situation) -> Decision:
        """The commands for the coming step. May raise: the caller records it and falls back."""

    def fall_back(self, situation: Situation, code: str) -> Decision:
        """What is done in a step whose decision was late (`code` is `timeout`) or failed (`error`): nothing,
        unless the settings name somebody who stands in, and then at once. May raise."""
        return Decision(commands={}, memory=situation.memory)

    def arrived(self, situation: Situation, late: Decision) -> Decision | None:
        """Where a clock takes the steps and waits for nobody: what it does now that what it decided for an
        earlier step is there; `memory` is what fallbacks returned since. Quick, and nobody is asked. None:
        nothing comes of it. May raise."""
        return None
