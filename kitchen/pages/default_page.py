"""Show any turn-based world on a ready-made page: results, observation, last steps, and a command menu.

`PAGE = DefaultPage()` is a complete page. A world can pass `title` and `rules` (the paragraphs of the guide).
A subclass can override:

- `names`: texts for codes;
- `commands`: texts for commands, by verb;
- `events`: texts for the world's own events;
- `reasons`: texts for the reasons why a command is refused;
- `verbs`: the verbs that come first in the menu;
- `keys`: keys of the menu, by verb;
- `makers`: the functions that create the panels.

Real-time worlds need `kitchen.pages.grid_page`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from kitchen.contract.page import Page, Panel
from kitchen.contract.page_view import PlayerView, SeatView, StepView
from kitchen.contract.world import Aim, Command, Event, Json, canonical_json, text_hash
from kitchen.pages.json_tables import facts_and_tables, value_text
from kitchen.words.english_text import code_to_words, sentence_case
from kitchen.words.gettext_without_django import gettext, gettext_lazy

_TEMPLATES = "kitchen/pages"
MEASURE_WORD = re.compile("^[个次件份道](?=..)")
"""A Chinese word between a number and what it counts. A label without a number leaves it out. Words of two
characters that begin so, such as 次数, are kept."""


class CommandMenu(NamedTuple):
    """The command form of one seat."""

    seat: int
    player: str
    may_act: bool
    """True if this seat is not asked but may still act."""


class MenuStep(NamedTuple):
    """The number of the step for which a command is chosen."""

    step: int


class CommandGroup(NamedTuple):
    """A group of commands with the same verb in the menu. `actions` are the ids of the panels of its
    commands."""

    title: str
    key: str
    """The key that moves from one of them to the next; empty if each has its own."""
    actions: tuple[str, ...]


class CommandList(NamedTuple):
    """The groups of commands that this seat can choose. `chosen` is the command that the seat has already
    chosen, as text."""

    choosing: bool
    chosen: str
    groups: tuple[CommandGroup, ...]


class CommandChoice(NamedTuple):
    """One command in the menu. If `least` and `most` are not None, the person also enters an amount
    between them."""

    value: str
    text: str
    key: str
    anticipated: str
    """A remark on a command that another seat must make possible; empty for one that is possible now."""
    least: int | None
    most: int | None
    places: str
    """The places of a drawing that it is about, separated by spaces; empty: its first argument."""
    useful: int | None = None
    """The amount that the button *Most* enters; None: `most`."""
    asks: bool = False
    """True if one click marks it, and only a second step sends it."""


class MenuHint(NamedTuple):
    """The sentence below the button of the menu."""

    choosing: bool
    chosen: str


def may_choose(view: SeatView) -> bool:
    """Return whether this seat may submit a command now."""
    return view.phase == "choose" or view.choice.may_act


class StepList(NamedTuple):
    """The numbers of the past steps that the history lists, newest first."""

    steps: tuple[int, ...]


class SeatLine(NamedTuple):
    """The command of one seat in a past step and, if it was refused, the reason. Without a `name`, the text
    is a whole sentence."""

    seat: int
    name: str
    text: str
    why: str


class PastStep(NamedTuple):
    """One past step in the history: a line for each seat, and other events as (kind, text)."""

    number: int
    lines: tuple[SeatLine, ...]
    news: tuple[tuple[str, str], ...]
    last: int = 0
    """The number of the last step, if the entry describes several equal steps that begin with `number`."""
    is_sum: bool = False
    """True if the lines tell what happened in all these steps together. False: they repeat in each step."""

    @property
    def is_eventless(self) -> bool:
        """Return True if the step has no events besides the commands, and no command was refused."""
        return not self.news and not self.is_sum and not any(line.why for line in self.lines)


class SpokenStep(NamedTuple):
    """The text that a screen reader reads aloud after a step."""

    text: str


def history_panel(
    view: SeatView,
    past_step: Callable[[StepView], PastStep],
    lasting: Collection[Command] = (),
) -> Panel:
    """Return the panel of the last steps. `past_step` converts a step to its entry in the history.

    Equal steps in a row become one entry if all seats gave commands that are in `lasting`.
    """
    steps: list[PastStep] = []
    for step in view.history:  # the newest first
        entry, is_lasting = past_step(step), bool(step.commands) and set(step.commands.values()) <= {*lasting}
        newer = steps[-1] if steps else None
        if newer and is_lasting and entry.is_eventless and newer.lines == entry.lines and newer.is_eventless:
            steps[-1] = entry._replace(last=newer.last or newer.number)
        else:
            steps.append(entry)
    parts = tuple(Panel(f"past-{step.number}", f"{_TEMPLATES}/past.jinja", step) for step in steps)
    shows = StepList(tuple(step.number for step in steps))
    return Panel("happened", f"{_TEMPLATES}/happened.jinja", shows, parts=parts)


def spoken_panel(view: SeatView, past_step: Callable[[StepView], PastStep]) -> Panel:
    """Return the panel with the text for screen readers after a step: why this person's command was refused,
    and the other events.

    `past_step` converts a step to its entry in the history.
    """
    texts: list[str] = []
    if view.history:
        last = past_step(view.history[0])
        texts = [line.why for line in last.lines if line.seat == view.seat and view.acts and line.why]
        texts += [text for _, text in last.news]
    return Panel("spoken", f"{_TEMPLATES}/spoken.jinja", SpokenStep(joined_sentences(texts)))


def joined_sentences(texts: Sequence[str]) -> str:
    """Return these texts one after another, with one full stop between two, whether they end with one or
    not."""
    return ". ".join([*(text.rstrip(".。") for text in texts[:-1]), *texts[-1:]])


PanelMaker = Callable[[SeatView], Panel]
"""Return a panel for a view."""


class ScoreContent(NamedTuple):
    """The results so far, as (number, unit) pairs, such as (`3`, `Orders completed`)."""

    achieved: tuple[tuple[str, str], ...]


class _TranslatedText:
    """A descriptor that translates a world's text into the reader's language."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = f"_{name}"

    def __get__(self, page: Any, kind: type | None = None) -> str:
        return gettext(text) if (text := getattr(page, self.name, "")) else ""


class DefaultPage(Page):
    """A page that can show any world. It uses the world's brief (the facts that never change), its
    observations and its commands. Subclass it to change parts of the page."""

    layout = f"{_TEMPLATES}/layout.jinja"
    overview_layout = f"{_TEMPLATES}/overview.jinja"
    guide = f"{_TEMPLATES}/guide.jinja"
    supports_clock: ClassVar[bool] = False
    styles: ClassVar[tuple[str, ...]] = ("css/world.css",)
    scripts: ClassVar[tuple[str, ...]] = ("js/amounts.js",)
    title: ClassVar[str] = _TranslatedText()  # type: ignore[assignment] # what one gets of the attribute
    asked_verbs: ClassVar[tuple[str, ...]] = ()
    """Verbs of commands that one click never sends, because they undo what somebody has done."""
    if_possible = gettext_lazy("if somebody else makes it possible first")
    """The remark on a command that is not possible now, but may be when this seat acts."""

    names: Mapping[str, str] = {}
    """Words for codes within a sentence: `{"lamp2": gettext_noop("the red lamp")}`."""
    commands: Mapping[str, str] = {}
    """Words for commands, by verb. Arguments replace the braces, in their order: `{"light":
    gettext_noop("Light {}")}`. By default a command is shown as its words, one after another."""
    events: Mapping[str, str] = {}
    """Words for the world's own events, by kind. `{player}` is the seat's name. Other names in braces are
    data of the event, empty if it has none of that name: `{"lit": gettext_noop("{player} has lit
    {lamp}.")}`."""
    reasons: Mapping[str, str] = {}
    """The reasons why commands are refused, as texts by code; marked with `gettext_noop`."""
    lasting_commands: ClassVar[tuple[Command, ...]] = ()
    """Commands that go on with an action of several steps. In the history, equal steps in a row in which all
    seats gave one of them are one entry."""
    verbs: tuple[str, ...] = ()
    """Verbs whose groups come first in the menu, in this order."""
    last_verbs: tuple[str, ...] = ()
    """Verbs whose groups come last in the menu."""
    keys: Mapping[str, str] = {}
    """Keys of the menu, by verb. By default, a verb's key is its first letter. A key of several groups moves
    through the commands of all of them."""

    def __init__(self, *, title: str = "", rules: tuple[str, ...] = ()) -> None:
        if title:
            self._title = title
        if rules:
            self.rules = rules

    rules: tuple[str, ...] = ()
    """Paragraphs of the guide, the goal first; marked with `gettext_noop`."""

    # panels

    def makers(self, view: SeatView) -> tuple[PanelMaker, ...]:
        """Return the functions that create the panels of this page, in reading order. Each takes the view
        of a seat."""
        return (self.score, self.seen_panel, self.story, self.menu, self.spoken)

    def panels(self, view: SeatView) -> tuple[Panel, ...]:
        """Return all panels of this seat's page, in reading order."""
        return tuple(make(view) for make in self.makers(view))

    def overview(self, view: SeatView) -> tuple[Panel, ...]:
        """Return the panels for a person who only watches: all but the command menu."""
        return tuple(make(view) for make in self.makers(view) if make != self.menu)

    def score(self, view: SeatView) -> Panel:
        """Return the panel of the results so far."""
        achieved = tuple(
            (number, sentence_case(MEASURE_WORD.sub("", name))) for number, name in view.result.achieved
        )
        return Panel("score", f"{_TEMPLATES}/score.jinja", ScoreContent(achieved))

    def seen_panel(self, view: SeatView) -> Panel:
        """Return the panel that shows the seat's observation as facts and tables."""
        return Panel("seen", f"{_TEMPLATES}/seen.jinja", facts_and_tables(self.seen(view), self.word))

    def story(self, view: SeatView) -> Panel:
        """Return the panel of the last steps (the history)."""
        return history_panel(view, lambda step: self.past(step, view), self.lasting_commands)

    def spoken(self, view: SeatView) -> Panel:
        """Return the panel with the text for screen readers after a step."""
        return spoken_panel(view, lambda step: self.past(step, view))

    def menu(self, view: SeatView) -> Panel:
        """Return the panel of the command menu. Raises ValueError in a real-time world, which needs a page
        with keys (`GridPage`)."""
        if view.timing.tick_ms is not None:
            raise ValueError("a world under a clock needs a page that declares its keys (GridPage)")
        chosen = self.worded(view, view.choice.chosen) if view.choice.chosen else ""
        groups, actions = self.command_groups(view)
        offered, hint = CommandList(may_choose(view), chosen, groups), MenuHint(may_choose(view), chosen)
        parts = (
            Panel("menu-step", f"{_TEMPLATES}/menu_step.jinja", MenuStep(view.step + 1)),
            Panel("menu-actions", f"{_TEMPLATES}/menu_actions.jinja", offered, parts=actions),
            Panel("menu-hint", f"{_TEMPLATES}/menu_hint.jinja", hint),
        )
        shows = CommandMenu(view.seat, view.players[view.seat].name, view.choice.may_act)
        return Panel("menu", f"{_TEMPLATES}/menu.jinja", shows, parts=parts)

    def command_groups(
        self, view: SeatView, without: Container[Command] = ()
    ) -> tuple[tuple[CommandGroup, ...], tuple[Panel, ...]]:
        """Return the commands that this seat can choose, grouped by verb, and a panel for each command.

        Commands in `without` are left out. Commands that another seat must first make possible are
        included, with a remark.
        """
        offered = {command: "" for command in view.choice.legal if command not in without}
        for command in view.choice.anticipated:
            if command not in without:
                offered.setdefault(command, self.if_possible)
        verbs: dict[str, list[Command]] = {verb: [] for verb in self.verbs}
        for command in offered:
            verbs.setdefault(self.verb_group(command), []).append(command)
        for verb in filter(verbs.__contains__, self.last_verbs):
            verbs[verb] = verbs.pop(verb)
        parts = {command: self._choice(command, view, note) for command, note in offered.items()}
        groups = (
            CommandGroup(
                self._group_title(verb, verbs), self.menu_key(verb), tuple(parts[one].id for one in commands)
            )
            for verb, commands in verbs.items()
            if commands
        )
        return tuple(groups), tuple(parts.values())

    def verb_group(self, command: Command) -> str:
        """Return the group of a command in the menu: its verb. Commands of one word are in the group ""."""
        return command[0] if len(command) > 1 else ""

    def menu_key(self, verb: str) -> str:
        """Return the key of a verb's group, or of a command of one word. Empty for the group "" of these
        commands, because each has its own key."""
        return self.keys.get(verb, verb[:1].upper())

    def _group_title(self, verb: str, verbs: Collection[str]) -> str:
        if verb:
            return sentence_case(self.word(verb))
        return gettext("Other actions") if len(verbs) > 1 else gettext("What to do")

    def _choice(self, command: Command, view: SeatView, note: str) -> Panel:
        value = canonical_json(list(command))
        least, most = view.choice.amounts.get(command[:-1], (None, None))
        text = self.worded(view, command if least is None else command[:-1])
        key = self.menu_key(command[0]) if len(command) == 1 else ""
        useful = None if most is None else self.useful_amount(command, view, most)
        places, asks = self.places(command, view), command[0] in self.asked_verbs
        shows = CommandChoice(value, text, key, note, least, most, places, useful, asks)
        return Panel(f"do-{text_hash(value)[:16]}", f"{_TEMPLATES}/menu_action.jinja", shows)

    def useful_amount(self, command: Command, view: SeatView, most: int) -> int:
        """Return the amount of a command that the page offers as all that there is for this seat now. A
        greater amount is allowed, and may have a greater effect. By default, this is `most`, the greatest
        amount that is allowed."""
        return most

    def places(self, command: Command, view: SeatView) -> str:
        """Return the ids of the places in the drawing (`data-spot`) to which a command refers, separated by
        spaces. Empty by default: the place is then the command's first argument."""
        return ""

    # words

    def word(self, code: str) -> str:
        """Return the text for a code of the world, to be used within a sentence, such as `the red lamp`
        for `lamp2`."""
        return gettext(self.names[code]) if code in self.names else code_to_words(code)

    def phrase(self, command: Command) -> str:
        """Return a command as text, such as `Light lamp 3`. Empty for the empty command."""
        if not command:
            return ""
        verb, *arguments = command
        words = [self.word(argument) for argument in arguments]
        if verb not in self.commands:
            return sentence_case(" ".join((self.word(verb), *words)))
        text = gettext(self.commands[verb])
        return text.format(*words, *["…"] * text.count("{}"))

    def aimed(self, brief: Mapping[str, Json], aim: Aim) -> str:
        """Return a goal (aim) of the world as text, like a command with the same words."""
        return self.phrase(aim)

    def aim_group(self, aim: Aim) -> str:
        """Return the heading under which a goal (aim) is listed: its verb as text."""
        return sentence_case(self.word(aim[0])) if aim else ""

    def goal(self, brief: Mapping[str, Json]) -> str:
        """Return the goal of the game: the first paragraph of the rules. Empty without rules."""
        return gettext(self.rules[0]) if self.rules else ""

    def seen(self, view: SeatView) -> Mapping[str, Json]:
        """Return the values of the observation that the page shows, by name. Override this method to leave
        some out."""
        return view.observation

    def handbook(self, brief: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the template context of the guide: the rules, and the brief (the facts that never change)
        as facts and tables."""
        found = facts_and_tables(brief, self.word)
        return {
            "rules": [gettext(text) for text in self.rules],
            "facts": found.facts,
            "tables": found.tables,
            "body": self.body,
        }

    # what happened

    def past(self, step: StepView, view: SeatView) -> PastStep:
        """Return the entry of one past step in the history."""
        lines = (self.line(step, player, view) for player in view.players)
        return PastStep(step.number, tuple(filter(None, lines)), tuple(self._news(step, view)))

    def line(self, step: StepView, player: PlayerView, view: SeatView) -> SeatLine | None:
        """Return the line of one seat (`player`) in the history of a step. None if the person at this page
        may not know the seat's command."""
        name = gettext("You") if player.is_you else player.name
        if step.ran_out and player.is_you:
            return SeatLine(player.seat, name, gettext("ran out of time"), "")
        events = (event for event in step.events if event.seat == player.seat)
        event = next((event for event in events if event.kind in ("performed", "refused")), None)
        command = event.data["command"] if event else step.commands.get(player.seat)
        if command is None:
            return None
        reasons = event.data["reasons"] if event and event.kind == "refused" else ()
        words = self.worded(view, tuple(command)) or gettext("did nothing")
        return SeatLine(player.seat, name, words, ", ".join(self.reason(code) for code in reasons))

    def reason(self, code: str) -> str:
        """Return the text for a reason code, which says why a command was refused."""
        return gettext(self.reasons[code]) if code in self.reasons else code_to_words(code)

    def _news(self, step: StepView, view: SeatView) -> Iterator[tuple[str, str]]:
        for event in step.events:
            if text := self.event_sentence(event, view):
                yield event.kind, text

    def event_sentence(self, event: Event, view: SeatView) -> str:
        """Return the sentence for an event of the world. Empty for events that every world has
        (`PLATFORM_EVENTS`)."""
        if event.kind in PLATFORM_EVENTS:
            return ""
        player = "" if event.seat is None else view.players[event.seat].name
        data = {name: value_text(value, self.word) for name, value in event.data.items()}
        if event.kind in self.events:
            return gettext(self.events[event.kind]).format_map(defaultdict(str, data, player=player))
        about = ", ".join(f"{self.word(name)}: {value}" for name, value in data.items())
        kind = sentence_case(self.word(event.kind))
        text = f"{kind} ({about})" if about else kind
        return f"{player}: {text}" if player else text


PLATFORM_EVENTS = {"performed", "refused", "message", "plan_broken", "time_lost", "probe_pause"}
"""Kinds of event that are not news of the world's own."""
