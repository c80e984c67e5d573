"""Show a world on a grid as a drawing, as text, or both. The world may be turn-based or real-time.

A world defines a subclass of `GridPage`. The subclass declares the look of each letter of the grid (`looks`)
and the keys that players press (`pad`). Its `layers` are the names of lists in the observation. Their entries
are drawn on cells: an entry has `at` ([column, row], counted from 0) and `thing` (a code).

The observation must have a list `players` with one object per player. Each object has `at`, and may have
`face` (the direction of a move) and `holds` (the code of a thing).

The server draws the cells. The script `static/js/grid.js` draws the players and layers. `pictures` is an SVG
file whose symbols have the codes as names. A cell or thing without a symbol is drawn as a plain shape with a
letter. A world can add its own script to draw or describe the entries of a layer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import ClassVar, NamedTuple

from kitchen.contract.page import Panel
from kitchen.contract.page_view import DRAWING_ONLY, DRAWING_TABLES, SeatView
from kitchen.contract.world import Command, Json, Metric, canonical_json
from kitchen.pages.default_page import DefaultPage, PanelMaker, may_choose
from kitchen.pages.grid_panel_contents import (
    ActorList,
    ActorText,
    CellText,
    ClockScore,
    CommandPad,
    DrawnBoard,
    DrawnObservation,
    DrawnTile,
    FactList,
    GridText,
    PadButton,
    ScoreFigure,
)
from kitchen.pages.json_tables import facts_and_tables, value_text
from kitchen.words.english_text import sentence_case
from kitchen.words.gettext_without_django import gettext, gettext_noop, ngettext, pgettext

_TEMPLATES = "kitchen/pages"
CELL_SIZE = 48
"""Length of a cell's side, in units of the drawing."""
FLOOR_LETTER = " "


class CellLook(NamedTuple):
    """The look and the name of cells with one letter."""

    name: str
    """The name as text, marked with `gettext_noop`."""
    walkable: bool = False
    picture: str = ""
    """The symbol in `GridPage.pictures`; empty: a plain cell."""
    lettered: bool = False
    """True if its letter is written in the cell."""
    empty: str = ""
    """The remark on an empty cell of this kind, marked with `gettext_noop`."""


class PadKey(NamedTuple):
    """The label of a command button, and the keyboard keys that press it."""

    label: str
    """The text on the button."""
    keys: str
    """Names of keys, separated by spaces: `arrowup w`."""


ARROW_PAD: Mapping[str, PadKey] = {
    "north": PadKey("↑ W", "arrowup w"),
    "west": PadKey("← A", "arrowleft a"),
    "stay": PadKey("X", "x"),
    "east": PadKey("→ D", "arrowright d"),
    "south": PadKey("↓ S", "arrowdown s"),
    "interact": PadKey(gettext_noop("Space"), "space"),
}
"""The buttons by verb, in reading order. The style sheet has a place for each of these verbs."""
MOVES: Mapping[str, tuple[int, int]] = {"north": (0, -1), "east": (1, 0), "south": (0, 1), "west": (-1, 0)}
"""(columns, rows) from a cell to the cell ahead, by verb."""
FACES: Mapping[str, str] = {
    "north": gettext_noop("looks up"),
    "south": gettext_noop("looks down"),
    "east": gettext_noop("looks right"),
    "west": gettext_noop("looks left"),
}

VALUES: Mapping[str, Json] = {"true": True, "false": False, "null": None}
"""Values of observations that have words of their own, with their JSON spelling."""


class GridPage(DefaultPage):
    """A page for worlds on a grid. Subclass it and declare looks, layers and keys (see the module)."""

    supports_clock = True
    views = (DRAWING_TABLES, DRAWING_ONLY)
    layout = f"{_TEMPLATES}/grid_layout.jinja"
    overview_layout = f"{_TEMPLATES}/grid_overview.jinja"
    guide = f"{_TEMPLATES}/grid_guide.jinja"
    styles: ClassVar[tuple[str, ...]] = ("css/world.css", "css/grid.css")
    scripts: ClassVar[tuple[str, ...]] = (
        "js/amounts.js",
        "js/pressing.js",
        "js/grid_characters.js",
        "js/grid_prediction.js",
        "js/grid_motion.js",
        "js/grid.js",
        "js/grid_words.js",
    )

    looks: Mapping[str, CellLook] = {
        FLOOR_LETTER: CellLook(gettext_noop("floor"), walkable=True),
        "X": CellLook(gettext_noop("wall")),
    }
    """The look of each letter; other letters look like FLOOR."""
    layers: tuple[str, ...] = ()
    """Names of lists in the observation, in drawing order."""
    pad: Mapping[str, PadKey] = ARROW_PAD
    """The commands that have a button. Under a clock these must be all commands of the world."""
    moves: Mapping[str, tuple[int, int]] = MOVES
    blocking: bool = True
    """True if a seat cannot walk onto the cell of another seat."""
    pictures: ClassVar[str] = ""
    """Path of a static file of SVG symbols."""

    def rows(self, brief: Mapping[str, Json]) -> Sequence[str]:
        """Return the grid as one string per row, with a letter for each cell. `brief` holds the facts that
        never change."""
        grid: Sequence[str] = brief["grid"]
        return grid

    def look(self, letter: str) -> CellLook:
        """Return how cells with this letter look. An unknown letter looks like floor."""
        return self.looks.get(letter) or self.looks[FLOOR_LETTER]

    def makers(self, view: SeatView) -> tuple[PanelMaker, ...]:
        """Return the functions that create the panels of this page, in reading order.

        The drawing is left out if a turn-based world is shown as text only. The history is left out in a
        real-time world, where the page's script reports events.
        """
        drawing = (self.board, self.seen_now) if view.timing.tick_ms or view.shown != DRAWING_TABLES else ()
        story = () if view.timing.tick_ms else (self.story,)
        return (self.score, self.facts, *drawing, self.grid, self.actors, *story, self.menu, self.spoken)

    def score(self, view: SeatView) -> Panel:
        """Return the panel of the results so far. In a real-time world, the page's script updates it."""
        return super().score(view) if view.timing.tick_ms is None else clock_score(view)

    # Drawing

    def board(self, view: SeatView) -> Panel:
        """Return the panel with the drawn cells. It stays the same for the whole episode."""
        rows, tick_ms = tuple(self.rows(view.brief)), view.timing.tick_ms or 0
        tiles, floor = _cells(self, rows)
        shows = DrawnBoard(
            len(rows[0]),
            len(rows),
            CELL_SIZE,
            tiles,
            floor,
            canonical_json(self.script_rules(view)),
            self.pictures,
            tick_ms,
            canonical_json(self.script_words(view)) if tick_ms else "",
        )
        return Panel("board", f"{_TEMPLATES}/board.jinja", shows)

    def script_rules(self, view: SeatView) -> Mapping[str, Json]:
        """Return the rules that the page's script needs for drawing, and for showing a move before the server
        confirms it."""
        return {"layers": list(self.layers), "moves": dict(self.moves), "blocking": self.blocking}

    def seen_now(self, view: SeatView) -> Panel:
        """Return the panel with everything that moves or changes on the grid, as JSON for the script."""
        you = view.seat if view.acts else -1
        return Panel(
            "seen",
            f"{_TEMPLATES}/grid_seen.jinja",
            DrawnObservation(you, view.step, canonical_json(self.changing(view))),
        )

    def changing(self, view: SeatView) -> Mapping[str, Json]:
        """Return everything that moves or changes on the grid, for the script."""
        return {name: view.observation[name] for name in ("players", *self.layers)}

    # The same in words

    def grid(self, view: SeatView) -> Panel:
        """Return the panel that shows the grid as a table of texts: the kind of each cell, and who or what
        is on it."""
        there = {at: text for layer in self.layers for at, text in self._lying(view, layer)}
        players = zip(view.observation["players"], view.players, strict=True)
        there |= {tuple(each["at"]): player.name for each, player in players}
        rows = self.rows(view.brief)
        looks = {letter: self.look(letter) for letter in set("".join(rows))}
        named = {letter: (gettext(look.name), _kind(look)) for letter, look in looks.items()}
        cells = tuple(
            tuple(
                CellText(named[letter][0], there.get((x, y), ""), named[letter][1])
                for x, letter in enumerate(row)
            )
            for y, row in enumerate(rows)
        )
        return Panel("grid", f"{_TEMPLATES}/grid_table.jinja", GridText(cells))

    def _lying(self, view: SeatView, layer: str) -> Iterator[tuple[tuple[int, ...], str]]:
        for entry in view.observation[layer]:
            yield tuple(entry["at"]), self.entry_words(layer, entry, view.brief)

    def entry_words(self, layer: str, entry: Mapping[str, Json], brief: Mapping[str, Json]) -> str:
        """Return the text for one entry of a layer (a list of things on cells in the observation)."""
        return self.thing_words(entry["thing"])

    def thing_words(self, thing: Json) -> str:
        """Return the text for the code of a thing that a seat holds or that is on a cell. None gives
        `nothing`."""
        return pgettext("what somebody holds", "nothing") if thing is None else self.word(thing)

    def actors(self, view: SeatView) -> Panel:
        """Return the panel that describes each seat's position, direction and held thing as text."""
        players = zip(view.observation["players"], view.players, strict=True)
        lines = (
            ActorText(one.seat, one.name, one.is_you, self._actor_description(each)) for each, one in players
        )
        return Panel("actors", f"{_TEMPLATES}/actors.jinja", ActorList(tuple(lines)))

    def _actor_description(self, player: Mapping[str, Json]) -> str:
        """Return a seat's place as text: `column 2, row 2, looks up, holds nothing`."""
        column, row = (number + 1 for number in player["at"])
        words = {"column": column, "row": row, "face": gettext(FACES.get(player.get("face", ""), ""))}
        return actor_sentence(player).format(**words, thing=self.thing_words(player.get("holds")))

    def ahead_words(self, view: SeatView) -> str:
        """Return the text for the cell in front of this seat, such as `wall: red lamp`. Empty in a world
        without directions."""
        player = view.observation["players"][view.seat]
        if "face" not in player:
            return ""
        cell = tuple(at + by for at, by in zip(player["at"], self.moves[player["face"]], strict=True))
        rows = self.rows(view.brief)
        if not (0 <= cell[1] < len(rows) and 0 <= cell[0] < len(rows[cell[1]])):
            return gettext("the end of the grid")
        look = self.look(rows[cell[1]][cell[0]])
        lying = {at: text for layer in self.layers for at, text in self._lying(view, layer)}
        there = lying.get(cell) or (gettext(look.empty) if look.empty else "")
        return f"{gettext(look.name)}: {there}" if there else gettext(look.name)

    # Other panels

    def facts(self, view: SeatView) -> Panel:
        """Return the panel of observed single values that are not shown on the grid."""
        return Panel(
            "facts",
            f"{_TEMPLATES}/grid_facts.jinja",
            FactList(facts_and_tables(self.seen(view), self.word).facts),
        )

    def seen(self, view: SeatView) -> Mapping[str, Json]:
        """Return the values of the observation that are not shown on the grid, by name."""
        on_grid = {"players", *self.layers}
        return {name: value for name, value in view.observation.items() if name not in on_grid}

    def menu(self, view: SeatView) -> Panel:
        """Return the panel with the command buttons, what the seat faces and holds, and the commands
        without a button."""
        player, ticking = view.observation["players"][view.seat], view.timing.tick_ms is not None
        commands: set[Command] = {(verb,) for verb in self.pad}
        groups, parts = ((), ()) if ticking else self.command_groups(view, commands)
        shows = CommandPad(
            view.step + 1,
            view.seat,
            view.players[view.seat].name,
            view.choice.may_act,
            self.ahead_words(view),
            self.thing_words(player["holds"]) if "holds" in player else "",
            may_choose(view),
            tuple(self._button(verb, view, ticking=ticking) for verb in self.pad),
            groups,
            ticking,
        )
        return Panel("menu", f"{_TEMPLATES}/pad.jinja", shows, parts=parts)

    def _button(self, verb: str, view: SeatView, *, ticking: bool) -> PadButton:
        command: Command = (verb,)
        legal, early = command in view.choice.legal, command in view.choice.anticipated
        alone = self.phrase(command)
        text = (self.pad_text(verb, view) if legal and not ticking else "") or alone
        value = canonical_json(list(command)) if ticking or legal or early else ""
        label, keys = self.pad[verb]
        note = self.if_possible if early and not legal else ""
        return PadButton(verb, value, text, alone, gettext(label), keys, note)

    def pad_text(self, verb: str, view: SeatView) -> str:
        """Return the text of this verb's button: what the button would do now, for example which thing the
        seat would pick up. Empty by default: the command's own text is then used. Override this in your
        world."""
        return ""

    def handbook(self, brief: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the template context of the guide: the rules, the keys, and the facts that never change,
        without the grid."""
        others = {name: value for name, value in brief.items() if name != "grid"}
        keys = [(gettext(key.label), self.phrase((verb,))) for verb, key in self.pad.items()]
        return {**super().handbook(others), "keys": keys, "ticking": bool(brief.get("tick_ms"))}

    # Texts that the page shows by itself

    def script_words(self, view: SeatView) -> Mapping[str, Json]:
        """Return the texts that the script `js/grid_words.js` needs to describe the grid, by name. The script
        replaces the placeholders in braces."""
        observed = view.observation["players"][0]
        return {
            "names": {code: gettext(name) for code, name in self.names.items()},
            "nothing": pgettext("what somebody holds", "nothing"),
            "values": {code: value_text(value, self.word) for code, value in VALUES.items()},
            "faces": {face: gettext(name) for face, name in FACES.items()},
            "actor": actor_sentence(observed),
            "looks": {letter: gettext(look.name) for letter, look in self.looks.items()},
            "empty": {letter: gettext(look.empty) for letter, look in self.looks.items() if look.empty},
            "end": gettext("the end of the grid"),
            "you": gettext("You"),
            "why": {code: gettext(text) for code, text in self.reasons.items()},
            "events": {kind: gettext(text) for kind, text in self.events.items()},
            "players": [player.name for player in view.players],
            "grid": [self._letters(row) for row in self.rows(view.brief)],
            "steps": view.length or 0,
            "tick_ms": view.timing.tick_ms or 0,
        }

    def _letters(self, row: str) -> str:
        return "".join(letter if letter in self.looks else FLOOR_LETTER for letter in row)


def clock_score(view: SeatView) -> Panel:
    """Return the panel of the results so far in a real-time episode. A script updates it."""
    figures = tuple(
        _score_figure(figure, view.result.score.get(figure.name)) for figure in view.result.figures
    )
    return Panel("score", f"{_TEMPLATES}/grid_score.jinja", ClockScore(figures))


def _score_figure(figure: Metric, value: Json) -> ScoreFigure:
    label = sentence_case(ngettext(*figure.words, 2)) if figure.words else figure.label
    return ScoreFigure(
        figure.name, figure.kind, label, "\N{EN DASH}" if value is None else figure.shown(value)
    )


@lru_cache(maxsize=64)
def _cells(page: GridPage, rows: tuple[str, ...]) -> tuple[tuple[DrawnTile, ...], str]:
    """Return two things: the cells as they are drawn, and the walkable cells in the format of
    `DrawnBoard.floor`."""
    cells = [(x, y, letter, page.look(letter)) for y, row in enumerate(rows) for x, letter in enumerate(row)]
    floor = {(x, y) for x, y, _, look in cells if look.walkable}
    tiles = (
        DrawnTile(
            x * CELL_SIZE,
            y * CELL_SIZE,
            _kind(look),
            look.picture,
            letter if look.lettered else "",
            _edge((x, y), floor),
        )
        for x, y, letter, look in cells
    )
    return tuple(tiles), " ".join(f"{x},{y}" for x, y in sorted(floor, key=lambda cell: cell[::-1]))


def _edge(cell: tuple[int, int], floor: set[tuple[int, int]]) -> str:
    """Return `DrawnTile.edge` of a cell (column, row)."""
    x, y = cell
    if cell in floor:
        return "shade" if y and (x, y - 1) not in floor else ""
    return "front" if (x, y + 1) in floor else ""


def _kind(look: CellLook) -> str:
    if look.walkable:
        return "floor"
    return "place" if look.picture or look.lettered else "wall"


def actor_sentence(player: Mapping[str, Json]) -> str:
    """Return a format string that describes a seat's position. If `player` has a direction and a held
    thing, they are included."""
    if "face" in player and "holds" in player:
        return gettext("column {column}, row {row}, {face}, holds {thing}")
    if "face" in player:
        return gettext("column {column}, row {row}, {face}")
    if "holds" in player:
        return gettext("column {column}, row {row}, holds {thing}")
    return gettext("column {column}, row {row}")
