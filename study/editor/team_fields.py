"""The form of a condition with who plays in it, and who may command whom and write to whom."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.forms import BoundField
from django.http import QueryDict

from kitchen.contract.world import Json, SettingsError
from kitchen.forms.setting_fields import without_name
from kitchen.registry.agents import make_agent
from kitchen.registry.names import UnknownNameError
from study.design.offered import COPLAYER, WORLD, ChoosableKind
from study.design.plan import seats_of
from study.editor.drawn import draw_on
from study.editor.model_forms import SHOW, ConditionForm, forget_others
from study.editor.team_form import (
    APART,
    KIND,
    MEMBERS,
    PEOPLE,
    TALK,
    TALKS_WITHIN,
    applying,
    may_be_apart,
    team_fields,
    team_initial,
    team_read,
)
from study.editor.team_rows import ADD, MOST_PLAYERS, Row, kinds_shown, players_wrong, row_fields, rows_of

KEPT = "_kept"
"""Names the fields that are on the page, but out of sight."""
DECIDING = (
    KIND,
    APART,
    TALK,
    TALKS_WITHIN,
    PEOPLE,
    "team_leads",
    "team_leaves_talk",
    "team_commands",
    "team_writes",
)
"""Fields of the team by which others come or go, or the picture changes."""


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row for the page: its fields, and by kind those of the one that it has, and of those that it had."""

    number: int
    players: BoundField
    coplayer: BoundField
    groups: list[tuple[ChoosableKind, list[BoundField], bool]]
    is_new: bool
    is_open: bool
    """Some of its settings are wrong, so that they are to be seen."""


class TeamFields(ConditionForm):
    """A form of a condition that has these fields too. What is sent without them changes nothing of them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        organisation = self.instance.organisation
        for name, value in team_initial(organisation, seats_of(self.instance)).items():
            self.initial.setdefault(name, value)
        self.rows = rows_of(self._sent, organisation.get("members", ()))
        for row in self.rows:
            self._add(row)
        for name in DECIDING:
            self.fields[name].widget.attrs["class"] = "decides"
        for name in (WORLD, COPLAYER, "teammates"):
            self.fields[name].widget.attrs["class"] = "decides"
        draw_on(self, self.instance.study)

    @property
    def _sent(self) -> QueryDict | None:
        return self.data if self.is_bound and isinstance(self.data, QueryDict) else None

    def _add(self, row: Row) -> None:
        self.initial = {**self.initial, **row.initial()}
        chosen = self.data.get(row.part, "") if self.is_bound else self.initial.get(row.part, "")
        shown = kinds_shown(row, self._sent, chosen)
        world = str(self.data.get(WORLD, "") if self.is_bound else self.instance.world)
        self.fields |= row_fields(row, kinds=shown, world=world)

    def clean(self) -> dict[str, Any]:
        """Gathers them; the model checks whether they can be played."""
        cleaned: dict[str, Any] = super().clean()
        for row in self.rows:
            forget_others(self, row.kinds(), cleaned)
        self._forget_kept()
        if KIND in self.data and KIND in cleaned:
            wrong: list[tuple[str, str]] = []
            team = team_read(self._told(cleaned), lambda field, why: wrong.append((field, why)))
            for field, why in wrong:
                self.add_error(field, ValidationError(why))
            if not any(name.startswith("team_") for name in self.errors):
                self.instance.organisation = team
        return cleaned

    def _told(self, cleaned: Mapping[str, Any]) -> dict[str, Any]:
        """What was filled in, without what is out of sight and means nothing; the rows as `MEMBERS`."""
        out = self._out_of_sight()
        told = {name: value for name, value in cleaned.items() if name not in out}
        return told | ({} if MEMBERS in out else {MEMBERS: self._members(cleaned)})

    def _members(self, cleaned: Mapping[str, Any]) -> list[dict[str, Json]]:
        whole = [row for row in self.rows if cleaned.get(row.part) and cleaned.get(row.players)]
        members = [(row, row.read(cleaned)) for row in whole]
        named = [(row, cleaned[row.players]) for row in whole]
        if cleaned.get("teammates") is not None:
            for field, why in players_wrong(named, self.teammate_players()):
                self.add_error(field, ValidationError(why))
        for row, member in members:
            self._check(row, member)
        return [member for _, member in members]

    def _check(self, row: Row, member: Mapping[str, Json]) -> None:
        """Puts what a co-player finds wrong with its settings to the field that it names."""
        try:
            make_agent(member["coplayer"], member["settings"])
        except (SettingsError, UnknownNameError) as error:
            said = str(error.args[0])
            field = f"{row.part}__{member['coplayer']}__{said.partition(': ')[0]}"
            meant, why = (field, without_name(said)) if field in self.fields else (row.part, said)
            if not {field, row.part} & {*self.errors}:
                self.add_error(meant, ValidationError(why))

    def _forget_kept(self) -> None:
        """What stands in fields that are out of sight and mean nothing is nobody's mistake."""
        for name in self._out_of_sight():
            self.errors.pop(name, None)
        if MEMBERS in self._out_of_sight():
            for name in [one for one in self.errors if one.startswith("team_row_")]:
                del self.errors[name]

    def _out_of_sight(self) -> set[str]:
        kept = set(self._sent.getlist(KEPT)) if self._sent else set()
        return kept - self.applying()

    def applying(self) -> set[str]:
        """The fields that mean something, as the form is filled in now."""
        several, talks = len(self._numbers()) > 1, bool(self[TALK].value())
        kind, within = self._kind() or ("central" if several else ""), bool(self[TALKS_WITHIN].value())
        return applying(kind, apart=self._apart(), several=several, talks=talks, within=within)

    def teammate_players(self) -> list[int]:
        """The players that are co-players, as the form is filled in now."""
        teammates, apart = str(self["teammates"].value()), self._apart()
        seats = (int(teammates) if teammates.isdecimal() else 0) + (not apart)
        people = set() if apart else self._numbers() or {"1"}
        return [player for player in range(1, min(seats, MOST_PLAYERS) + 1) if str(player) not in people]

    def _kind(self) -> str:
        return str(self[KIND].value() or "")

    def _apart(self) -> bool:
        return bool(self[APART].value()) and may_be_apart(self._kind())

    def _numbers(self) -> set[str]:
        """Those of the players who are people, as they were typed."""
        return set(re.findall(r"\d+", str(self[PEOPLE].value() or "")))

    @property
    def team(self) -> list[BoundField]:
        """The fields that mean something, for the page; the first is the organisation."""
        shown = self.applying()
        return [self[name] for name in team_fields() if name in shown]

    @property
    def team_kept(self) -> list[BoundField]:
        """The others: what they have stays on the page, out of sight."""
        shown = self.applying()
        return [self[name] for name in team_fields() if name not in shown]

    @property
    def has_rows(self) -> bool:
        """Whether there may be co-players of their own."""
        return MEMBERS in self.applying()

    def shown_rows(self) -> list[ShownRow]:
        """The rows, for the page."""
        return [self._shown_row(row) for row in self.rows]

    def _shown_row(self, row: Row) -> ShownRow:
        chosen = str(self[row.part].value() or "")
        ticked = [int(one) for one in self[row.players].value() or () if str(one).isdecimal()]
        players = sorted({*self.teammate_players(), *ticked})
        self.fields[row.players].widget.choices = [(player, str(player)) for player in players]
        groups = [
            (kind, [self[name] for name, _ in kind.named_settings()], kind.name == chosen)
            for kind in row.kinds()
            if kind.name in kinds_shown(row, self._sent, chosen)
        ]
        is_new = self.data.get(SHOW) == ADD and row is self.rows[-1]
        wrong = any(name.startswith(f"{row.part}__") for name in self.errors)
        return ShownRow(row.number, self[row.players], self[row.part], groups, is_new, wrong)
