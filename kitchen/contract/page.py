"""Define the `Page` interface: how a browser shows a world, and how a person gives commands.

A `SeatView` has all that one player may see. A world's `Page` turns it into panels, which are parts of the
HTML page. After a step, only changed panels are sent. Templates are Jinja2.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from kitchen.contract.assigned_jobs import Job
from kitchen.contract.probes import ProbeItem
from kitchen.contract.star_targets import StarTargets
from kitchen.contract.team_messages import REQUESTS_KEY, TeamMessage, commands_in
from kitchen.contract.world import Aim, Command, Event, Intent, Json, Metric, World
from kitchen.words.gettext_without_django import gettext, gettext_lazy, gettext_noop, pgettext

DRAWING_TABLES, DRAWING_ONLY, DRAWING_AND_TABLES = "tables", "drawn", "both"
"""The ways to show a world: in tables, as a drawing, or as a drawing with the tables one click away."""


class TypedTextError(ValueError):
    """Raised if a text that a person typed contains no valid commands. The message explains why, in the
    reader's language."""


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


class Beat(NamedTuple):
    """One beat of a person's first game, such as *Move*: a title, and what to do in one or two sentences."""

    name: str
    title: str
    by_keys: str
    """What to do with keys or the mouse."""
    by_touch: str
    """Instruction for a touch screen."""


class PublicFact(NamedTuple):
    """One fact of the present state that anybody may know, as text."""

    label: str
    values: tuple[str, ...]
    """The page shows each value on a line of its own. Without values it says that there are none."""


class NoContent(NamedTuple):
    """The content of a panel that consists only of parts."""


class Panel(NamedTuple):
    """A part of the HTML page that is replaced as a whole when its content changes."""

    id: str
    """The panel's HTML id. The template renders exactly one element, which begins with `<tag id="…"`."""
    template: str
    shows: NamedTuple
    """All its content, in hashable values of one type for each field. The template gets these fields, its
    `id`, and nothing else. Equal panels look the same to every viewer."""
    make: Callable[[Any], Mapping[str, Json]] | None = None
    """A function that computes the template's input from `shows` alone, where this takes work. It is called
    when the panel is drawn, which for equal panels happens once."""
    parts: tuple[Panel, ...] = ()
    """Panels within this one that change on their own. The template gets their HTML by id as `parts` and may
    place them anywhere. A part never moves into another panel. The page remembers a part that disappears,
    because it may return."""


class Page(ABC):
    """The base class of all pages: how a browser shows one world."""

    layout: ClassVar[str]
    """Template that arranges the panels. It gets their HTML as `panels` (by id), including the panels that
    all worlds have (`kitchen/play/live/common_panels.py`), and `shown` as in `SeatView`. Where `shown` is
    `both`, `kitchen/play/views.jinja` has links from one element with `data-view` to the other. Where plans
    are offered (`World.plannable`), there is a panel `plan`: place `kitchen/play/plan_slot.jinja` beside the
    menu. Where the others' intents are shown, there is a panel `plans`.

    It contains the panel `menu`: a form with `ws-send` and the fields `type` (`command`) and `step`. The form
    has a `fieldset` with `data-actions`. In it is a `label` with a radio button `command` for each command,
    and a button with `data-submit`. The words of a radio button (`.action-text` beside it, or its
    `data-text`) are those of its command alone. Its key is in `kbd`. A key in a `legend`, or shared by
    several buttons, moves from one to the next. A command with an amount (`ChoiceView.amounts`) is one
    choice: its label and a number field are in an element with `data-amount` and `data-ask`. `js/amounts.js`
    must be among the scripts.
    """
    overview_layout: ClassVar[str] = ""
    """The layout for a person who watches without a seat (`overview`)."""
    views: ClassVar[tuple[str, ...]] = (DRAWING_TABLES,)
    """The ways in which this world can be shown: `DRAWING_TABLES`, `DRAWING_ONLY`, or both."""
    supports_clock: ClassVar[bool] = True
    """True if the page can be played while a clock takes the steps (`World.tick_ms`)."""
    guide: ClassVar[str]
    """Template of the guide: how to win, what the tables mean, tips. It gets `brief` and `handbook`. It also
    gets booleans: `clocked` (steps have a time limit), `drawn` (there is a picture), `asks_first` (an action
    must be confirmed), and `leads` (the reader only leads others)."""
    title: ClassVar[str] = ""
    """Title over the world's guide in a study of several worlds; by default its name. Like all words of a
    page it is in the reader's language (`kitchen.words.gettext_without_django`)."""
    body: ClassVar[str] = gettext_lazy("player")
    """The thing that a seat commands, in one word: *choose what your player does*."""
    reference: ClassVar[str] = ""
    """Template of a second reference, which gets `brief` and `handbook`; empty if there is none."""
    reference_title: ClassVar[str] = ""
    """Title of the reference: one or two words."""
    settings_differ: ClassVar[str] = gettext_lazy(
        "You will play this in several ways. These instructions are for the first one. For each of the "
        "others, open the guide beside the game."
    )
    """A remark in the guide, where several conditions play this world with different settings."""
    guide_ignores_settings: ClassVar[tuple[str, ...]] = ()
    """Names of choice settings of the world for whose every value the guide explains the same."""
    scripts: ClassVar[tuple[str, ...]] = ()
    """Static paths of the world's own scripts, such as `worlds/<name>/play.js`."""
    styles: ClassVar[tuple[str, ...]] = ()
    """Static paths of its styles, which the guide's page uses too."""
    drawings: ClassVar[str] = "kitchen/play/characters.html"
    """The template of the drawings that its templates and scripts point to, beside those of seats. Empty if
    there are none."""

    cover: ClassVar[str] = ""
    """Static path of a picture of the game, three times as wide as high, for the pages before it. Empty if
    there is none."""
    scene: ClassVar[str] = ""
    """Static path of a module that shows the world in three dimensions (for its exports see
    `worlds/<name>/scene.js`); empty if there is none. The layout then has places that are buttons
    (`data-spot`) on a stage (`data-stage`), from which the scene reads all that it shows."""

    first_steps: ClassVar[tuple[str, ...]] = (
        gettext_noop("Choose the marked action."),
        gettext_noop("Look at what has changed: everybody's choices have been carried out."),
    )
    """Instructions for the first steps: one sentence for each, shown where hints are on. They are marked with
    `gettext_noop` and translated when they are shown."""
    beats: ClassVar[tuple[Beat, ...]] = ()
    """The beats of the first game, in order, for a study that lets people play before they read. The texts
    are marked with `gettext_noop`. Empty: the hints alone lead through the game."""
    beat_of: ClassVar[Mapping[str, str]] = {}
    """The name of the beat to which a purpose belongs, by the code of the purpose (`ChoiceView.purpose`)."""
    aim: ClassVar[str] = gettext_lazy("Practice ends when you have reached the goal, or after the last step.")
    """A sentence about the goal that ends an episode; shown at its second step. `{steps}` is the maximum."""
    missed: ClassVar[str] = gettext_lazy(
        "You have used all steps without reaching the goal. That is all right."
    )
    """Shown where an episode with a goal ended at its last step."""
    marks: ClassVar[str] = ""
    """An explanation of the marks at useful actions, for worlds that have them (`SeatView.marks_actions`)."""
    general_hint: ClassVar[str] = gettext_lazy("Read the guide again whenever you like: it says how to win.")
    """The hint where no good next action is known, unless `hint_without_advice` finds a better one."""

    def named(self, number: int) -> str:
        """Return the displayed name of a seat, such as `Player 1`. `number` counts from 1."""
        name = pgettext("one of several", "{body} {number}").format(body=self.body, number=number)
        return name[:1].upper() + name[1:]

    def shown(self, wanted: str) -> str:
        """Return how the page shows the world: the study's setting `wanted` if the page supports it, else the
        first entry of `views`."""
        return (
            wanted
            if set(self.views) == {DRAWING_TABLES, DRAWING_ONLY} or wanted in self.views
            else self.views[0]
        )

    def hint(self, view: SeatView, command: Command, aim: Mapping[str, str]) -> str:
        """Return a hint that recommends this command. `aim` is the reason (`Advice.aim`)."""
        return gettext("Try this: {command}.").format(command=self.worded(view, command))

    def hinted_next(self, view: SeatView, command: Command, aim: Mapping[str, str]) -> tuple[Command, ...]:
        """Return the commands that the menu offers together with this recommended one, as a single choice
        that sends all of them (a plan). `aim` is the reason. Empty if there is no such choice."""
        return ()

    def hint_without_advice(self, view: SeatView) -> str:
        """Return the hint for a step in which no command can be recommended."""
        return self.general_hint

    def reached(self, view: SeatView) -> str:
        """Return the message for a person whose episode ended because its goal was reached."""
        return gettext("Well done: you have reached the goal.")

    def outcome(self, view: SeatView) -> str:
        """Return a heading that tells how the episode went, for an episode without a goal. If it is empty,
        the page only says that the episode is over."""
        return ""

    def highlights(
        self, brief: Mapping[str, Json], start: Mapping[str, Json], steps: Iterable[Sequence[Event]]
    ) -> tuple[str, ...]:
        """Return sentences about what went well in an episode that is over, the same for the whole team. They
        are no metrics. Empty by default.

        `start` is the public state before the first step (`World.public_state`), `steps` has the events of
        each step.
        """
        return ()

    def cover_of(self, settings: Mapping[str, Json]) -> str:
        """Return the static path of the picture for the pages before a game with these settings of the world.
        By default it is `cover`."""
        return self.cover

    @abstractmethod
    def panels(self, view: SeatView) -> tuple[Panel, ...]:
        """Return the panels in reading order. Their ids are the same in every view; only parts within panels
        may be added or removed."""

    def overview(self, view: SeatView) -> tuple[Panel, ...]:
        """Return the panels for a person who watches without a seat (`SeatView.looks_on`). They have no menu,
        and `overview_layout` arranges them.

        If there are none, the person sees nothing of the world.
        """
        return ()

    def goal(self, brief: Mapping[str, Json]) -> str:
        """Return the goal of the game in one or two sentences. It is for a person who does not see the world.
        Empty by default."""
        return ""

    def part_words(self, brief: Mapping[str, Json]) -> str:
        """Return one sentence about the part of this seat in the team, for the card before a game. Empty by
        default."""
        return ""

    def public_facts(self, view: SeatView) -> tuple[PublicFact, ...]:
        """Return what anybody may know of the present state (`SeatView.public_state`) as text. It is for a
        person who does not see the world.

        Empty by default. The page adds the steps left.
        """
        return ()

    def aimed(self, brief: Mapping[str, Json], aim: Aim) -> str:
        """Return an aim (a goal that a seat can be asked to reach) as an instruction: `Serve salmon
        sushi`."""
        return " ".join(aim)

    def aim_group(self, aim: Aim) -> str:
        """Return the heading under which a list of aims shows this aim; empty by default."""
        return ""

    def usual_aims(self, view: SeatView, aims: Sequence[Aim]) -> Sequence[Aim]:
        """Return the aims that a leader most often gives to a member, most useful first. `aims` are all aims
        of the member. The result depends only on facts of the whole episode, so that buttons never move.

        By default all aims in the order of `World.aims`. The page shows the first ones as buttons.
        """
        return aims

    def wanted_aims(self, view: SeatView) -> Mapping[Aim, int]:
        """Return the aims whose result is wanted now in the world, and how often. Empty by default."""
        return {}

    def brief_before_games(self, briefs: Sequence[Mapping[str, Json]]) -> Mapping[str, Json]:
        """Return the brief that the guide shows before several games of this world. `briefs` holds the brief
        of each game, in their order. By default the first one."""
        return briefs[0]

    def handbook(self, brief: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the texts for the guide and the reference. They describe the brief, the facts that a seat
        knows before the game."""
        return brief

    @abstractmethod
    def phrase(self, command: Command) -> str:
        """Return the command as text for a menu or a history: `Put it into pot 1`."""

    def translated_message(self, message: TeamMessage) -> str:
        """Return the text of a message in the reader's language, if it is one of this world's own sentences
        (`CODE_KEY`). Otherwise return an empty text; the message is then shown as it was written."""
        return ""

    def message_examples(self, view: SeatView) -> tuple[str, ...]:
        """Return two or three messages that the program of a co-player understands, in the reader's language.
        The page shows them beside the message box. Empty by default."""
        return ()

    def guide_sentences(self, brief: Mapping[str, Json]) -> tuple[str, ...]:
        """Return sentences that the programs of co-players understand, in the reader's language. The guide
        lists them where people may write to such a co-player. Empty by default."""
        return ()

    def quick_replies(self, view: SeatView) -> tuple[str, ...]:
        """Return messages that the page sends with one press, in the reader's language. They fit the present
        state, and the program of a co-player understands them. By default the examples of
        `message_examples`."""
        return self.message_examples(view)

    def requests_in_words(self, data: Mapping[str, Json]) -> str:
        """Return the commands that a message requests as text, with semicolons between. Empty if it requests
        none."""
        return "; ".join(map(self.phrase, commands_in(data, REQUESTS_KEY)))

    def requests_named(self, data: Mapping[str, Json]) -> str:
        """Return what a message requests, as participants read it among their messages. By default, all its
        commands in words."""
        return self.requests_in_words(data)

    def read_typed(self, world: World, seat: int, text: str, *, asks: bool, most: int) -> tuple[Command, ...]:
        """Return the commands in a text that the person in this seat typed: commands for the coming steps or,
        with `asks`, requests to the teammate.

        Raises TypedTextError if a command is not possible, or if there are more than `most`. By default it is
        always raised, because most worlds have no typed commands.
        """
        raise TypedTextError(gettext("Choose an action first."))

    def worded(self, view: SeatView, command: Command) -> str:
        """Return the command as text, with the names that things have in this view. Use this instead of
        `phrase` if a view is at hand."""
        return self.phrase(command)

    def plan_group(self, command: Command) -> str:
        """Return the heading under which the list of commands to plan shows this command; empty by
        default."""
        return ""

    def plan_facts(self, view: SeatView) -> str:
        """Return facts about this seat now on which it depends what it can do next: `at=pot0 hands=full`.
        The page uses them to list only possible commands (`plan_effect`). Empty by default."""
        return ""

    def plan_effect(self, view: SeatView, command: Command) -> tuple[str, str]:
        """Return (needs, makes) of a command to plan: the facts that must hold before it, and those that
        hold after it, in the form of `plan_facts`. `at!=pot0` needs that the fact is another one. Both are
        empty by default: the command is then always listed."""
        return "", ""

    def under_way(self, view: SeatView) -> Command | None:
        """Return this seat's command that is not finished yet, to show it before the planned ones. None if
        there is none, as where commands last one step."""
        return None
