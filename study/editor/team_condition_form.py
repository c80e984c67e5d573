"""Define the form for a condition in which several agents or people play as a team.

Each row of the form sets a type of agent (co-player) that plays for some of the teammates. The form field
`team_row` lists the numbers of the rows. `team_row_3` is the agent type of row 3. `team_row_3_players` lists
the players of this agent. `team_row_3__planner__tries` is the setting `tries` of the agent type `planner` in
row 3.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms import BoundField
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict

from kitchen.contract.organisation_settings import SETTINGS_BY_KIND
from kitchen.contract.team_schedules import SCHEDULE
from kitchen.contract.team_schedules import TOGETHER as ALL_TOGETHER
from kitchen.contract.world import Json
from kitchen.contract.world_errors import SettingsError
from kitchen.forms.setting_fields import error_without_name, readable_name, setting_field
from kitchen.registry.agent_registry import leading_kinds, make_agent
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import known_worlds
from study.design.condition_choices import COPLAYER, WORLD, ChoosableKind, all_kinds, kind_choices
from study.design.condition_seats import NOBODY, seats_of
from study.design.models import Condition
from study.design.team_organisation import LED_KINDS
from study.editor.condition_and_item_forms import SHOW_BUTTON, ConditionForm, clear_unchosen_errors
from study.editor.form_fields import (
    APART,
    ELSEWHERE,
    KIND,
    MEMBERS,
    PEOPLE,
    TALK,
    TALKS_WITHIN,
    applicable_fields,
    may_be_apart,
    read_team,
    team_fields,
    team_initial,
)
from study.editor.policy_file_uses import use_file_selects
from study.editor.recording_choice import use_recording_selects
from study.editor.world_setting_fields import use_drawing_fields, with_default_settings

ROWS = "team_row"
ADD, DROP = "add", "drop "
"""Values of the button that reloads the form: with one more row, or without the row of the number that
follows."""
SHOWN = "_shown"
MOST_PLAYERS = 64
LEADER = 0
"""The choice of a row that plays for no player: its co-player leads."""
LEADER_CHOICE = (LEADER, "No player: it leads")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the form: a co-player for single seats. It has the row's number in the form and the
    stored values."""

    number: int
    stored: Mapping[str, Json]

    @property
    def part(self) -> str:
        """Return the name of the field that chooses the row's type of co-player."""
        return f"{ROWS}_{self.number}"

    @property
    def players(self) -> str:
        """Return the name of the field that lists the players for whom the co-player plays."""
        return f"{self.part}_players"

    @property
    def led(self) -> str:
        """Return the name of the hidden field that keeps the choice `LEADER` while the chosen organisation
        does not offer it."""
        return f"{self.part}_led"

    def kinds(self) -> list[ChoosableKind]:
        """Return all types of co-players, as choices for this row."""
        return [replace(kind, part=self.part) for kind in all_kinds() if kind.part == COPLAYER]

    def stored_of(self, kind: str) -> Mapping[str, Json]:
        """Return the stored settings if the stored co-player has the type `kind`, else an empty mapping."""
        settings: Mapping[str, Json] = self.stored.get("settings", {})
        return settings if self.stored.get("coplayer") == kind else {}

    def initial(self) -> dict[str, Json]:
        """Return the initial values of the row's fields. The result is empty for a new row."""
        if not self.stored:
            return {}
        kind: str = self.stored["coplayer"]
        chosen = {
            name: self.stored_of(kind).get(setting.name, setting.default)
            for one in self.kinds()
            if one.name == kind
            for name, setting in one.named_settings()
        }
        players = [seat + 1 for seat in self.stored["seats"]] or [LEADER]
        return {self.part: kind, self.players: players, **chosen}

    def read(self, cleaned: Mapping[str, Any]) -> dict[str, Json]:
        """Return the row's co-player as a condition stores it. A setting with its default value is left out
        if it was not stored before."""
        name: str = cleaned[self.part]
        kinds, known = [one for one in self.kinds() if one.name == name], self.stored_of(name)
        named = (pair for kind in kinds for pair in kind.named_settings())
        said = [(s, cleaned[field]) for field, s in named if field in cleaned]
        return {
            "seats": sorted(player - 1 for player in cleaned[self.players] if player != LEADER),
            "coplayer": name,
            "settings": {s.name: value for s, value in said if s.name in known or value != s.default},
        }


def rows_of(sent: QueryDict | None, stored: Sequence[Mapping[str, Json]]) -> list[Row]:
    """Return the submitted rows. If nothing was submitted, return the stored rows."""
    numbers = _numbers(sent) if sent else list(range(len(stored)))
    return [Row(number, stored[number] if number < len(stored) else {}) for number in numbers]


def _numbers(sent: QueryDict) -> list[int]:
    said = (one for one in sent.getlist(ROWS) if one.isdecimal() and len(one) < 4)
    return list(dict.fromkeys(map(int, said)))


def with_rows(sent: QueryDict) -> QueryDict:
    """Return the submitted data, with a row added or removed if the user pressed that button. Settings that
    were not on the page get their initial values."""
    filled = sent.copy()
    numbers, asked = _numbers(sent), sent.get(SHOW_BUTTON, "")
    if asked == ADD:
        fresh = Row(max(numbers, default=-1) + 1, {})
        numbers.append(fresh.number)
        filled[fresh.part] = _first_kind(sent)
    elif asked.startswith(DROP):
        numbers = [one for one in numbers if str(one) != asked.removeprefix(DROP)]
    filled.setlist(ROWS, list(map(str, numbers)))
    is_apart = forms.CheckboxInput().value_from_datadict(sent, MultiValueDict(), APART)
    if sent.get(KIND) in LED_KINDS and not is_apart:
        for row in (Row(number, {}) for number in numbers):
            if row.led in sent and str(LEADER) not in sent.getlist(row.players):
                filled.appendlist(row.players, str(LEADER))
    kinds = [kind for number in numbers for kind in Row(number, {}).kinds()]
    return with_default_settings(filled, kinds, lambda _, setting: setting.beginning)


def _first_kind(sent: QueryDict) -> str:
    """Return the type of co-player to preselect in a new row: that of the other teammates, or else the first
    that can play the world."""
    own = sent.get(COPLAYER, "")
    return own if own not in {"", NOBODY} else _offered("", sent.get(WORLD, ""))[0][0]


def _offered(stored: str, world: str) -> list[tuple[str, str]]:
    return [one for one in kind_choices(COPLAYER, stored, world) if one[0] != NOBODY]


def _who_may_lead(world: str) -> str:
    """Return a text that names the co-players that can lead a team in this world without having a player of
    their own."""
    able = leading_kinds(world) if world in known_worlds() else []
    return f"Without a player, only {' or '.join(map(readable_name, able))} can lead." if able else ""


def row_fields(row: Row, *, kinds: Collection[str], world: str) -> dict[str, forms.Field]:
    """Return the form fields of a row: players, co-player, and the settings of the co-player types in
    `kinds`."""
    fields: dict[str, forms.Field] = {
        row.players: forms.TypedMultipleChoiceField(
            label="Plays for",
            coerce=int,
            choices=[LEADER_CHOICE, *((player, f"Player {player}") for player in range(1, MOST_PLAYERS + 1))],
            widget=forms.CheckboxSelectMultiple(attrs={"class": "decides"}),
            help_text=_who_may_lead(world),
            error_messages={"required": "Choose at least one player, or remove this co-player."},
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


def shown_kinds(row: Row, sent: QueryDict | None, chosen: str) -> set[str]:
    """Return the co-player types whose settings the row shows. They are the chosen type and the types that
    were shown before, so that typed values are not lost."""
    before = {
        one.partition("__")[2]
        for one in (sent.getlist(SHOWN) if sent else ())
        if one.startswith(f"{row.part}__")
    }
    return {chosen, *before}


def row_player_problems(
    rows: Sequence[tuple[Row, Sequence[int]]], players: Collection[int]
) -> Iterator[tuple[str, str]]:
    """Yield (field, message) for each wrong choice of players in the form's rows of co-players.

    It is wrong to choose a player whom no co-player controls, a player twice, or a leader together with
    players. `rows` has (row, the row's chosen players) pairs. `players` are all players that co-players
    control.
    """
    taken: set[int] = set()
    for row, own in rows:
        if LEADER in own and len(own) > 1:
            yield row.players, "A co-player that leads without a player plays for nobody else."
        for player in (one for one in own if one != LEADER):
            if player not in players:
                yield row.players, f"No co-player can play for player {player}."
            elif player in taken:
                yield row.players, f"Player {player} already has a separate co-player."
        taken |= set(own)


NOBODY_WRITES = (
    "Nobody writes messages in this condition. Choose an organisation below in which members may write."
)
KEPT = "_kept"
"""The key of the list of fields that are on the page but hidden."""
DECIDING = (
    KIND,
    APART,
    TALK,
    TALKS_WITHIN,
    PEOPLE,
    ELSEWHERE[SCHEDULE],
    "team_leads",
    "team_leaves_talk",
    "team_commands",
    "team_writes",
)
"""Team fields whose value changes which fields are shown, or the diagram."""


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row as the page shows it: its fields, and one group of settings for each co-player type that is or
    was chosen."""

    number: int
    players: BoundField
    coplayer: BoundField
    groups: list[tuple[ChoosableKind, list[BoundField], bool]]
    is_new: bool
    is_open: bool
    """True if the row's settings are unfolded, because some have errors."""
    kept: str
    """Name of the hidden field that keeps the choice `LEADER` (`Row.led`). Empty if nothing must be kept."""


class TeamFields(ConditionForm):
    """A condition form with fields about the team. If these fields are missing in the submitted data, the
    stored team settings stay unchanged."""

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
        use_drawing_fields(self, self.instance.study)
        use_file_selects(self, self._world())
        use_recording_selects(self, self.instance.study)
        if not self._has_talk():
            field = self.fields["talk_language"]
            field.disabled, field.help_text = True, NOBODY_WRITES

    @property
    def _sent(self) -> QueryDict | None:
        return self.data if self.is_bound and isinstance(self.data, QueryDict) else None

    def _add(self, row: Row) -> None:
        self.initial = {**self.initial, **row.initial()}
        chosen = self.data.get(row.part, "") if self.is_bound else self.initial.get(row.part, "")
        shown = shown_kinds(row, self._sent, chosen)
        world = str(self.data.get(WORLD, "") if self.is_bound else self.instance.world)
        self.fields |= row_fields(row, kinds=shown, world=world)

    def clean(self) -> dict[str, Any]:
        """Collect the team's settings, and return the cleaned data. The model checks whether these
        settings can be played."""
        cleaned: dict[str, Any] = super().clean()
        for row in self.rows:
            clear_unchosen_errors(self, row.kinds(), cleaned)
        self._drop_hidden_errors()
        if KIND in self.data and KIND in cleaned:
            wrong: list[tuple[str, str]] = []
            team = read_team(self._meaningful_data(cleaned), lambda field, why: wrong.append((field, why)))
            for field, why in wrong:
                self.add_error(field, ValidationError(why))
            if not any(name.startswith("team_") for name in self.errors):
                self.instance.organisation = team
        return cleaned

    def _meaningful_data(self, cleaned: Mapping[str, Any]) -> dict[str, Any]:
        """Return the cleaned data without hidden fields that have no effect. The entry `MEMBERS` holds the
        separate co-players of single teammates."""
        out = self._hidden_fields()
        told = {name: value for name, value in cleaned.items() if name not in out}
        return told | ({} if MEMBERS in out else {MEMBERS: self._members(cleaned)})

    def _members(self, cleaned: Mapping[str, Any]) -> list[dict[str, Json]]:
        whole = [row for row in self.rows if cleaned.get(row.part) and cleaned.get(row.players)]
        members = [(row, row.read(cleaned)) for row in whole]
        named = [(row, cleaned[row.players]) for row in whole]
        if cleaned.get("teammates") is not None:
            for field, why in row_player_problems(named, self.teammate_players()):
                self.add_error(field, ValidationError(why))
        for row, member in members:
            self._check(row, member)
        return [member for _, member in members]

    def _check(self, row: Row, member: Mapping[str, Json]) -> None:
        """Check the settings of the co-player in this row. If they are invalid, add the error to the field
        that the error message names."""
        try:
            make_agent(member["coplayer"], member["settings"])
        except (SettingsError, UnknownNameError) as error:
            said = str(error.args[0])
            field = f"{row.part}__{member['coplayer']}__{said.partition(': ')[0]}"
            meant, why = (field, error_without_name(said)) if field in self.fields else (row.part, said)
            if not {field, row.part} & {*self.errors}:
                self.add_error(meant, ValidationError(why))

    def _drop_hidden_errors(self) -> None:
        """Remove the errors of hidden fields that have no effect."""
        for name in self._hidden_fields():
            self.errors.pop(name, None)
        if MEMBERS in self._hidden_fields():
            for name in [one for one in self.errors if one.startswith("team_row_")]:
                del self.errors[name]

    def _hidden_fields(self) -> set[str]:
        kept = set(self._sent.getlist(KEPT)) if self._sent else set()
        return kept - self.applying()

    def applying(self) -> set[str]:
        """Return the names of the team fields that have an effect with the form's current values."""
        several, talks = len(self._numbers()) > 1, bool(self[TALK].value())
        kind, within = self._kind() or ("central" if several else ""), bool(self[TALKS_WITHIN].value())
        schedule = str(self[ELSEWHERE[SCHEDULE]].value() or ALL_TOGETHER)
        return applicable_fields(
            kind, apart=self._apart(), several=several, talks=talks, within=within, schedule=schedule
        )

    def _has_talk(self) -> bool:
        """Return whether members may write to one another, with the form's current values."""
        several = len(self._numbers()) > 1
        kind = self._kind() or ("central" if several else "")
        if kind in {"", "solo"} or str(self["teammates"].value()) == "0":
            return False
        return bool(self[TALK].value()) if "talk" in SETTINGS_BY_KIND.get(kind, ()) else True

    def teammate_players(self) -> list[int]:
        """Return the numbers of the players that co-players control, with the form's current values."""
        teammates, apart = str(self["teammates"].value()), self._apart()
        seats = (int(teammates) if teammates.isdecimal() else 0) + (not apart)
        people = set() if apart else self._numbers() or {"1"}
        return [player for player in range(1, min(seats, MOST_PLAYERS) + 1) if str(player) not in people]

    def _kind(self) -> str:
        return str(self[KIND].value() or "")

    def _apart(self) -> bool:
        return bool(self[APART].value()) and may_be_apart(self._kind())

    def _numbers(self) -> set[str]:
        """Return the entered numbers of the players who are people."""
        return set(re.findall(r"\d+", str(self[PEOPLE].value() or "")))

    @property
    def team(self) -> list[BoundField]:
        """Return the team fields that have an effect and are shown. The first is the kind of organisation."""
        shown = self.applying()
        return [self[name] for name in team_fields() if name in shown]

    @property
    def team_kept(self) -> list[BoundField]:
        """Return the team fields without an effect. They are hidden on the page, so that their values are
        kept."""
        shown = self.applying()
        return [self[name] for name in team_fields() if name not in shown]

    @property
    def has_rows(self) -> bool:
        """Return whether this kind of organisation allows separate co-players for single teammates."""
        return MEMBERS in self.applying()

    def shown_rows(self) -> list[ShownRow]:
        """Return the rows with their fields and setting groups, as the page shows them."""
        return [self._shown_row(row) for row in self.rows]

    def _shown_row(self, row: Row) -> ShownRow:
        chosen = str(self[row.part].value() or "")
        ticked = [int(one) for one in self[row.players].value() or () if str(one).isdecimal()]
        players = sorted({*self.teammate_players(), *ticked})
        players = [player for player in players if player != LEADER]
        choices = [(player, str(player)) for player in players]
        may_lead = self._kind() in LED_KINDS and not self._apart()
        self.fields[row.players].widget.choices = [*([LEADER_CHOICE] if may_lead else []), *choices]
        groups = [
            (kind, [self[name] for name, _ in kind.named_settings()], kind.name == chosen)
            for kind in row.kinds()
            if kind.name in shown_kinds(row, self._sent, chosen)
        ]
        is_new = self.data.get(SHOW_BUTTON) == ADD and row is self.rows[-1]
        wrong = any(name.startswith(f"{row.part}__") for name in self.errors)
        has_led = LEADER in ticked or row.led in self.data
        kept = row.led if has_led and not may_lead else ""
        return ShownRow(row.number, self[row.players], self[row.part], groups, is_new, wrong, kept)


def condition_form() -> type[TeamFields]:
    """Return the class of condition forms. It has the worlds and co-players that are registered now."""
    kinds = all_kinds()
    fields: dict[str, Any] = {
        name: setting_field(setting) for kind in kinds for name, setting in kind.named_settings()
    }
    fresh = Condition()
    fields[WORLD] = forms.ChoiceField(choices=kind_choices(WORLD), initial=fresh.world)
    fields[COPLAYER] = forms.ChoiceField(
        choices=kind_choices(COPLAYER), initial=fresh.coplayer, label="Co-player"
    )
    return type("ConditionForm", (TeamFields,), {**fields, **team_fields(), "kinds": kinds})
