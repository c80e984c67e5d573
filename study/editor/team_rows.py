"""Co-players of their own, as rows of a condition's form: for which players, which kind, its settings.

A row is a number. `team_row` names those that are there; `team_row_3` is the kind of co-player of the fourth,
`team_row_3_players` whom it plays for, `team_row_3__planner__tries` a setting. So each row is one more place
at which a kind is chosen (`study.design.offered`), and what is true of those is true of it: what was typed
stays while somebody tries one kind after another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django import forms
from django.http import QueryDict

from kitchen.contract.world import Json, Setting
from kitchen.forms.setting_fields import setting_field
from study.design.offered import COPLAYER, WORLD, ChoosableKind, all_kinds, kind_choices
from study.design.plan import NOBODY
from study.editor.chosen import with_usual
from study.editor.model_forms import SHOW

ROWS = "team_row"
ADD, DROP = "add", "drop "
"""Values of the button that shows the form again: with one row more, or without the row of this number."""
SHOWN = "_shown"
MOST_PLAYERS = 64


@dataclass(frozen=True, slots=True)
class Row:
    """One co-player of its own: its number in the form, and what is stored of it."""

    number: int
    stored: Mapping[str, Json]

    @property
    def part(self) -> str:
        """The name of the field that chooses its kind."""
        return f"{ROWS}_{self.number}"

    @property
    def players(self) -> str:
        """The name of the field of whom it plays for."""
        return f"{self.part}_players"

    def kinds(self) -> list[ChoosableKind]:
        """All co-players, as kinds that this row can have."""
        return [replace(kind, part=self.part) for kind in all_kinds() if kind.part == COPLAYER]

    def stored_of(self, kind: str) -> Mapping[str, Json]:
        """The stored settings, if it is of this kind."""
        settings: Mapping[str, Json] = self.stored.get("settings", {})
        return settings if self.stored.get("coplayer") == kind else {}

    def initial(self) -> dict[str, Json]:
        """What its fields show while nobody has sent anything."""
        if not self.stored:
            return {}
        kind: str = self.stored["coplayer"]
        chosen = {
            name: self.stored_of(kind).get(setting.name, setting.default)
            for one in self.kinds()
            if one.name == kind
            for name, setting in one.named_settings()
        }
        return {self.part: kind, self.players: [seat + 1 for seat in self.stored["seats"]], **chosen}

    def read(self, cleaned: Mapping[str, Any]) -> dict[str, Json]:
        """A co-player of its own as a condition has it: settings that are as usual are left out, unless they
        were stored."""
        name: str = cleaned[self.part]
        kinds, known = [one for one in self.kinds() if one.name == name], self.stored_of(name)
        named = (pair for kind in kinds for pair in kind.named_settings())
        said = [(s, cleaned[field]) for field, s in named if field in cleaned]
        return {
            "seats": sorted(player - 1 for player in cleaned[self.players]),
            "coplayer": name,
            "settings": {s.name: value for s, value in said if s.name in known or value != s.default},
        }


def rows_of(sent: QueryDict | None, stored: Sequence[Mapping[str, Json]]) -> list[Row]:
    """Those that were sent; those that are stored while nothing was."""
    numbers = _numbers(sent) if sent else list(range(len(stored)))
    return [Row(number, stored[number] if number < len(stored) else {}) for number in numbers]


def _numbers(sent: QueryDict) -> list[int]:
    said = (one for one in sent.getlist(ROWS) if one.isdecimal() and len(one) < 4)
    return list(dict.fromkeys(map(int, said)))


def with_rows(sent: QueryDict) -> QueryDict:
    """What was sent, with a row more or less if that was asked for, and what a kind begins with wherever its
    settings were not on the page."""
    filled = sent.copy()
    numbers, asked = _numbers(sent), sent.get(SHOW, "")
    if asked == ADD:
        fresh = Row(max(numbers, default=-1) + 1, {})
        numbers.append(fresh.number)
        filled[fresh.part] = _first_kind(sent)
    elif asked.startswith(DROP):
        numbers = [one for one in numbers if str(one) != asked.removeprefix(DROP)]
    filled.setlist(ROWS, list(map(str, numbers)))
    kinds = [kind for number in numbers for kind in Row(number, {}).kinds()]
    return with_usual(filled, kinds, _beginning)


def _beginning(_: ChoosableKind, setting: Setting) -> Json:
    return setting.beginning


def _first_kind(sent: QueryDict) -> str:
    """That of the other teammates, if they have one."""
    own = sent.get(COPLAYER, "")
    return own if own not in {"", NOBODY} else _offered("", sent.get(WORLD, ""))[0][0]


def _offered(stored: str, world: str) -> list[tuple[str, str]]:
    return [one for one in kind_choices(COPLAYER, stored, world) if one[0] != NOBODY]


def row_fields(row: Row, *, kinds: Collection[str], world: str) -> dict[str, forms.Field]:
    """The fields of a row: players, co-player, and the settings of these kinds."""
    fields: dict[str, forms.Field] = {
        row.players: forms.TypedMultipleChoiceField(
            label="Plays for",
            coerce=int,
            choices=[(player, str(player)) for player in range(1, MOST_PLAYERS + 1)],
            widget=forms.CheckboxSelectMultiple(attrs={"class": "decides"}),
            error_messages={"required": "Choose at least one player, or take this co-player away."},
        ),
        row.part: forms.ChoiceField(
            label="Co-player",
            choices=_offered(str(row.stored.get("coplayer", "")), world),
            widget=forms.Select(attrs={"class": "decides"}),
        ),
    }
    for kind in row.kinds():
        if kind.name in kinds:
            fields |= {name: setting_field(setting) for name, setting in kind.named_settings()}
    return fields


def kinds_shown(row: Row, sent: QueryDict | None, chosen: str) -> set[str]:
    """The kind that a row has now, and those that it had while somebody was choosing."""
    before = {one.partition("__")[2] for one in (sent.getlist(SHOWN) if sent else ()) if _is_of(row, one)}
    return {chosen, *before}


def _is_of(row: Row, shown: str) -> bool:
    return shown.startswith(f"{row.part}__")


def players_wrong(
    rows: Sequence[tuple[Row, Sequence[int]]], players: Collection[int]
) -> Iterator[tuple[str, str]]:
    """Of rows and the players for which they play, and the players that are co-players: the field of each row
    that has others, and what is wrong."""
    taken: set[int] = set()
    for row, own in rows:
        for player in own:
            if player not in players:
                yield row.players, f"No co-player can play for player {player}."
            elif player in taken:
                yield row.players, f"Player {player} has a co-player of its own already."
        taken |= set(own)
