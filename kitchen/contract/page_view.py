"""Define `SeatView`: everything that one person's page may show of an episode.

The platform builds it from the state, and a world's `Page` turns it into panels (`kitchen.contract.page`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kitchen.contract.assigned_jobs import Job
from kitchen.contract.probes import ProbeItem
from kitchen.contract.star_targets import StarTargets
from kitchen.contract.team_messages import TeamMessage
from kitchen.contract.world import Aim, Command, Event, Intent, Json, Metric

DRAWING_TABLES, DRAWING_ONLY, DRAWING_AND_TABLES = "tables", "drawn", "both"
"""The ways to show a world: in tables, as a drawing, or as a drawing with the tables one click away."""


@dataclass(frozen=True, slots=True)
class PlayerView:
    """One seat with the facts that all players may know. The kind of agent that plays is never included."""

    seat: int
    name: str
    """The name shown: `Player 1` (see `Page.named`)."""
    is_you: bool


@dataclass(frozen=True, slots=True)
class StepView:
    """One past step, for the panel *what just happened*."""

    number: int
    """Number of the step, from 1."""
    commands: Mapping[int, Command]
    events: tuple[Event, ...]
    ran_out: bool = False
    """True if this seat's time ran out before it had commanded."""
    unasked: bool = False
    """True if this seat had nothing to choose: it carried on with a command, or followed its plan."""


@dataclass(frozen=True, slots=True)
class ChoiceView:
    """The commands that a person can choose in the open step, with hints."""

    legal: Sequence[Command] = ()
    anticipated: Sequence[Command] = ()
    """Commands that become legal if people before this seat do what they may do."""
    amounts: Mapping[Command, tuple[int, int]] = field(default_factory=dict)
    """Commands of `legal` whose last word is an amount (`World.amounts`). Keys are the commands without that
    word; values are the least and the most amount."""
    chosen: Command | None = None
    """The command that this seat has given for the coming step, if any."""
    passed_by: bool = False
    """True if this seat has nothing to choose in the open step."""
    may_act: bool = False
    """True if this seat is not asked but may still act: it can interrupt what it is doing."""
    hints: tuple[str, ...] = ()
    """Sentences on good next actions, where hints are on."""
    hinted: Command | None = None
    """The command of the last hint, if it has one. The page marks the command and its place."""
    hinted_next: tuple[Command, ...] = ()
    """The commands that the menu offers together with `hinted`, as one choice."""
    purpose: str = ""
    """The purpose of that command, in a code of the world (`Advice.aim`, entry `do`). Empty if unknown."""


@dataclass(frozen=True, slots=True)
class TimingView:
    """The time limit of a step, and the time left."""

    step_seconds: float | None = None
    """Time limit of people for a step; None if there is none."""
    seconds_left: float | None = None
    """Seconds left of it while this seat must command; None if the clock does not run."""
    tick_ms: int | None = None
    """Milliseconds between steps in a clocked world (`World.tick_ms`): there is no menu, and key presses
    count at once. None: steps wait for everybody."""


@dataclass(frozen=True, slots=True)
class PlansView:
    """The plans and intentions of seats for later steps, as far as this seat may know them."""

    by_seat: Mapping[int, Sequence[Command]] = field(default_factory=dict)
    """Commands that seats will do after the open step without being asked. This seat's own plan is included,
    and those of others where the page or the world (`World.shows_plans`) shows what they are about to do."""
    offered: bool = False
    """True if the page offers to plan later commands; the same for the whole episode."""
    plannable: Sequence[Command] = ()
    """Commands that can be planned (`World.plannable`), where the page offers it now."""
    shows_intents: bool = False
    """True if the page shows what the others are about to do; the same for the whole episode."""
    intents: Mapping[int, Intent] = field(default_factory=dict)
    """Where `shows_intents`: the next actions that other seats announced at their decision on the last step.

    They were decided before this seat chooses, and are never commands of the open step. A seat without an
    intent is left out; the page must not invent one.
    """


@dataclass(frozen=True, slots=True)
class SpeakingTurn:
    """Whose turn to speak it is, where two members take turns within a step (`Organisation.takes_turns`)."""

    speaker: int
    """The member whose turn it is. If it is another member than this seat's person, the person waits."""
    answers: bool
    """True if the speaker answers a message, False if the speaker opens."""
    seconds: int
    """Seconds since the turn began."""


@dataclass(frozen=True, slots=True)
class TalkView:
    """The messages of a person, and the members to whom the person may write."""

    member: int | None = None
    """The number of this seat's person among the members; None in an episode without messages."""
    members: Mapping[int, str] = field(default_factory=dict)
    """The names of all members, by number."""
    addressees: tuple[int, ...] = ()
    """Members to whom this person may write."""
    unread: tuple[int, ...] = ()
    """The addressees who do not read messages (`Agent.reads_words`)."""
    only_jobs: tuple[int, ...] = ()
    """The members of `unread` who do jobs with an aim (`Agent.pursues`)."""
    takes_turns: bool = False
    """True if two members take turns to speak within a step (`Organisation.takes_turns`)."""
    one_partner: bool = False
    """True if this person talks with one member at a time (`kitchen.contract.team_messages`)."""
    partner: int | None = None
    """The member with whom this person talks now, where `one_partner`; None for nobody."""
    messages: tuple[TeamMessage, ...] = ()
    """The newest messages that this person sent and received, in order."""
    requests: tuple[TeamMessage, ...] = ()
    """All messages with requests that this person sent and received, in order, also older ones."""
    spoken: bool = False
    """True if the page offers to turn this person's speech into text."""
    language: str = ""
    """Code of the language of agents' messages (`Organisation.talk_language`); empty for the reader's."""
    people: tuple[int, ...] = ()
    """The numbers of the members who are people."""
    turn: SpeakingTurn | None = None
    """Whose turn it is while this person has to choose. None if everybody may choose."""

    @property
    def waits_to_speak(self) -> bool:
        """Return True if this person has to wait because it is another member's turn."""
        return self.turn is not None and self.turn.speaker != self.member


@dataclass(frozen=True, slots=True)
class JobsView:
    """The jobs that a person gave or was given, and the members that the person leads."""

    listed: tuple[Job, ...] = ()
    """The jobs that this person was given or gave: all open ones, and the newest others."""
    led: bool = False
    """True if others may give this person jobs."""
    leaders: tuple[int, ...] = ()
    """Members who may give this person jobs."""
    leads: tuple[int, ...] = ()
    """Members to whom this person may give jobs."""
    led_by: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """The other members to whom each member may give jobs, for members to whom this person may give jobs."""
    aims: Mapping[int, Sequence[Aim]] = field(default_factory=dict)
    """The aims that each member can be asked to reach, for members to whom this person may give jobs
    (`World.aims`)."""
    seats_of: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """The seats that each member commands, for members to whom this person may give jobs."""
    is_known: bool = True
    """False if jobs are left out, in a page that was loaded and is not connected yet."""
    can_wait_for_leaders: bool = False
    """True if steps wait for people who lead without a seat (`Organisation.asks_leaders`)."""
    seen: Mapping[int, Mapping[str, Json]] = field(default_factory=dict)
    """Observations of other seats that this person may see as their leader (`Organisation.seats_seen`). A
    world in which all seats see the same does not show them."""


@dataclass(frozen=True, slots=True)
class ResultView:
    """The metrics of the episode, and how it ended."""

    score: Mapping[str, Json]
    achieved: tuple[tuple[str, str], ...] = ()
    """The score in words: pairs (number, what it counts)."""
    figures: tuple[Metric, ...] = ()
    """The metrics of the score that participants see (`Metric.words`); the same for the whole episode."""
    until: bool = False
    """True if the episode ends as soon as its goal is reached (`Practice.until`). False if it ends at its
    last step."""
    reached: bool = False
    """True if it ended because the goal was reached."""
    world: str = ""
    """The name of the world."""
    star_targets: StarTargets | None = None
    """The results for one, two and three stars. None: no stars."""
    early_end: tuple[tuple[str, str], ...] = ()
    """The goal of a round that ends it early, in words: pairs (number, what it counts)."""
    has_early_end: bool = False
    """True if the goal of a round ends it early. Then `until` is False: the texts of practice do not fit."""
    ended_by_staff: bool = False
    """True if staff ended the episode."""
    abandoned_because: str = ""
    """The reason if the episode ended because somebody was gone; completes “The game was ended because …”.
    Empty otherwise."""
    ended_technically: bool = False
    """True if the program ended the episode, because the money for its language model did not suffice."""


class AskedProbe(NamedTuple):
    """A probe that holds the game, with its items in the reader's language."""

    key: str
    items: tuple[ProbeItem, ...]


class ProbesView(NamedTuple):
    """The questions that hold the game, as one person sees them."""

    asked: tuple[AskedProbe, ...] = ()
    """The questions that this person has to answer now."""
    step: int = 0
    """The number of steps after which the game is held."""
    limit_seconds: int = 0
    """The time for all answers."""
    is_on: bool = False
    """True while the game is held."""


@dataclass(frozen=True, slots=True)
class SeatView:
    """Everything that the page of one seat shows."""

    seat: int
    phase: str
    """`choose` (this seat must command), `answer` (this seat is busy, but has to answer a message), `waiting`
    (for other people), `thinking` (co-players decide), `lead` (this person has no seat and instructs others),
    `over` (the episode has ended)."""
    step: int
    """Number of steps taken."""
    length: int | None
    """Number of steps of the whole episode; None if it has no fixed end."""
    label: str
    """The neutral name of the team."""
    players: tuple[PlayerView, ...]
    waiting_for: tuple[int, ...]
    """Seats whose command is still missing, and leaders without a seat for whom the step waits."""
    brief: Mapping[str, Json]
    observation: Mapping[str, Json]
    history: tuple[StepView, ...]
    """The last steps, newest first."""
    result: ResultView
    public_state: Mapping[str, Json] = field(default_factory=dict)
    """What anybody may know of the present state (`World.public_state`). Only for a person without a seat."""
    picture: Mapping[str, Json] = field(default_factory=dict)
    """Data for the drawing that the observation lacks (`World.picture`). Empty if the world is shown in
    tables only."""
    choice: ChoiceView = ChoiceView()
    timing: TimingView = TimingView()
    plans: PlansView = PlansView()
    talk: TalkView = TalkView()
    jobs: JobsView = JobsView()
    shown: str = DRAWING_TABLES
    """The way in which this person's page shows the world: a value that `Page.shown` returns; the same for
    the whole episode."""
    marks_actions: bool = True
    """True if the page marks the actions that advance an order, in worlds that know them."""
    probes: ProbesView | None = None
    """The questions that hold the game. None in an episode without any."""
    order_choices: bool = False
    """True if the page offers whole parts of an order as one choice, in worlds that know them."""
    acts: bool = True
    """True if this person has a seat of the world. If not, `seat` is not a seat."""
    looks_on: bool = False
    """True if a person without a seat watches. `observation` is then that of the first seat that they may
    see (`Organisation.sees`), with that seat's events. Otherwise `observation` and `history` are empty for
    them."""
    taken_over: tuple[tuple[int, int, str], ...] | None = None
    """Seats that co-players took over from people who were `away` or have `left`: (seat, first step for which
    a co-player chose, reason). None in an episode in which this cannot happen."""
    away: frozenset[int] = frozenset()
    """Seats of other people whose page is not connected at the moment."""
    turned_away: frozenset[int] = frozenset()
    """Seats of other people who have turned away from the game, for example to another page."""
    news_is_late: bool = False
    """True if a part of the server is unreachable. News then arrives every few seconds only, and co-players
    may answer later."""

    @property
    def is_leader_awaited(self) -> bool:
        """Return True if this person leads without a seat and the step waits for this person."""
        return self.phase == "lead" and self.seat in self.waiting_for
