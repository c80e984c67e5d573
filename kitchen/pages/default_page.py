"""A page for any world, made of what the world says anyway: its brief, its observations, its commands. Plain
Python, no Django.

`PAGE = DefaultPage()` is a whole page; `PAGE = DefaultPage(title=marked("The lamps"), rules=(marked("Light
all lamps."),))` has words of its own. A world that wants another part derives a class and replaces that
part: the words of a code (`names`), of a command (`commands`), of an event (`events`), the order of verbs
(`verbs`), what of an observation is shown (`seen`), or a panel (`makers`).

Where steps are taken by a clock, use `kitchen.pages.grid_page`: it declares all commands beforehand.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

from kitchen.contract.page import Page, Panel, PlayerView, SeatView, StepView
from kitchen.contract.world import Aim, Command, Event, Json
from kitchen.pages.default_menu import Wording, menu_panel
from kitchen.pages.json_tables import Fact, Table, shown, text_of
from kitchen.pages.step_history import Line, Past, history_panel, spoken_panel
from kitchen.words.codes import in_words, sentence_case
from kitchen.words.speech import gettext, read_later

_TEMPLATES = "kitchen/pages"

Make = Callable[[SeatView], Panel]
"""Makes a panel from a view."""


class Score(NamedTuple):
    """The panel of results so far: pairs of a number and what it counts."""

    achieved: tuple[tuple[str, str], ...]


class Seen(NamedTuple):
    """The panel of a seat's observation."""

    facts: tuple[Fact, ...]
    tables: tuple[Table, ...]


class _TranslatedText:
    """Return a text that the world gave to its page, in the language of the reader."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = f"_{name}"

    def __get__(self, page: Any, kind: type | None = None) -> str:
        return gettext(text) if (text := getattr(page, self.name, "")) else ""


class DefaultPage(Page):
    """The page of a world that has no templates of its own."""

    layout = f"{_TEMPLATES}/layout.jinja"
    overview_layout = f"{_TEMPLATES}/overview.jinja"
    guide = f"{_TEMPLATES}/guide.jinja"
    supports_clock: ClassVar[bool] = False
    styles: ClassVar[tuple[str, ...]] = ("css/world.css",)
    scripts: ClassVar[tuple[str, ...]] = ("js/amounts.js",)
    title: ClassVar[str] = _TranslatedText()  # type: ignore[assignment] # what one gets of the attribute
    if_possible = read_later("if somebody else makes it possible first")
    """Said of a command that is not possible now, but may be when this seat acts."""

    names: Mapping[str, str] = {}
    """Words for codes, as they stand within a sentence: `{"lamp2": marked("the red lamp")}`. All `marked`."""
    commands: Mapping[str, str] = {}
    """Words for commands, by verb. Arguments take the place of braces, in their order: `{"light":
    marked("Light {}")}`. By default a command is its words, one after the other."""
    events: Mapping[str, str] = {}
    """Words for the world's own events, by kind. `{player}` is the seat's name, and other names in braces are
    data of the event, empty if it has none of that name: `{"lit": marked("{player} has lit {lamp}.")}`."""
    reasons: Mapping[str, str] = {}
    """Why a command was refused, in words, by its code; `marked`."""
    verbs: tuple[str, ...] = ()
    """Verbs whose groups come first in the menu, in this order."""

    def __init__(self, *, title: str = "", rules: tuple[str, ...] = ()) -> None:
        if title:
            self._title = title
        if rules:
            self.rules = rules

    rules: tuple[str, ...] = ()
    """What the guide says: `marked` paragraphs, the goal first."""

    # panels

    def makers(self, view: SeatView) -> tuple[Make, ...]:
        """Return what makes each panel that is shown in this view, in reading order."""
        return (self.score, self.seen_panel, self.story, self.menu, self.spoken)

    def panels(self, view: SeatView) -> tuple[Panel, ...]:
        """Return the panels: the score, what is seen, what happened, the menu, and what is read aloud."""
        return tuple(make(view) for make in self.makers(view))

    def overview(self, view: SeatView) -> tuple[Panel, ...]:
        """Return the same panels without the menu."""
        return tuple(make(view) for make in self.makers(view) if make != self.menu)

    def score(self, view: SeatView) -> Panel:
        """Return the panel of what has been reached so far."""
        achieved = tuple((number, sentence_case(name)) for number, name in view.achieved)
        return Panel("score", f"{_TEMPLATES}/score.jinja", Score(achieved))

    def seen_panel(self, view: SeatView) -> Panel:
        """Return the panel of facts and tables made of the observation."""
        found = shown(self.seen(view), self.word)
        return Panel("seen", f"{_TEMPLATES}/seen.jinja", Seen(found.facts, found.tables))

    def story(self, view: SeatView) -> Panel:
        """Return the panel of the last steps."""
        return history_panel(view, lambda step: self.past(step, view))

    def spoken(self, view: SeatView) -> Panel:
        """Return the panel that is read aloud after a step."""
        return spoken_panel(view, lambda step: self.past(step, view))

    def menu(self, view: SeatView) -> Panel:
        """Return the panel of commands. ValueError where a clock takes the steps."""
        if view.tick_ms is not None:
            raise ValueError("a world under a clock needs a page that declares its keys (GridPage)")
        return menu_panel(view, self.wording)

    @property
    def wording(self) -> Wording:
        """How the menu says what it offers."""
        return Wording(self.worded, self.word, self.if_possible, self.verbs)

    # words

    def word(self, code: str) -> str:
        """Return the words for a code within a sentence."""
        return gettext(self.names[code]) if code in self.names else in_words(code)

    def phrase(self, command: Command) -> str:
        """Return a command in words: `Light lamp 3`."""
        if not command:
            return ""
        verb, *arguments = command
        words = [self.word(argument) for argument in arguments]
        if verb not in self.commands:
            return sentence_case(" ".join((self.word(verb), *words)))
        text = gettext(self.commands[verb])
        return text.format(*words, *["…"] * text.count("{}"))

    def aimed(self, brief: Mapping[str, Json], aim: Aim) -> str:
        """Return an aim in words, as a command of the same words is said."""
        return self.phrase(aim)

    def aim_group(self, aim: Aim) -> str:
        """Return the verb, in words."""
        return sentence_case(self.word(aim[0])) if aim else ""

    def goal(self, brief: Mapping[str, Json]) -> str:
        """Return the first of the rules."""
        return gettext(self.rules[0]) if self.rules else ""

    def seen(self, view: SeatView) -> Mapping[str, Json]:
        """Return what of the observation is shown, by name."""
        return view.observation

    def handbook(self, brief: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return what the guide shows: the rules, and the brief as facts and tables."""
        found = shown(brief, self.word)
        return {
            "rules": [gettext(text) for text in self.rules],
            "facts": found.facts,
            "tables": found.tables,
            "body": self.body,
        }

    # what happened

    def past(self, step: StepView, view: SeatView) -> Past:
        """Return what the history says of one step."""
        lines = (self.line(step, player, view) for player in view.players)
        return Past(step.number, tuple(filter(None, lines)), tuple(self._news(step, view)))

    def line(self, step: StepView, player: PlayerView, view: SeatView) -> Line | None:
        """Return what one seat did; None where this seat does not get to know it."""
        name = gettext("You") if player.is_you else player.name
        if step.ran_out and player.is_you:
            return Line(player.seat, name, gettext("ran out of time"), "")
        events = (event for event in step.events if event.seat == player.seat)
        event = next((event for event in events if event.kind in ("performed", "refused")), None)
        command = event.data["command"] if event else step.commands.get(player.seat)
        if command is None:
            return None
        reasons = event.data["reasons"] if event and event.kind == "refused" else ()
        words = self.worded(view, tuple(command)) or gettext("did nothing")
        return Line(player.seat, name, words, ", ".join(self.reason(code) for code in reasons))

    def reason(self, code: str) -> str:
        """Return in words why a command was refused."""
        return gettext(self.reasons[code]) if code in self.reasons else in_words(code)

    def _news(self, step: StepView, view: SeatView) -> Iterator[tuple[str, str]]:
        for event in step.events:
            if text := self.event_sentence(event, view):
                yield event.kind, text

    def event_sentence(self, event: Event, view: SeatView) -> str:
        """Return an event of the world's own in a sentence; empty for an event of the platform."""
        if event.kind in HOUSE_EVENTS:
            return ""
        player = "" if event.seat is None else view.players[event.seat].name
        data = {name: text_of(value, self.word) for name, value in event.data.items()}
        if event.kind in self.events:
            return gettext(self.events[event.kind]).format_map(defaultdict(str, data, player=player))
        about = ", ".join(f"{self.word(name)}: {value}" for name, value in data.items())
        kind = sentence_case(self.word(event.kind))
        text = f"{kind} ({about})" if about else kind
        return f"{player}: {text}" if player else text


HOUSE_EVENTS = {"performed", "refused", "message", "plan_broken", "time_lost"}
"""Kinds of event that are no news of the world's own."""
