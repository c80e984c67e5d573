"""Who plays in a condition, and who may command whom and write to whom, as fields of its form.

Players are numbered as participants read them: 1 is the participant, whose seat is 0; where the participant
has no place in the game, 1 is the first teammate.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from django import forms

from kitchen.contract.organisation import APPLY, LABELS, SETTINGS
from kitchen.contract.world import Json, Setting, SettingsError, WorldError
from kitchen.forms.setting_fields import setting_field
from kitchen.play.absence import MOST_STEPS
from kitchen.registry.agents import get_agent, make_agent
from kitchen.registry.names import UnknownNameError
from study.design.team import END, LATEST, LEAVE, REPLACE, SOONEST, Team, team_of
from study.editor.fields import LinesField

KIND, LEADS, APART, MEMBERS = "team_kind", "team_leads", "team_apart", "team_members"
PEOPLE = "team_people"
TOGETHER = {name: f"team_{name}" for name in ("lobby_seconds", "unfilled", "absent_steps", "absent")}
"""What is said of several people, by the name of its field."""
PAIRS = {"commands": "team_commands", "writes": "team_writes"}
SILENT = "One co-player commands all teammates, and nobody writes to anybody"
NEEDED = "Choose one: who leads without a place in the game, and co-players of their own, belong to one."
ELSEWHERE = {
    "organisation": KIND,
    "leads": LEADS,
    "apart": APART,
    "members": MEMBERS,
    "people": PEOPLE,
    **TOGETHER,
    **PAIRS,
    **{setting.name: f"team_{setting.name}" for setting in SETTINGS},
}
"""Fields that messages of the rules call by another name."""
_MEMBER = re.compile(r"([\d ,]+|[\d ,]+ and \d+)\s*:\s*([a-z_]+)\s*(?:;(.*))?")
_SAID = re.compile(r'(?:"(?:[^"\\]|\\.)*"|[^;])+')
"""Settings of a member: semicolons between them, but none within quotes."""
_PAIR = re.compile(r"(\d+)\s*(?:>|→|to)\s*(\d+)")
_BOOLS = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}


def team_fields() -> dict[str, forms.Field]:
    """All of them, in their order; none has to be filled in."""
    fields: dict[str, forms.Field] = {
        KIND: forms.ChoiceField(
            required=False,
            label="Organisation",
            choices=[("", SILENT), *LABELS.items()],
            help_text="Who may command whom by words, and who may write to whom.",
        )
    }
    for setting in SETTINGS:
        field = setting_field(setting)
        kinds = [f"“{LABELS[kind]}”" for kind, names in APPLY.items() if setting.name in names]
        field.required, field.help_text = False, f"{field.help_text} For {', '.join(kinds)}."
        fields[ELSEWHERE[setting.name]] = field
    fields[LEADS] = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=64,
        label="Who leads, or begins the chain",
        help_text="The number of a player; 1 is the participant, and so it is if this is empty.",
    )
    fields[APART] = forms.BooleanField(
        required=False,
        label="The participant leads and has no place in the game",
        help_text="All players are co-players then, the first is 1; “follower” does as it is told. Steps go "
        "by the step timer. What the participant sees of the world is what who leads sees, above.",
    )
    fields[MEMBERS] = LinesField(
        label="Co-players of their own",
        help_text="One on each line: players, kind, settings. “3: planner” or “2, 3: dispatcher; model = "
        "anthropic:claude-haiku-4-5; memory = 5”. A text of several lines, or with a semicolon, stands in "
        'quotes: “4: dispatcher; persona = "Be calm; ask first.\\nUse short words."”. All other teammates '
        "have the co-player above.",
    )
    for name, label in (("commands", "Who may command whom"), ("writes", "Who may write to whom")):
        fields[PAIRS[name]] = LinesField(
            label=label, help_text=f"One pair on each line, for “{LABELS['custom']}”: “1 > 2”."
        )
    return fields | _people_fields()


def _people_fields() -> dict[str, forms.Field]:
    """Who of the players are people, and what if they do not come or are gone."""
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
            help_text=f"Where several people play together. Empty: {team.lobby_seconds}.",
        ),
        TOGETHER["unfilled"]: forms.ChoiceField(
            required=False,
            label="When not all have come by then",
            choices=[
                (REPLACE, "A co-player, as chosen above, plays for each who is missing"),
                (LEAVE, "Those who came are thanked, given their code, and leave"),
            ],
        ),
        TOGETHER["absent_steps"]: forms.IntegerField(
            required=False,
            min_value=0,
            max_value=MOST_STEPS,
            label="Turns missed in a row after which somebody is gone",
            help_text="Counted where there is a step timer. 0: only who leaves is gone. "
            f"Empty: {team.absent_steps}.",
        ),
        TOGETHER["absent"]: forms.ChoiceField(
            required=False,
            label="When somebody is gone, or leaves, while others play",
            choices=[
                (REPLACE, "A co-player, as chosen above, takes their place"),
                (END, "The episode ends; the others go on with what comes next"),
            ],
        ),
    }


def team_initial(organisation: Mapping[str, Json]) -> dict[str, Json]:
    """What the fields show of a condition."""
    defaults = {ELSEWHERE[setting.name]: setting.default for setting in SETTINGS}
    if not organisation:
        return defaults
    team = team_of(organisation)
    chosen = {ELSEWHERE[name]: value for name, value in team.settings.items()}
    pairs = {
        PAIRS[name]: [f"{one + 1} > {other + 1}" for one, other in getattr(team, name)] for name in PAIRS
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
        MEMBERS: [_written(one.seats, one.coplayer, one.settings) for one in team.members],
    }


def _written(seats: tuple[int, ...], coplayer: str, settings: Mapping[str, Json]) -> str:
    players = ", ".join(str(seat + 1) for seat in seats)
    chosen = [f"{name} = {_said(value)}" for name, value in settings.items()]
    return f"{players}: {'; '.join([coplayer, *chosen])}"


def _said(value: Json) -> str:
    """A value as it can be read again from one line."""
    text = {"True": "yes", "False": "no"}.get(str(value), str(value))
    if ";" not in text and '"' not in text and text == text.strip() and len(text.splitlines()) < 2:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return quoted if len(quoted.splitlines()) < 2 else json.dumps(text)


def team_read(cleaned: Mapping[str, Any], fail: Callable[[str, str], None]) -> dict[str, Json]:
    """A condition's `organisation` from what was filled in; `fail` is told of a field what is wrong."""
    people = _people(cleaned.get(PEOPLE) or "1", fail)
    kind = cleaned.get(KIND) or ("" if people == [0] else "central")
    if not kind:
        if cleaned.get(APART) or cleaned.get(MEMBERS):
            fail(KIND, NEEDED)
        return {}
    chosen = {
        setting.name: cleaned[ELSEWHERE[setting.name]]
        for setting in SETTINGS
        if setting.name in APPLY[kind]
        and cleaned.get(ELSEWHERE[setting.name]) not in (None, "", setting.default)
    }
    team: dict[str, Json] = {"kind": kind, "settings": chosen}
    team |= _together(cleaned, people)
    if cleaned.get(APART):
        team["apart"] = True
    elif kind in {"tree", "chain"} and cleaned.get(LEADS):
        team["leads"] = cleaned[LEADS] - 1
    readers: dict[str, tuple[str, Callable[[str], Json]]] = {MEMBERS: ("members", _member)}
    if kind == "custom":
        readers |= {field: (name, _pair) for name, field in PAIRS.items()}
    for field, (name, read) in readers.items():
        if rows := [_row(read, line, field, fail) for line in cleaned.get(field) or ()]:
            team[name] = rows
    return team


def _people(text: str, fail: Callable[[str, str], None]) -> list[int]:
    if not re.fullmatch(r"[1-9]\d*( *, *[1-9]\d*)*", text.strip()):
        fail(PEOPLE, "Write numbers of players: “1” or “1, 2”.")
        return [0]
    return sorted(int(number) - 1 for number in text.split(","))


def _together(cleaned: Mapping[str, Any], people: list[int]) -> dict[str, Json]:
    """What is not as it is where nothing is said."""
    said: dict[str, Json] = {} if people == [0] else {"people": people}
    if len(people) > 1:
        filled = {name: cleaned.get(field) for name, field in TOGETHER.items()}
        said |= {name: one for name, one in filled.items() if one not in (None, "", getattr(Team(), name))}
    return said


def _row(read: Callable[[str], Json], line: str, field: str, fail: Callable[[str, str], None]) -> Json:
    try:
        return read(line)
    except (ValueError, WorldError, UnknownNameError) as error:
        fail(field, f"“{line}”: {error}")
        return None


def _pair(line: str) -> list[int]:
    found = _PAIR.fullmatch(line)
    if not found:
        raise ValueError("write it as “1 > 2”")
    return [int(found[1]) - 1, int(found[2]) - 1]


def _member(line: str) -> dict[str, Json]:
    found = _MEMBER.fullmatch(line)
    if not found:
        raise ValueError("write it as “3: planner”")
    seats = [int(number) - 1 for number in re.findall(r"\d+", found[1])]
    declared = {setting.name: setting for setting in get_agent(found[2]).settings}
    said = [part.partition("=") for part in _SAID.findall(found[3] or "") if part.strip()]
    settings = {
        name.strip(): _value(declared, name.strip(), _unquoted(value.strip())) for name, _, value in said
    }
    make_agent(found[2], settings)
    return {"seats": seats, "coplayer": found[2], "settings": settings}


def _unquoted(text: str) -> str:
    if not text.startswith('"'):
        return text
    try:
        return str(json.loads(text))
    except ValueError as error:
        raise ValueError('a text in quotes is written as "one\\ntwo", a quote in it as \\"') from error


def _value(declared: Mapping[str, Setting], name: str, text: str) -> Json:
    if name not in declared:
        raise SettingsError(f"{name}: no such setting; there are {', '.join(declared)}")
    setting = declared[name]
    return setting.clean(_BOOLS.get(text.lower(), text) if setting.kind == "bool" else text)


def is_team_field(name: str) -> bool:
    """Whether this is one of them."""
    return name.startswith("team_")
