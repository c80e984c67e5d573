"""Define form fields for lists, for values of several types, and for the team of a condition.

The team fields set who plays, and who may command or write to whom. In these fields, players have the numbers
that participants see. Player 1 is the participant. If the participant has no player in the world (game),
player 1 is the first teammate.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from django import forms

from kitchen.contract.data_limits import DataLimitError, read_json
from kitchen.contract.metric_definitions import METRIC_NAME_PATTERN
from kitchen.contract.organisation import ORGANISATION_LABELS
from kitchen.contract.organisation_settings import (
    ORGANISATION_SETTINGS,
    SETTINGS_BY_KIND,
    WITHIN,
    applicable_settings,
)
from kitchen.contract.star_targets import STARS
from kitchen.contract.team_schedules import SCHEDULE, SCHEDULE_SETTINGS
from kitchen.contract.team_schedules import TOGETHER as ALL_TOGETHER
from kitchen.contract.world import Json
from kitchen.forms.setting_fields import setting_field
from kitchen.play.episode.absent_players import MAX_MISSED_STEPS
from kitchen.words.english_text import and_list
from study.design.form_labels import CONDITION
from study.design.team_organisation import (
    ABSENT,
    ABSENT_LABEL,
    LATEST,
    PAIRS_BY_TRIP_LABEL,
    SOONEST,
    UNFILLED,
    UNFILLED_LABEL,
    Team,
    team_of,
)
from study.design.translations import language_codes, language_name


class TextLinesField(forms.CharField):
    """A form field for a list of texts, one per line. Empty lines are ignored."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"widget": forms.Textarea(attrs={"rows": 4}), "required": False, **kwargs})

    def prepare_value(self, value: Any) -> Any:
        """Return the list as one text with a line for each entry."""
        return "\n".join(map(str, value)) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        """Return the submitted lines as a list."""
        return [line.strip() for line in (super().to_python(value) or "").splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Return whether the submitted lines differ from the initial list."""
        return bool(list(initial or []) != self.to_python(data))


MAX_JSON_CHARACTERS = 20_000
"""Maximum length of the text in an `AnyValueField`."""


class AnyValueField(forms.CharField):
    """A form field for an answer of any type. An empty text gives None, a number a number, `["a", "b"]` a
    list. Anything else is kept as a text."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"required": False, **kwargs})

    def prepare_value(self, value: Any) -> Any:
        """Return the stored value as a user would type it."""
        return value if isinstance(value, str) else "" if value is None else json.dumps(value)

    def to_python(self, value: Any) -> Json:
        """Return the submitted text as a number, a list or a text."""
        text = super().to_python(value) or ""
        if len(text) > MAX_JSON_CHARACTERS:
            raise forms.ValidationError(
                f"This has more than {MAX_JSON_CHARACTERS:,} characters.", code="limit"
            )
        try:
            parsed = read_json(text)
        except DataLimitError as error:
            raise forms.ValidationError(f"This {error}.", code="limit") from None
        except ValueError:
            return text or None
        return parsed if isinstance(parsed, (int, float, list)) and not isinstance(parsed, bool) else text

    def run_validators(self, value: Any) -> None:
        """Run the validators if the value is a text. Numbers and lists are skipped, because the validators
        check the length of texts."""
        if isinstance(value, str):
            super().run_validators(value)


class GoalField(TextLinesField):
    """A form field for a goal: a mapping of metrics to least values, one `name = value` per line."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"widget": forms.Textarea(attrs={"rows": 2}), **kwargs})

    def prepare_value(self, value: Any) -> Any:
        """Return the goal as one text with a line for each metric."""
        return (
            "\n".join(f"{name} = {least}" for name, least in value.items())
            if isinstance(value, dict)
            else value
        )

    def to_python(self, value: Any) -> Any:
        """Return the goal as a mapping. Raises ValidationError for a line that is no name with a number, and
        for a metric with two values."""
        goal: dict[str, Json] = {}
        for line in super().to_python(value):
            found = _LEAST.fullmatch(line)
            if not found or found[1] in goal:
                raise forms.ValidationError(f"“{line}”: write each metric once, as “completed = 3”.")
            goal[found[1]] = _number(found[2])
        return goal

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Return whether the submitted goal differs from the initial one."""
        try:
            return bool((initial or {}) != self.to_python(data))
        except forms.ValidationError:
            return True


class StarNumbersField(forms.CharField):
    """A form field for the values at which one, two and three stars are earned: `3 5 7`. The value is a list
    of three numbers; None if it is empty."""

    def prepare_value(self, value: Any) -> Any:
        """Return the numbers as text."""
        return " ".join(map(str, value)) if isinstance(value, list | tuple) else value

    def to_python(self, value: Any) -> Any:
        """Return the numbers. Raises ValidationError if there are not three of them."""
        words = (super().to_python(value) or "").split()
        if words and (len(words) != STARS or not all(map(_NUMBER.fullmatch, words))):
            raise forms.ValidationError("Write three numbers with spaces between, as “3 5 7”.")
        return [_number(word) for word in words] or None


class StarTargetsField(forms.CharField):
    """A form field for star targets: a metric with its values for one, two and three stars, on one line as
    `name = 3 5 7`. The value is a mapping of the metric to the values; empty for no stars."""

    def prepare_value(self, value: Any) -> Any:
        """Return the targets as one line."""
        if not isinstance(value, dict):
            return value
        return "; ".join(f"{name} = {' '.join(map(str, targets))}" for name, targets in value.items())

    def to_python(self, value: Any) -> Any:
        """Return the targets as a mapping. Raises ValidationError if the text is no name with three
        numbers."""
        text = super().to_python(value) or ""
        name, _, numbers = text.partition("=")
        if not text:
            return {}
        if not METRIC_NAME_PATTERN.fullmatch(name.strip()) or not numbers.strip():
            raise forms.ValidationError(f"“{text}”: write a metric and its numbers, as “completed = 3 5 7”.")
        return {name.strip(): StarNumbersField().to_python(numbers)}

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Return whether the submitted targets differ from the initial ones."""
        try:
            return bool((initial or {}) != self.to_python(data))
        except forms.ValidationError:
            return True


def _number(text: str) -> float:
    return float(text) if "." in text else int(text)


_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,6})?")
_LEAST = re.compile(r"([a-z][a-z0-9_]*)\s*(?:=|>=|≥)\s*(\d{1,9}(?:\.\d{1,6})?)")

KIND, LEADS, APART, PEOPLE = "team_kind", "team_leads", "team_apart", "team_people"
MEMBERS = "team_members"
"""The key of the co-players of single seats in the cleaned data.

The form edits them as rows (`team_rows`).
"""


def talk_language_field(languages: str, stored: str = "") -> forms.ChoiceField:
    """Return the form field for the language in which co-players write to people.

    It offers the `languages` of the study (codes separated by spaces), and the language that is `stored`.
    """
    codes = dict.fromkeys([*language_codes(languages), *filter(None, [stored])])
    return forms.ChoiceField(
        label=CONDITION["talk_language"],
        required=False,
        choices=[("", "the reader's language"), *((code, language_name(code)) for code in codes)],
        help_text="The language of fixed sentences of co-players. A language model is told to write in it.",
    )


TALK, TALKS_WITHIN = "team_talk", "team_within"
TOGETHER = {
    name: f"team_{name}" for name in ("lobby_seconds", "pairs_by_trip", "unfilled", "absent_steps", "absent")
}
"""The form fields about several people, by field name of `Team`."""
PAIRS = {"commands": "team_commands", "writes": "team_writes"}
SILENT = "One co-player commands all teammates, and nobody writes to anybody"
NEEDED = "Choose an organisation: a leader without a place in the game and separate co-players need one."
ELSEWHERE = {
    "organisation": KIND,
    "leads": LEADS,
    "apart": APART,
    "members": KIND,  # the kind field, which the rows belong to
    "people": PEOPLE,
    **TOGETHER,
    **PAIRS,
    **{setting.name: f"team_{setting.name}" for setting in ORGANISATION_SETTINGS},
}
"""Names in messages of the rules → form fields."""
LEAD = "★"
"""The symbol of a member who leads without a seat, shown in place of a number."""
_PAIR = re.compile(r"(\d+|★|\*)\s*(?:>|→|to)\s*(\d+|★|\*)")
SILENT_FIELDS = {TALK, *(ELSEWHERE[setting.name] for setting in SCHEDULE_SETTINGS)}
"""The settings of an organisation that have a meaning although nobody may write."""
_LEADERS = {"tree", "chain"}
"""Kinds of organisation that have a leader or a first member."""


def applicable_fields(
    kind: str,
    *,
    apart: bool,
    several: bool,
    talks: bool,
    within: bool = False,
    schedule: str = ALL_TOGETHER,
) -> set[str]:
    """Return the names of the team fields that have an effect for this kind of organisation. `kind` is empty
    if none is chosen.

    `apart`: the participant has no seat in the world. `several`: several people play. `talks`: people and
    co-players may write to each other. `within`: members talk within one step. `schedule`: which members wait
    for which.
    """
    needs_talk = kind in {"central", "each"} and not talks
    fields = _settings_of(kind) & (SILENT_FIELDS if needs_talk else _settings_of(kind))
    if kind:
        applied = applicable_settings(kind, {WITHIN: within, SCHEDULE: schedule})
        fields -= {ELSEWHERE[name] for name in SETTINGS_BY_KIND[kind] - applied - {WITHIN}}
    fields |= {KIND, *(PAIRS.values() if kind == "custom" else ())}
    fields |= {MEMBERS} if kind not in {"", "solo"} else set()
    if apart:
        return fields | {APART}
    fields |= {PEOPLE, *(TOGETHER.values() if several else ())}
    fields |= {APART} if may_be_apart(kind) and not several else set()
    return fields | ({LEADS} if kind in _LEADERS else set())


def may_be_apart(kind: str) -> bool:
    """Return whether the participant can play without a seat in this kind of organisation. This is
    possible if the participant can command others."""
    return kind in _LEADERS | {"graph", "custom"}


def _settings_of(kind: str) -> set[str]:
    return {ELSEWHERE[name] for name in SETTINGS_BY_KIND.get(kind, ())}


def team_fields() -> dict[str, forms.Field]:
    """Return all form fields about the team by name, in their order. None of them is required."""
    fields: dict[str, forms.Field] = {
        KIND: forms.ChoiceField(
            required=False,
            label="Organisation",
            choices=[("", SILENT), *ORGANISATION_LABELS.items()],
            help_text="Who may give commands to whom, and who may write to whom.",
        )
    }
    for setting in ORGANISATION_SETTINGS:
        fields[ELSEWHERE[setting.name]] = field = setting_field(setting)
        field.required = False
    fields[LEADS] = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=64,
        label="The leader, or the first of the chain",
        help_text="The number of a player. Empty: 1.",
    )
    fields[APART] = forms.BooleanField(
        required=False,
        label="The participant leads and controls no player",
        help_text="All players are then co-players, and the first is 1; “follower” does the jobs it is "
        "given. The step timer drives the steps. The participant sees what the leader sees, as "
        "set above.",
    )
    for name, label in (("commands", "Who may command whom"), ("writes", "Who may write to whom")):
        fields[PAIRS[name]] = TextLinesField(
            label=label,
            help_text=f"One pair of players on each line: “1 > 2”. {LEAD}, or *, is the leader who controls "
            "no player.",
        )
    return fields | _people_fields()


def _people_fields() -> dict[str, forms.Field]:
    """Return the form fields about people in the team. They ask which players are people, and what happens
    if a person is missing."""
    team = Team()
    return {
        PEOPLE: forms.CharField(
            required=False,
            label="Players who are people",
            help_text="Their numbers. “1”, or empty: the participant alone, as the first player. “1, 2”: two "
            "participants play together with the co-players; they meet in a lobby and play all that is left "
            "of the study in one order. “Teammates” above counts all players but the first.",
        ),
        TOGETHER["lobby_seconds"]: forms.IntegerField(
            required=False,
            min_value=SOONEST,
            max_value=LATEST,
            label="Longest wait in the lobby (seconds)",
            help_text=f"Empty: {team.lobby_seconds}.",
        ),
        TOGETHER["pairs_by_trip"]: forms.BooleanField(
            required=False,
            label=PAIRS_BY_TRIP_LABEL,
            help_text="The round trip is measured on the first page. For the first half of the longest wait, "
            "people meet only others within 50 ms of theirs; after that, the nearest.",
        ),
        TOGETHER["unfilled"]: forms.ChoiceField(
            required=False,
            label=UNFILLED_LABEL,
            choices=[*UNFILLED.items()],
        ),
        TOGETHER["absent_steps"]: forms.IntegerField(
            required=False,
            min_value=0,
            max_value=MAX_MISSED_STEPS,
            label="Turns missed in a row before a participant counts as gone",
            help_text="Counted if there is a step timer. 0: a participant is gone only after leaving the "
            f"study. Empty: {team.absent_steps}.",
        ),
        TOGETHER["absent"]: forms.ChoiceField(
            required=False,
            label=ABSENT_LABEL,
            choices=[*ABSENT.items()],
        ),
    }


def team_initial(organisation: Mapping[str, Json], seats: int = 0) -> dict[str, Json]:
    """Return the initial values of the team fields for a condition's organisation.

    `seats` is the number of seats in the world.
    """
    defaults = {ELSEWHERE[setting.name]: setting.default for setting in ORGANISATION_SETTINGS}
    if not organisation:
        return defaults
    team = team_of(organisation)
    chosen = {ELSEWHERE[name]: value for name, value in team.settings.items()}
    called = _MemberNames(seats if team.is_led_apart else -1)
    pairs = {
        PAIRS[name]: [f"{called[one]} > {called[other]}" for one, other in getattr(team, name)]
        for name in PAIRS
    }
    return {
        **defaults,
        **chosen,
        **pairs,
        KIND: team.kind,
        APART: team.apart,
        LEADS: team.leads + 1,
        PEOPLE: ", ".join(str(seat + 1) for seat in team.people),
        **{field: getattr(team, name) for name, field in TOGETHER.items()},
        MEMBERS: [one.model_dump(mode="json") for one in team.members],
    }


class _MemberNames(dict[int, str]):
    """Maps member numbers to names. A member who leads without a seat has the symbol `LEAD`."""

    def __init__(self, lead: int) -> None:
        super().__init__({lead: LEAD})

    def __missing__(self, number: int) -> str:
        return str(number + 1)


Fail = Callable[[str, str], None]
"""Reports an error: takes the name of the field and the message."""


def read_team(cleaned: Mapping[str, Any], fail: Fail) -> dict[str, Json]:
    """Return a condition's `organisation`, made from the cleaned values of the team fields. For each error,
    the function `fail` is called."""
    people = _people(cleaned.get(PEOPLE) or "1", fail)
    kind = cleaned.get(KIND) or ("" if people == [0] else "central")
    if not kind:
        if cleaned.get(APART) or cleaned.get(MEMBERS):
            fail(KIND, NEEDED)
        return {}
    chosen_schedule = cleaned.get(ELSEWHERE[SCHEDULE]) or ALL_TOGETHER
    applied = applicable_settings(kind, {WITHIN: cleaned.get(TALKS_WITHIN), SCHEDULE: chosen_schedule})
    chosen = {
        setting.name: cleaned[ELSEWHERE[setting.name]]
        for setting in ORGANISATION_SETTINGS
        if setting.name in applied and cleaned.get(ELSEWHERE[setting.name]) not in (None, "", setting.default)
    }
    team: dict[str, Json] = {"kind": kind, "settings": chosen}
    team |= _people_settings(cleaned, people)
    if cleaned.get(APART):
        team["apart"] = True
    elif kind in _LEADERS and cleaned.get(LEADS):
        team["leads"] = cleaned[LEADS] - 1
    if members := cleaned.get(MEMBERS):
        team["members"] = list(members)
    if kind == "custom":
        team |= _pairs(cleaned, fail)
    _check_players(team, cleaned, fail)
    return team


def _people(text: str, fail: Fail) -> list[int]:
    if not re.fullmatch(r"[1-9]\d*( *, *[1-9]\d*)*", text.strip()):
        fail(PEOPLE, "Write numbers of players: “1” or “1, 2”.")
        return [0]
    return sorted(int(number) - 1 for number in text.split(","))


def _people_settings(cleaned: Mapping[str, Any], people: list[int]) -> dict[str, Json]:
    """Return the settings about people whose values differ from the defaults. `people` are the seats of
    people."""
    said: dict[str, Json] = {} if people == [0] else {"people": people}
    if len(people) > 1:
        filled = {name: cleaned.get(field) for name, field in TOGETHER.items()}
        said |= {name: one for name, one in filled.items() if one not in (None, "", getattr(Team(), name))}
    return said


def _pairs(cleaned: Mapping[str, Any], fail: Fail) -> dict[str, Json]:
    """Return the pairs of members who may command or write to each other, by member number. A field without
    an entry is left out. `fail` is called for each error."""
    lead = (cleaned.get("teammates") or 0) + (not cleaned.get(APART))
    read: dict[str, Json] = {}
    for name, field in PAIRS.items():
        for line in cleaned.get(field) or ():
            found = _PAIR.fullmatch(line)
            if not found:
                fail(field, f"“{line}”: write it as “1 > 2”")
            else:
                pair = [int(one) - 1 if one.isdecimal() else lead for one in found.groups()]
                read[name] = [*read.get(name, ()), pair]
    return read


def _check_players(team: Mapping[str, Json], cleaned: Mapping[str, Any], fail: Fail) -> None:
    """Check the entered player numbers, and report errors through `fail`. The messages name players as in the
    form (counted from 1); later checks would name seats (from 0)."""
    teammates = cleaned.get("teammates")
    if teammates is None:
        return
    seats = range(teammates + (not team.get("apart")))
    named = {
        LEADS: [team.get("leads", 0)],
        PEOPLE: team.get("people", ()),
        **{field: [one for pair in team.get(name, ()) for one in pair] for name, field in PAIRS.items()},
    }
    led = team.get("apart") or any(not own["seats"] for own in team.get("members", ()))
    lead = {len(seats)} if led else set()
    for field, numbers in named.items():
        if wrong := sorted({*numbers} - {*seats} - (lead if field in PAIRS.values() else set())):
            fail(field, f"There is no player {and_list(_players(wrong))}: they are 1 to {len(seats)}.")
    for own in team.get("members", ()):
        first, *others = own["seats"] or [len(seats)]
        for field in PAIRS.values():
            if {*others} & {*named[field]}:
                fail(field, f"{and_list(_players(own['seats']))} are one co-player: call it {first + 1}.")


def _players(seats: Collection[int]) -> list[str]:
    return [str(seat + 1) for seat in seats]


def is_team_field(name: str) -> bool:
    """Return whether this is the name of a field of the team form. Fields of its rows, one for each
    co-player, are included."""
    return name.startswith("team_")
