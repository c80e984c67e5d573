"""Arrange the fields of the condition form: who plays first, all other settings in folds.

A fold's heading says what is in it. Its second line says what differs from a new condition. A fold with an
error is open.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.forms import BoundField, ChoiceField

from kitchen.contract.world import Json
from study.design.condition_choices import COPLAYER, WORLD, ChoosableKind
from study.design.models import Condition
from study.editor.form_fields import (
    APART,
    KIND,
    LEADS,
    PAIRS,
    PEOPLE,
    TALK,
    TOGETHER,
    is_team_field,
    team_fields,
    team_initial,
)

NAMES = ("name", "label")
FIRST = (WORLD, COPLAYER, "teammates", "talk_language", *NAMES)
"""Fields that the template places itself."""
TEAM_FIRST = (KIND, LEADS, APART, *PAIRS.values(), TALK)
"""The team's fields that are always open, if they have an effect."""
FOLDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "data": ("Name in the data and groups", ("key", "between_group", "within_level")),
    "time": (
        "Time: step timer, thinking and decisions",
        ("step_seconds", "thinking_seconds", "decision_seconds", "passes_by", "knowing"),
    ),
    "view": (
        "What participants see, hear and may plan",
        (
            "shown",
            "three_dimensions",
            "shows_intents",
            "recommends_sound",
            "hides_dots",
            "offers_plans",
            "order_choices",
        ),
    ),
    "goal": ("Goal and stars", ("goal", "ends_at_goal", "star_targets")),
    "probes": ("Questions during the game", ("probes", "rating_slider")),
    "round": ("Before and after a round", ("ready_card", "end_card", "rating_replay")),
    "lobby": (
        "Waiting for other people, and who leaves",
        ("lobby_practice", "lobby_practice_shared", *TOGETHER.values()),
    ),
}
"""Heading and fields of each fold, by the end of its id."""
OTHER = "Other settings"
"""The heading of the fold with fields that are in no other fold."""
MOST_OPEN = 2
"""The most settings of a world or co-player that are shown without a fold."""
MAIN_SETTINGS = ("model", "rest_model", "persona")
"""Settings of co-players that are shown without a fold: whom a language model asks, and whom it plays."""
LONGEST_VALUE = 40


@dataclass(frozen=True, slots=True)
class Fold:
    """A fold of the form: its heading, its fields, and what is set in it."""

    id: str
    title: str
    fields: tuple[BoundField, ...]
    told: str
    """The fields that differ from a new condition, with their values. Empty if none differs."""
    is_open: bool


@dataclass(frozen=True, slots=True)
class KindSettings:
    """The settings of one world or co-player: those that are open, and a fold with the others."""

    kind: ChoosableKind
    chosen: bool
    main: tuple[BoundField, ...]
    more: Fold | None

    @property
    def hidden(self) -> tuple[BoundField, ...]:
        """Return all fields, for a kind that is not chosen."""
        return (*self.main, *(self.more.fields if self.more else ()))


def condition_folds(form: Any, without: Collection[str] = ()) -> list[Fold]:
    """Return the folds with the condition's own fields. Fields in `without` are left out."""
    shown = form.applying()
    placed = {name for _, names in FOLDS.values() for name in names} | {*FIRST, *without}
    own = {name for kind in form.kinds for name, _ in kind.named_settings()}
    rest = [name for name in form.fields if name not in placed | own and not is_team_field(name)]
    named = {**FOLDS, **({"other": (OTHER, tuple(rest))} if rest else {})}
    folds = []
    for name, (title, fields) in named.items():
        there = [
            one
            for one in fields
            if one in form.fields and one not in without and (one in shown or not is_team_field(one))
        ]
        if there:
            folds.append(make_fold(name, title, [form[one] for one in there], new_values()))
    return folds


def team_sections(form: Any) -> dict[str, Any]:
    """Return the team's fields for the template: those that are open, and a fold with the others."""
    shown = [one for one in form.team if one.name not in {PEOPLE, *TOGETHER.values()}]
    talks = [form["talk_language"]] if "talk_language" in form.fields else []
    more = [*(one for one in shown if one.name not in TEAM_FIRST), *talks]
    return {
        "first": [one for one in shown if one.name in TEAM_FIRST],
        "more": make_fold("team", "More about talk, and who waits for whom", more, new_values()),
        "people": form[PEOPLE] if PEOPLE in form.applying() else None,
    }


def kind_settings(
    groups: list[tuple[ChoosableKind, list[BoundField], bool]],
) -> dict[str, list[KindSettings]]:
    """Return the settings of the form's worlds and co-players, by `WORLD` or `COPLAYER`.

    `groups` are (world or co-player, its fields, whether it is chosen).
    """
    made: dict[str, list[KindSettings]] = {WORLD: [], COPLAYER: []}
    for kind, fields, chosen in groups:
        made[kind.part].append(_kind_settings(kind, fields, chosen))
    return made


def _kind_settings(kind: ChoosableKind, fields: list[BoundField], chosen: bool) -> KindSettings:
    named = dict(kind.named_settings())
    main = [one for one in fields if named[one.name].name in MAIN_SETTINGS] or fields[:1]
    if len(fields) <= MOST_OPEN:
        main = fields
    more = [one for one in fields if one not in main]
    fresh = {name: setting.beginning for name, setting in named.items()}
    fold = make_fold(kind.part, f"More settings: {kind.label.partition(' (')[0]}", more, fresh)
    return KindSettings(kind, chosen, tuple(main), fold if more else None)


def make_fold(name: str, title: str, fields: list[BoundField], fresh: Mapping[str, Json]) -> Fold:
    """Return a fold with these fields. `fresh` has the values of a new condition by field name."""
    told = "; ".join(_differences(fields, fresh))
    return Fold(f"fold-{name}", title, tuple(fields), told, any(field.errors for field in fields))


def _differences(fields: list[BoundField], fresh: Mapping[str, Json]) -> Iterator[str]:
    for field in fields:
        value = field.value()
        if not _is_same(value, fresh.get(field.name)) or field.errors:
            yield _value_words(field, value)


def _is_same(value: Any, usual: Any) -> bool:
    if value in (None, "", [], {}) and usual in (None, "", [], {}):
        return True
    try:
        return float(value) == float(usual)
    except (TypeError, ValueError):
        return str(value).replace("\r\n", "\n") == str(usual)


def _value_words(field: BoundField, value: Any) -> str:
    if isinstance(value, bool):
        return str(field.label) if value else f"{field.label}: no"
    if isinstance(field.field, ChoiceField):
        value = dict(field.field.choices).get(value, value)  # type: ignore[arg-type]
    text = " ".join(str("" if value is None else value).split())
    short = f"{text[:LONGEST_VALUE]}…" if len(text) > LONGEST_VALUE else text
    return f"{field.label}: {short or 'empty'}"


def new_values() -> dict[str, Json]:
    """Return the values of the condition's own fields and the team's fields in a new condition."""
    own = {field.name: field.get_default() for field in Condition._meta.concrete_fields}
    return dict.fromkeys(team_fields()) | team_initial({}) | _team_defaults() | own


def _team_defaults() -> dict[str, Json]:
    told = team_initial({"kind": "solo"})
    return {field: told[field] for field in TOGETHER.values()}
