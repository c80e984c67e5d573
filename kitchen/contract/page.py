"""Define the `Page` interface: how a browser shows a world, and how a person gives commands.

A `SeatView` (`kitchen.contract.page_view`) has all that one player may see. A world's `Page` turns it into
panels, which are parts of the HTML page. After a step, only changed panels are sent. Templates are Jinja2.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from kitchen.contract.page_view import DRAWING_ONLY, DRAWING_TABLES, SeatView
from kitchen.contract.team_messages import REQUESTS_KEY, TeamMessage, commands_in
from kitchen.contract.world import Aim, Command, Event, Json, World
from kitchen.words.gettext_without_django import gettext, gettext_lazy, gettext_noop, pgettext


class TypedTextError(ValueError):
    """Raised if a text that a person typed contains no valid commands. The message explains why, in the
    reader's language."""


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
