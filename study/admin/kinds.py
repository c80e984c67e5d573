"""Worlds and co-players as forms show them: names to choose from, and one field per declared setting.

Nothing here knows a world or a co-player by name: what the registries hold and `settings` declares appears.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from kitchen.coplayers.registry import COPLAYERS, get_coplayer
from kitchen.worlds.base import Json, Setting, SettingsError
from kitchen.worlds.registry import WORLDS, get_world
from study.plan import NOBODY

WORLD = "world"
COPLAYER = "coplayer"
LONG_TEXT = 60
"""Characters from which a text is written in a box of several lines."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One world or co-player that a condition can have."""

    part: str
    """WORLD or COPLAYER: the field of the condition that names it."""
    name: str
    label: str
    settings: tuple[Setting, ...]

    def named_settings(self) -> Iterator[tuple[str, Setting]]:
        """Every setting with the name of its form field, which no other kind's setting has."""
        for setting in self.settings:
            yield f"{self.part}__{self.name}__{setting.name}", setting


def readable(name: str) -> str:
    """A name of the registries as people read it."""
    return name.replace("_", " ").capitalize()


def all_kinds() -> tuple[Kind, ...]:
    """Every world, then every co-player of the registries."""
    worlds = [Kind(WORLD, name, readable(name), get_world(name).settings) for name in sorted(WORLDS)]
    return (*worlds, *(_coplayer_kind(name) for name in sorted(COPLAYERS)))


def _coplayer_kind(name: str) -> Kind:
    found = get_coplayer(name)
    plays = "every world" if found.worlds is None else ", ".join(readable(world) for world in found.worlds)
    return Kind(COPLAYER, name, f"{readable(name)} (plays {plays})", found.settings)


def kind_choices(part: str, stored: str = "") -> list[tuple[str, str]]:
    """What a select of worlds or co-players offers; what is stored stays on offer even if it is gone."""
    nobody = [(NOBODY, "Nobody: the participant plays alone")] if part == COPLAYER else []
    found = nobody + [(kind.name, kind.label) for kind in all_kinds() if kind.part == part]
    gone = stored and stored not in dict(found)
    return [*found, (stored, f"{readable(stored)} (no longer there)")] if gone else found


def setting_field(setting: Setting) -> forms.Field:
    """The form field of one declared setting, with its label, help, bounds and choices."""
    field: forms.Field = _FIELDS[setting.kind](setting)
    field.label, field.help_text = setting.label, _help(setting)
    field.required = setting.kind not in {"bool", "text"}
    field.error_messages["required"] = f"Fill this in; the default is {_default(setting)}."
    field.validators.append(_checked(setting))
    for name, bound in (("min", setting.minimum), ("max", setting.maximum)):
        if bound is not None:
            field.widget.attrs[name] = _number(bound)
    return field


def _text_field(setting: Setting) -> forms.Field:
    long = len(setting.default) > LONG_TEXT or "\n" in setting.default
    widget = (
        forms.Textarea({"class": "vLargeTextField", "rows": 8}) if long else forms.TextInput({"size": 60})
    )
    return forms.CharField(widget=widget)


_FIELDS: Mapping[str, Callable[[Setting], forms.Field]] = {
    "int": lambda _: forms.IntegerField(),
    "float": lambda _: forms.FloatField(),
    "bool": lambda _: forms.BooleanField(),
    "text": _text_field,
    "choice": lambda setting: forms.ChoiceField(choices=setting.choices),
}


def _checked(setting: Setting) -> Callable[[Any], None]:
    """A validator that says in words what the setting itself finds wrong."""

    def check(value: Json) -> None:
        try:
            setting.clean(value)
        except SettingsError as error:
            raise ValidationError(without_name(str(error))) from error

    return check


def without_name(text: str) -> str:
    """`alpha: 0 is below 1` as it stands below the field of that name: `0 is below 1.`"""
    said = text.partition(": ")[2] or text
    return f"{said[:1].upper()}{said[1:]}".rstrip(".") + "."


def _help(setting: Setting) -> str:
    default = f"Default: {_default(setting)}." if setting.default != "" and setting.kind != "text" else ""
    return " ".join(part for part in (setting.help, _range(setting), default) if part)


def _range(setting: Setting) -> str:
    low, high = setting.minimum, setting.maximum
    if low is not None and high is not None:
        return f"From {_number(low)} to {_number(high)}."
    return f"{_number(low)} or more." if low is not None else f"Up to {_number(high)}." if high else ""


def _default(setting: Setting) -> str:
    if setting.kind == "bool":
        return "yes" if setting.default else "no"
    return str(dict(setting.choices).get(setting.default, setting.default))


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else str(value)


def told_settings(part: str, name: str, values: Mapping[str, Json]) -> list[tuple[str, str]]:
    """(label, value) in words for all that one kind declares; what it does not know under its own name."""
    kind = next((kind for kind in all_kinds() if (kind.part, kind.name) == (part, name)), None)
    declared = {setting.name: setting for setting in kind.settings} if kind else {}
    told = [(s.label, _told(s, values.get(s.name, s.default))) for s in declared.values()]
    return told + [(key, str(value)) for key, value in values.items() if key not in declared]


def _told(setting: Setting, value: Json) -> str:
    if setting.kind == "bool":
        return "yes" if value else "no"
    return str(dict(setting.choices).get(value, value))
