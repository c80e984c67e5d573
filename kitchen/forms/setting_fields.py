"""Build Django form fields for the settings that worlds and agents declare (`Setting`).

The module also writes names and error messages of settings for display.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from kitchen.contract.declared_settings import Setting
from kitchen.contract.world import Json
from kitchen.contract.world_errors import SettingsError
from kitchen.words.english_text import sentence_case

KEY_FIRST = re.compile(r"[\w.\[\]]+: ")
"""Matches a reason that begins with a key of a file."""
LONG_TEXT = 60
"""Length from which a text gets an input box of several lines."""


def readable_name(name: str) -> str:
    """Return the code name of a world or agent for display: `random_agent` becomes `Random agent`."""
    return name.replace("_", " ").capitalize()


def setting_field(setting: Setting) -> forms.Field:
    """Return the form field of a declared setting, with its label, help text, bounds and choices."""
    field: forms.Field = _FIELDS[setting.kind](setting)
    field.label, field.help_text = setting.label, _help(setting)
    field.required = setting.kind not in {"bool", "text"} and "" not in dict(setting.choices)
    field.error_messages["required"] = f"Fill this in; the default is {_default(setting)}."
    field.validators.append(_checked(setting))
    names = ("minlength", "maxlength") if setting.kind == "text" else ("min", "max")
    is_number = not isinstance(field, NumberOrWord)
    for name, bound in zip(names, (setting.minimum, setting.maximum), strict=True):
        if bound is not None and is_number:
            field.widget.attrs[name] = _number(bound)
    return field


def _text_field(setting: Setting) -> forms.Field:
    long = setting.lines > 1 or len(setting.default) > LONG_TEXT or "\n" in setting.default
    if not long:
        return forms.CharField(widget=forms.TextInput({"size": 60}))
    rows = setting.lines if setting.lines > 1 else 8
    return LinesOfText(widget=forms.Textarea({"class": "vLargeTextField", "rows": rows}))


class LinesOfText(forms.CharField):
    """A form field for a text of several lines. Browsers send `\\r\\n` as line ends; the value has `\\n`."""

    def to_python(self, value: Any) -> str:
        """Return the text with `\\n` in place of `\\r\\n`."""
        return str(super().to_python(value)).replace("\r\n", "\n")


class NumberOrWord(forms.CharField):
    """A form field for a whole number that may be replaced by a word, such as `real`."""

    def to_python(self, value: Any) -> Any:
        """Return an int if the text is a whole number; otherwise the text."""
        text = str(super().to_python(value))
        return int(text) if text.isascii() and text.isdigit() else text


def _int_field(setting: Setting) -> forms.Field:
    return NumberOrWord(widget=forms.TextInput({"size": 8})) if setting.choices else forms.IntegerField()


_FIELDS: Mapping[str, Callable[[Setting], forms.Field]] = {
    "int": _int_field,
    "float": lambda _: forms.FloatField(),
    "bool": lambda _: forms.BooleanField(),
    "text": _text_field,
    "choice": lambda setting: forms.ChoiceField(choices=setting.choices),
}


def _checked(setting: Setting) -> Callable[[Any], None]:
    """Return a form validator that reports an invalid value with the error message of the setting itself."""

    def check(value: Json) -> None:
        try:
            setting.clean(value)
        except SettingsError as error:
            raise ValidationError(error_without_name(str(error))) from error

    return check


def error_without_name(text: str) -> str:
    """Return an error message without the field's name, for display below that field: `alpha: 0 is below
    1` becomes `0 is below 1.` A key of a file keeps its first letter: `levels: must not be empty.`"""
    said = text.partition(": ")[2] or text
    return (said if KEY_FIRST.match(said) else sentence_case(said)).rstrip(".") + "."


def _help(setting: Setting) -> str:
    default = f"Default: {_default(setting)}." if setting.default != "" and setting.kind != "text" else ""
    meant = "; ".join(f"{{{name}}}: {what}" for name, what in setting.placeholders)
    listed = f"{meant}." if meant else ""
    fresh = (
        ""
        if setting.fresh is None
        else f"New conditions begin with: {setting_value_text(setting, setting.fresh)}."
    )
    return " ".join(part for part in (setting.help, listed, _range(setting), default, fresh) if part)


def _range(setting: Setting) -> str:
    low, high = setting.minimum, setting.maximum
    if setting.kind == "text":
        return f"Up to {_number(high)} characters." if high else ""
    if low is not None and high is not None:
        return f"From {_number(low)} to {_number(high)}."
    return f"{_number(low)} or more." if low is not None else f"Up to {_number(high)}." if high else ""


def _default(setting: Setting) -> str:
    if setting.kind == "bool":
        return "yes" if setting.default else "no"
    return str(dict(setting.choices).get(setting.default, setting.default))


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else str(value)


def setting_value_text(setting: Setting, value: Json) -> str:
    """Return a setting's value for display: `yes` or `no`, the label of a choice, or the value itself."""
    if setting.kind == "bool":
        return "yes" if value else "no"
    return str(dict(setting.choices).get(value, value))
