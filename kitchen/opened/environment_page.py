"""Build the play page of an environment: its picture, the same in words, the score and the buttons.

The picture is an image that the environment draws. Pages get it over the websocket (`js/environment.js`), and
a replay draws it again. The text beside it is what the adapter tells of the state.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import ClassVar, NamedTuple

from kitchen.contract.page import Panel
from kitchen.contract.page_view import DRAWING_ONLY, SeatView
from kitchen.contract.world import Command, Json, canonical_json
from kitchen.opened.environment_adapter import ActionEntry, EnvironmentAdapter
from kitchen.opened.environment_world import OBSERVED, UNKNOWN_COMMAND, WAIT
from kitchen.pages.default_page import DefaultPage, PanelMaker, may_choose
from kitchen.pages.grid_page import clock_score
from kitchen.pages.grid_panel_contents import CommandPad, PadButton
from kitchen.pages.json_tables import FactsAndTables, facts_and_tables
from kitchen.words.gettext_without_django import gettext, gettext_noop, pgettext

_TEMPLATES = "kitchen/opened"
PLACES = {
    "arrowup": "north",
    "arrowdown": "south",
    "arrowleft": "west",
    "arrowright": "east",
    "space": "interact",
}
"""Places of buttons on the pad, by key. Other buttons follow in their order."""
KEY_NAMES = {"arrowup": "↑", "arrowdown": "↓", "arrowleft": "←", "arrowright": "→"}


class StateDescription(NamedTuple):
    """The adapter's description of the state, as facts and tables. `words` is the input of the script in a
    real-time episode, as JSON. `has_text` is False if the environment has no version in words."""

    facts: tuple[tuple[str, str, str], ...]
    tables: tuple[tuple[str, str, tuple[str, ...], tuple[tuple[str, ...], ...]], ...]
    words: str
    has_text: bool


class EnvironmentPage(DefaultPage):
    """The page of one adapter. It supports a clock."""

    supports_clock: ClassVar[bool] = True
    views = (DRAWING_ONLY,)
    layout = f"{_TEMPLATES}/environment.jinja"
    overview_layout = f"{_TEMPLATES}/environment_overview.jinja"
    guide = "kitchen/pages/grid_guide.jinja"
    styles: ClassVar[tuple[str, ...]] = ("css/world.css", "css/grid.css", "css/environment.css")
    scripts: ClassVar[tuple[str, ...]] = ("js/pressing.js", "js/environment.js")
    events: Mapping[str, str] = {
        "reward": gettext_noop("{player}: reward {reward}"),
        "finished": gettext_noop("The game is over for {player}."),
        "stopped": gettext_noop("The time is up for {player}."),
    }
    reasons: Mapping[str, str] = {
        "not_now": gettext_noop("this is not possible now"),
        UNKNOWN_COMMAND: gettext_noop("there is no such action"),
    }

    def __init__(self, adapter: EnvironmentAdapter) -> None:
        super().__init__(title=adapter.title, rules=tuple(adapter.guide))
        self.adapter = adapter
        self.names = dict(adapter.words)
        self._body = adapter.body

    @property
    def body(self) -> str:  # type: ignore[override] # what one gets of the attribute
        """Return the thing that a seat commands, in one word."""
        return gettext(self._body) if self._body else gettext("player")

    def makers(self, view: SeatView) -> tuple[PanelMaker, ...]:
        """Return the functions that create the panels. In a real-time episode, the page's script reports
        what happened."""
        story = () if view.timing.tick_ms else (self.story,)
        return (self.score, self.description, *story, self.menu, self.spoken)

    def score(self, view: SeatView) -> Panel:
        """Return the panel of the results so far. In a real-time episode, the page's script updates it."""
        return super().score(view) if view.timing.tick_ms is None else clock_score(view)

    def description(self, view: SeatView) -> Panel:
        """Return the panel that describes the picture in words."""
        seen = self._in_order(view.observation)
        found = facts_and_tables(seen, self.word) if seen else FactsAndTables((), ())
        words = canonical_json(self.script_words(view, seen)) if view.timing.tick_ms else ""
        shows = StateDescription(found.facts, found.tables, words, self.adapter.has_text)
        return Panel("state-description", f"{_TEMPLATES}/state_description.jinja", shows)

    def _in_order(self, observation: Mapping[str, Json]) -> dict[str, Json]:
        """Return the description in an observation, in the order of the adapter's words: stored states have
        the order of the alphabet. What has no word follows."""
        known = {name: observation[name] for name in self.adapter.words if name in observation}
        return {name: value for name, value in {**known, **observation}.items() if name not in OBSERVED}

    def script_words(self, view: SeatView, seen: Mapping[str, Json]) -> dict[str, Json]:
        """Return the texts of the script in a real-time episode: words for codes, and for events."""
        return {
            "names": {code: gettext(name) for code, name in self.names.items()},
            "players": [player.name for player in view.players],
            "events": {kind: gettext(self.events[kind]) for kind in ("finished", "stopped")},
            "values": {
                "true": pgettext("a value", "yes"),
                "false": pgettext("a value", "no"),
                "null": pgettext("there is no value", "none"),
            },
        }

    def menu(self, view: SeatView) -> Panel:
        """Return the panel with a button for each action."""
        ticking = view.timing.tick_ms is not None
        buttons = tuple(
            self._button(code, entry, view, ticking) for code, entry in self.adapter.entries.items()
        )
        player = view.players[view.seat].name
        shows = CommandPad(
            view.step + 1,
            view.seat,
            player,
            view.choice.may_act,
            "",
            "",
            may_choose(view),
            (*buttons, *self._waiting(view)),
            (),
            ticking,
        )
        return Panel("menu", "kitchen/pages/pad.jinja", shows)

    def _waiting(self, view: SeatView) -> tuple[PadButton, ...]:
        """Return the button that does nothing, if this is all that the seat can do now."""
        if WAIT not in view.choice.legal or self.adapter.idle:
            return ()
        text = self.phrase(WAIT)
        return (PadButton("wait", canonical_json(list(WAIT)), text, text, "", "", ""),)

    def _button(self, code: str, entry: ActionEntry, view: SeatView, ticking: bool) -> PadButton:
        key, command = entry.key.lower(), (code,)
        value = canonical_json(list(command)) if ticking or command in view.choice.legal else ""
        text, shown = self.phrase(command), KEY_NAMES.get(key, gettext(entry.key).upper())
        return PadButton(PLACES.get(key, code), value, text, text, shown, key, "")

    def phrase(self, command: Command) -> str:
        """Return the label of an action."""
        if command == WAIT and not self.adapter.idle:
            return gettext("Wait")
        entry = self.adapter.entries.get(command[0]) if command else None
        return gettext(entry.label) if entry else ""

    def outcome(self, view: SeatView) -> str:
        """Return the reward of this seat, if the seats had different rewards."""
        score, seats = view.result.score, range(len(view.players))
        rewards: list[float] = [score.get(f"reward_seat_{seat}", 0.0) for seat in seats]
        if not view.acts or len(set(rewards)) < 2:
            return ""
        return gettext("Your reward: {number}").format(number=f"{round(rewards[view.seat], 2):g}")

    def handbook(self, brief: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the content of the guide: the rules, the keys and the settings."""
        settings = {one.name for one in self.adapter.settings}
        chosen = {name: value for name, value in brief.items() if name in settings}
        keys = [
            (KEY_NAMES.get(entry.key.lower(), gettext(entry.key)), self.phrase((code,)))
            for code, entry in self.adapter.entries.items()
        ]
        found, ticking = super().handbook(chosen), self.adapter.tick_ms is not None
        no_text = () if self.adapter.has_text else (gettext("This game has no version in words."),)
        return {**found, "rules": [*found["rules"], *no_text], "keys": keys, "ticking": ticking}


@cache
def page_of(adapter: EnvironmentAdapter) -> EnvironmentPage:
    """Return the page of this adapter."""
    return EnvironmentPage(adapter)
