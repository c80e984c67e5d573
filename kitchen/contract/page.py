"""Define the `Page` interface: how a browser shows a world and how a person gives commands.

All worlds share the frame with connection, clock and leaving (`templates/kitchen/play/`). A world's `Page`
turns a `SeatView` into panels. The whole page is sent on loading; after a step only changed panels are
sent. A panel is drawn from its content alone, so it is drawn once for all pages that show the same.
Templates are Jinja2. Plain Python, no Django.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from kitchen.contract.assigned_jobs import Job
from kitchen.contract.team_messages import TeamMessage
from kitchen.contract.world import Aim, Command, Event, Intent, Json, Metric
from kitchen.words.translation import gettext, gettext_lazy, gettext_noop, pgettext

DRAWING_TABLES, DRAWING_ONLY, DRAWING_AND_TABLES = "tables", "drawn", "both"
"""How a world is shown: in tables, as a drawing, or the drawing with the tables one glance away."""


@dataclass(frozen=True, slots=True)
class PlayerView:
    """One seat as everybody at the table may know it: never what kind of mind plays it."""

    seat: int
    name: str
    """As shown: `Player 1` (see `Page.named`)."""
    is_you: bool


@dataclass(frozen=True, slots=True)
class StepView:
    """One step of the past, for *what just happened*."""

    number: int
    """1 for the first step."""
    commands: Mapping[int, Command]
    events: tuple[Event, ...]
    ran_out: bool = False
    """Time ran out for this seat before it had commanded."""


@dataclass(frozen=True, slots=True)
class SeatView:
    """Everything that the page of one seat shows."""

    seat: int
    phase: str
    """`choose` (this seat is to command), `waiting` (for other people), `thinking` (co-players decide),
    `lead` (this person has no seat of the world, and says what others are to do), `over` (the episode has
    ended)."""
    step: int
    """Steps taken."""
    length: int | None
    """Steps of the whole episode, None if it has no fixed end."""
    label: str
    """The neutral name of the team."""
    players: tuple[PlayerView, ...]
    waiting_for: tuple[int, ...]
    """Seats whose command is still missing."""
    brief: Mapping[str, Json]
    observation: Mapping[str, Json]
    legal: Sequence[Command]
    anticipated: Sequence[Command]
    chosen: Command | None
    """The command that this seat has given for the coming step, if it has."""
    history: tuple[StepView, ...]
    """The last steps, newest first."""
    score: Mapping[str, Json]
    achieved: tuple[tuple[str, str], ...] = ()
    """The score in words: (number, what it counts)."""
    figures: tuple[Metric, ...] = ()
    """The figures of the score that people read (`Figure.words`); the same for the whole episode."""
    step_seconds: float | None = None
    """Time of people for a step, None where they take as long as they want."""
    seconds_left: float | None = None
    """What is left of it while this seat is to command; None where the clock does not run."""
    ended_by_staff: bool = False
    """The episode did not end by itself."""
    abandoned_because: str = ""
    """Nor here: somebody was gone. What completes “It was ended because …”; empty else."""
    hints: tuple[str, ...] = ()
    """Sentences on what would be good to do next, where hints are on."""
    hinted: Command | None = None
    """The command that the last of them is about, if there is one: the page marks it and its place."""
    until: bool = False
    """The episode ends as soon as its goal is reached (`Practice.until`), and at its last step otherwise."""
    reached: bool = False
    """It has ended so."""
    shown: str = DRAWING_TABLES
    """What this person's page has of the world: one of what `Page.shown` gives; the same for the whole
    episode."""
    amounts: Mapping[Command, tuple[int, int]] = field(default_factory=dict)
    """Commands of `legal` whose last word is an amount: each without that word, with the least and the most
    amount (`World.amounts`)."""
    passed_by: bool = False
    """This seat has nothing to choose in the open step."""
    may_act: bool = False
    """This seat is not asked, but may act: interrupt what it is doing."""
    shows_intents: bool = False
    """The page says what the others are about to do; the same for the whole episode."""
    plans: Mapping[int, Sequence[Command]] = field(default_factory=dict)
    """What seats do after the open step without being asked: this one's own plan, and of the others, where
    the page says what they are about to do, what this seat may know."""
    offers_plans: bool = False
    """The page offers to choose what follows; the same for the whole episode."""
    plannable: Sequence[Command] = ()
    """What can be chosen to follow (`World.plannable`), where it does and this seat is to command."""
    intents: Mapping[int, Intent] = field(default_factory=dict)
    """Where it does: what other seats said, when they decided on the last step, that they will do next. It
    was settled before this seat chooses, and is never the command of the open step. A seat that said nothing
    is left out, and the page makes nothing up for it."""
    member: int | None = None
    """Who this seat's person is among the members of the episode; None where nobody writes to anybody."""
    members: Mapping[int, str] = field(default_factory=dict)
    """Every member, as it is called."""
    addressees: tuple[int, ...] = ()
    """Members to whom this person may write."""
    unread: tuple[int, ...] = ()
    """Those of them who do not read what is written to them (`Agent.reads_words`)."""
    only_jobs: tuple[int, ...] = ()
    """Those of `unread` who do jobs with an aim (`Agent.pursues`)."""
    one_partner: bool = False
    """This person talks with one at a time (`kitchen.contract.team_messages`)."""
    partner: int | None = None
    """With whom this person talks now, where that is so; None for nobody."""
    messages: tuple[TeamMessage, ...] = ()
    """What this person has said and heard, in order: the newest."""
    spoken: bool = False
    """The page offers to turn this person's speech into text."""
    seen: Mapping[int, Mapping[str, Json]] = field(default_factory=dict)
    """What other seats see that this person may see, too, since they lead (`Organisation.seats_seen`). A
    world in which all see the same shows nothing of it."""
    leads: tuple[int, ...] = ()
    """Members whom this person may give jobs."""
    led: bool = False
    """Others may give this person jobs."""
    taken_over: tuple[tuple[int, int, str], ...] | None = None
    """Seats that co-players took over from people who were `away` or have `left`: the seat, the first step
    for which a co-player chose, and why. None where that never happens, throughout the episode."""
    jobs: tuple[Job, ...] = ()
    """Those that this person was given or gave: all that are open, and the newest others."""
    aims: Mapping[int, Sequence[Aim]] = field(default_factory=dict)
    """By member that this person may give jobs: what of the world each can be asked for (`World.aims`)."""
    seats_of: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """By member that this person may give jobs: the seats that it commands."""
    acts: bool = True
    """This person has a seat of the world; if not, there is nothing to choose, and `seat` is none of it."""
    tick_ms: int | None = None
    """A clock takes the steps, one every so many milliseconds (`World.tick_ms`): there is nothing to choose,
    and what is pressed counts at once. None: steps wait for everybody."""
    looks_on: bool = False
    """They have none, and see `observation`, that of the first seat that they may see (`Organisation.sees`),
    and what that seat got to know; without it `observation` and `history` are empty."""


class NoContent(NamedTuple):
    """What a panel shows in which only its parts change."""


class Panel(NamedTuple):
    """A part of the page that changes as a whole."""

    id: str
    """Its HTML id. The template renders exactly one element, which begins with `<tag id="…"`."""
    template: str
    shows: NamedTuple
    """All that it shows, in hashable values of one type for each field: the template gets these fields, its
    `id`, and nothing else. Panels that are equal look the same, whoever sees them."""
    make: Callable[[Any], Mapping[str, Json]] | None = None
    """A function that makes of `shows` alone what the template gets instead, where that takes work: it is
    called when the panel is drawn, which for equal panels happens once."""
    parts: tuple[Panel, ...] = ()
    """Panels within this one, which change without it. The template puts them where it likes: it gets their
    HTML by id as `parts`. A part never moves into another panel; one that goes may come back, and is
    remembered by the page."""


class Page(ABC):
    """The browser's side of one world."""

    layout: ClassVar[str]
    """Template that arranges the panels; gets their HTML as `panels` (by id), those that all worlds have
    (`SHELL` in `kitchen/play/live/shared_panels.py`) among them, and `shown` as `SeatView` has it: where that
    is `both`, `kitchen/play/views.jinja` leads from one element with `data-view` to the other. Where plans
    are offered (`World.plannable`), `plan` is one of them: `kitchen/play/plan_slot.jinja` has it, for a place
    beside the menu. Where it is shown what the others are about to do, so are their plans: `plans`.

    It holds the panel `menu`: a form with `ws-send`, in it the fields `type` (`command`) and `step`, a
    `fieldset` with `data-actions` and in it a `label` with a radio button `command` for each command, and a
    button with `data-submit`. A radio button's words (`.action-text` beside it) are those of its command
    alone, or `data-text` has them. Its key is in `kbd`; a key in a `legend`, or one that several have, leads
    from one to the next. A command with an amount (`SeatView.amounts`) is one choice: its label and a number
    field stand in an element with `data-amount` and `data-ask`, and `js/amounts.js` is among the scripts."""
    overview_layout: ClassVar[str] = ""
    """Likewise for somebody who looks on (`overview`), of whose panels alone it gets the HTML."""
    views: ClassVar[tuple[str, ...]] = (DRAWING_TABLES,)
    """In which ways this world can be shown: `TABLES`, `DRAWN`, or both of them."""
    supports_clock: ClassVar[bool] = True
    """The page can be played while a clock takes the steps (`World.tick_ms`)."""
    guide: ClassVar[str]
    """Template of the guide: how to win, what the tables mean, tips. Gets `brief`, `handbook`, and whether
    steps have a time limit as `clocked`, whether there is a picture as `drawn`, whether an action is
    asked for once more before it is sent as `asks_first`, and whether who reads only leads as `leads`."""
    title: ClassVar[str] = ""
    """What this world is called over its guide, where a study plays several; by default its name. As all
    words of a page, in the language of whoever reads (`kitchen.words.translation`)."""
    body: ClassVar[str] = gettext_lazy("player")
    """What a seat commands, in one word: *choose what your player does*."""
    reference: ClassVar[str] = ""
    """Template of a second reference that can be opened beside play; empty if there is none. Gets `brief` and
    `handbook`."""
    reference_title: ClassVar[str] = ""
    """What it is called: one or two words."""
    settings_differ: ClassVar[str] = gettext_lazy(
        "You will play this in several ways. What is said here holds for the first one; in each of the "
        "others, the guide that you can open beside the game is what counts there."
    )
    """What to know of the guide where several conditions play this world with other settings."""
    scripts: ClassVar[tuple[str, ...]] = ()
    """Static paths of the world's own scripts, such as `worlds/<name>/play.js`."""
    styles: ClassVar[tuple[str, ...]] = ()
    """Likewise its styles, on the page of the guide too."""

    scene: ClassVar[str] = ""
    """Static path of a module that gives the world its looks in three dimensions (what it exports:
    `worlds/<name>/scene.js`); empty if it is not shown so. The layout then holds places that are buttons
    (`data-spot`) on a stage (`data-stage`), from which all that the scene shows is read."""

    first_steps: ClassVar[tuple[str, ...]] = (
        gettext_noop("Choose the marked action."),
        gettext_noop("Look at what has changed: everybody's choices have been carried out."),
    )
    """How the page is used: a sentence for each of the first steps, shown where hints are on; `marked`, and
    looked up when they are shown."""
    aim: ClassVar[str] = gettext_lazy("It ends as soon as you have reached the goal, or after the last step.")
    """When an episode with a goal ends; said at its second step, with `{steps}` for how many it has
    at most."""
    missed: ClassVar[str] = gettext_lazy(
        "The steps are over, and the goal was not reached yet. That is all right."
    )
    """What is said where an episode with a goal ended at its last step."""
    general_hint: ClassVar[str] = gettext_lazy("Read the guide again whenever you like: it says how to win.")
    """The hint where nobody can say what would be good to do."""

    def named(self, number: int) -> str:
        """How a seat is called, by its number from 1: `Player 1`."""
        name = pgettext("one of several", "{body} {number}").format(body=self.body, number=number)
        return name[:1].upper() + name[1:]

    def shown(self, wanted: str) -> str:
        """What somebody sees of this world where `wanted` was set: a world offers only what it has."""
        return (
            wanted
            if set(self.views) == {DRAWING_TABLES, DRAWING_ONLY} or wanted in self.views
            else self.views[0]
        )

    def hint(self, view: SeatView, command: Command, aim: Mapping[str, str]) -> str:
        """This command, as an adviser gave it with its aim (`Advice`), and why it is good, in a sentence."""
        return gettext("Try this: {command}.").format(command=self.phrase(command))

    def reached(self, view: SeatView) -> str:
        """What is said to somebody whose episode ended because its goal was reached."""
        return gettext("Well done: you have reached the goal.")

    @abstractmethod
    def panels(self, view: SeatView) -> tuple[Panel, ...]:
        """The panels in reading order; the same ids for every view of an episode, but for those of parts."""

    def overview(self, view: SeatView) -> tuple[Panel, ...]:
        """The panels for somebody who looks on without a seat (`SeatView.looks_on`), likewise, and none of a
        menu: they stand in `overview_layout`. None: nothing is shown of the world."""
        return ()

    def goal(self, brief: Mapping[str, Json]) -> str:
        """What all is about, in a sentence or two, for somebody who sees nothing of the world; empty: nothing
        is said of it."""
        return ""

    def aimed(self, brief: Mapping[str, Json], aim: Aim) -> str:
        """What somebody is asked to bring about, in words, as one tells them: `Serve salmon sushi`."""
        return " ".join(aim)

    def aim_group(self, aim: Aim) -> str:
        """Over which words an aim stands in a list to choose from."""
        return ""

    def handbook(self, brief: Mapping[str, Json]) -> Mapping[str, Json]:
        """What guide and reference show of a brief, already in words: templates cannot look names up."""
        return brief

    @abstractmethod
    def phrase(self, command: Command) -> str:
        """The command in words for a menu or a history: `Put it into pot 1`."""

    def worded(self, view: SeatView, command: Command) -> str:
        """The command in words beside this view, in which things may have names of their own."""
        return self.phrase(command)
