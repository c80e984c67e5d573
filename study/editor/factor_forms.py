"""Define the forms with which researchers add factors: from values of one field, or from whole conditions.

The fields of the base condition are offered by their paths (`study.design.factors`), for example
`settings.level`. Every value that the researcher enters becomes one level.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from kitchen.contract.declared_settings import Setting
from kitchen.contract.world import Json
from kitchen.forms.setting_fields import setting_field
from study.design import form_labels
from study.design.condition_choices import (
    COPLAYER,
    WORLD,
    goal_labels,
    kind_choices,
    settings_of_kind,
    star_labels,
)
from study.design.condition_seats import NOBODY, teammates_needed
from study.design.factors import FIELDS, LONGEST_KEY, Factor, factors_problem, levels_from
from study.design.models import Condition
from study.editor.describe_design import plain_value, talk_language_words
from study.editor.form_fields import StarNumbersField, talk_language_field
from study.editor.team_factor_fields import level_settings, team_paths, team_value_field

WITHIN, BETWEEN = "within", "between"
WHERE = (
    (WITHIN, "within participants: each participant plays several levels"),
    (BETWEEN, "between participants: each participant plays one level"),
)
TALK_LANGUAGE = "talk_language"
SINGLE_FIELDS = (
    COPLAYER,
    "teammates",
    "step_seconds",
    "thinking_seconds",
    "decision_seconds",
    "shown",
    "three_dimensions",
    "shows_intents",
    "recommends_sound",
    "hides_dots",
    "passes_by",
    "knowing",
    "offers_plans",
    "order_choices",
    TALK_LANGUAGE,
    "ends_at_goal",
    "ready_card",
    "end_card",
    "rating_replay",
    "lobby_practice",
    "lobby_practice_shared",
)
"""Fields of a condition whose values can be the levels of a factor. A factor of other fields, such as the
world, is made from whole conditions."""
EMPTY = "none"
"""The word that a researcher enters for an empty value, such as no step timer."""


def condition_values(condition: Any) -> dict[str, Any]:
    """Return the fields of a condition that levels can set, by name."""
    return {name: getattr(condition, name) for name in FIELDS}


def field_choices(base: Condition) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the fields whose values can be levels, in groups for a select element. A group has a label and
    (path, label) pairs."""
    plain = [(name, _label(name)) for name in SINGLE_FIELDS]
    groups = [("Condition", plain)]
    for part, name in ((WORLD, base.world), (COPLAYER, base.coplayer)):
        own = [(_path(part, setting), setting.label) for setting in _settings(part, name)]
        if own:
            groups.append((dict(kind_choices(part)).get(name, name), own))
    goals = [(f"goal.{name}", f"Goal: {label}") for name, label in goal_labels(base.world).items()]
    stars = [(f"star_targets.{name}", f"Stars: {label}") for name, label in star_labels(base.world).items()]
    more = (("Team", team_paths(base)), ("Goal", goals), ("Stars", stars))
    return [*groups, *((words, own) for words, own in more if own)]


def _label(name: str) -> str:
    if name == COPLAYER:
        return "Co-player"
    field: Any = Condition._meta.get_field(name)
    return form_labels.CONDITION.get(name) or str(field.verbose_name).capitalize()


def _settings(part: str, name: str) -> Iterator[Setting]:
    """Yield the settings of a world or co-player whose values fit on one line."""
    for setting in settings_of_kind(part, name).values():
        if setting.lines == 1 and not setting.placeholders:
            yield setting


def _path(part: str, setting: Setting) -> str:
    return f"{'settings' if part == WORLD else 'coplayer_settings'}.{setting.name}"


def path_label(base: Condition, path: str) -> str:
    """Return the label of a field for researchers. `path` may be any path that a level sets."""
    known = {key: label for _, pairs in field_choices(base) for key, label in pairs}
    known["coplayer_settings"] = "Settings of the co-player"
    return known.get(path, path.replace("_", " ").replace(".", ": ").capitalize())


def value_field(base: Condition, path: str) -> forms.Field:
    """Return the form field for one value of the field at this path. Its `choices`, if it has any, are
    (value, label) pairs."""
    if path == COPLAYER:
        return forms.ChoiceField(choices=kind_choices(COPLAYER, world=base.world))
    if path == TALK_LANGUAGE:
        return talk_language_field(base.study.languages, base.talk_language)
    name, _, inner = path.partition(".")
    if name == "organisation":
        return team_value_field(base, path)
    if name == "goal":
        return forms.FloatField(required=False, help_text="The goal of a round.")
    if name == "star_targets":
        return StarNumbersField(required=False, help_text="The results for one, two and three stars.")
    if inner:
        part, kind = (WORLD, base.world) if name == "settings" else (COPLAYER, base.coplayer)
        return setting_field(settings_of_kind(part, kind)[inner])
    field: Any = Condition._meta.get_field(name)
    made: forms.Field = field.formfield()
    made.validators += field.validators
    return made


def value_label(base: Condition, path: str, value: Json) -> str:
    """Return a value that a level sets as text for researchers. It is the label that the form of the factor
    offers for it, such as `The participant`, or else the value itself."""
    if path == TALK_LANGUAGE:
        return talk_language_words(value)
    if path in {key for _, pairs in field_choices(base) for key, _ in pairs}:
        field = value_field(base, path)
        read = getattr(field, "coerce", None) or (lambda text: text)
        choices = [pair for pair in getattr(field, "choices", ()) if pair[0] != "" or path == TALK_LANGUAGE]
        labels = [label for one, label in choices if read(one) == value]
        if labels:
            return str(labels[0])
    return plain_value(value)


class ListedValues(forms.CharField):
    """A form field for several values, with commas between them. Each is checked by the field `inner`. The
    value is a list of (text, value) pairs."""

    def __init__(self, inner: forms.Field, **more: Any) -> None:
        super().__init__(**more)
        self.inner = inner

    def clean(self, value: Any) -> Any:
        """Return (text, value) pairs. Raises ValidationError if a value is wrong or there are fewer than
        two."""
        texts = [text.strip() for text in str(super().clean(value)).split(",") if text.strip()]
        found = []
        for text in texts:
            if text.casefold() == EMPTY and not self.inner.required:
                found.append((text, self.inner.clean("")))
                continue
            try:
                found.append((text, self.inner.clean(text)))
            except ValidationError as error:
                raise ValidationError(f"{text}: {' '.join(error.messages)}") from error
        if len(found) < 2:
            raise ValidationError("Enter two values or more, with commas between them.")
        return found


class FactorForm(forms.Form):
    """Base class of the forms for a new factor.

    Each asks for the factor's name, and whether it varies within or between participants.
    """

    name = forms.CharField(label="Name of the factor", max_length=60)
    where = forms.ChoiceField(label="Where it varies", choices=WHERE, initial=WITHIN)

    def __init__(self, *args: Any, base: Condition, factors: Sequence[Factor], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.base, self.factors = base, factors

    def levels(self) -> list[dict[str, Json]]:
        """Return the documents of the factor's levels, from the cleaned data."""
        raise NotImplementedError

    def clean(self) -> dict[str, Any]:
        """Return the cleaned data, with the new factor added under `factor`."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        taken = {one.key for one in self.factors}
        document = {
            "key": unused_key(cleaned["name"], taken),
            "name": cleaned["name"],
            "between": cleaned["where"] == BETWEEN,
            "levels": self.levels(),
        }
        factors = [*(one.model_dump(mode="json") for one in self.factors), document]
        if problem := factors_problem(read := _unchecked(factors)):
            raise ValidationError(problem)
        cleaned["factor"] = read[-1]
        return cleaned


def _unchecked(documents: Sequence[Mapping[str, Json]]) -> tuple[Factor, ...]:
    """Return these documents as factors, without the check of `parse_factors`."""
    return tuple(Factor.model_validate(one) for one in documents)


class ValuesFactorForm(FactorForm):
    """A form for a factor whose levels are values of one field."""

    def __init__(self, *args: Any, path: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.path = path
        self.fields["name"].initial = path_label(self.base, path)
        inner = value_field(self.base, path)
        choices = [
            (str(value), str(label))
            for value, label in getattr(inner, "choices", ())
            if value != "" or path == TALK_LANGUAGE
        ]
        if isinstance(inner, forms.BooleanField):
            choices = [("on", "on"), ("", "off")]
        self.inner, self.labels = inner, dict(choices)
        if choices:
            self.fields["values"] = forms.MultipleChoiceField(
                label="Levels",
                choices=[(value or EMPTY, label) for value, label in choices],
                widget=forms.CheckboxSelectMultiple,
                help_text="Tick two or more.",
            )
        else:
            self.fields["values"] = ListedValues(
                inner,
                label="Levels",
                help_text=f"Values with commas between them. {inner.help_text}"
                + ("" if inner.required else f" “{EMPTY}” is an empty value."),
            )

    def levels(self) -> list[dict[str, Json]]:
        """Return one level for each entered value."""
        keys: set[str] = set()
        made = []
        for text, name, value in self._values():
            key = unused_key(text, keys)
            keys.add(key)
            made.append({"key": key, "name": name, "sets": self._sets(value)})
        return made

    def _values(self) -> Iterator[tuple[str, str, Json]]:
        """Yield (text, name, value) for each level. The text is what the browser sent."""
        given = self.cleaned_data["values"]
        if isinstance(self.fields["values"], ListedValues):
            yield from ((text, text, value) for text, value in given)
            return
        for one in given:
            chosen = "" if one == EMPTY and EMPTY not in self.labels else one
            label = self.labels[chosen].partition(" (")[0]
            label = label.partition(":")[0] if self.path == COPLAYER else label
            yield chosen or label, label, self.inner.clean(chosen)

    def _sets(self, value: Json) -> dict[str, Json]:
        """Return what a level with this value sets.

        A co-player brings its settings. “Nobody” takes the teammates away. If the base condition has none,
        the other levels have as many as the world needs.
        """
        if self.path.startswith("organisation."):
            return level_settings(self.base, self.path, value)
        if self.path != COPLAYER:
            return {self.path: value}
        own = self.base.coplayer_settings if value == self.base.coplayer else _first_settings(str(value))
        sets = {COPLAYER: value, "coplayer_settings": own}
        if NOBODY in self.cleaned_data["values"] or not self.base.teammates:
            some = self.base.teammates or teammates_needed(self.base.world, apart=False) or 1
            sets["teammates"] = 0 if value == NOBODY else some
        return sets


def _first_settings(coplayer: str) -> dict[str, Json]:
    """Return the settings with which a new condition with this co-player begins."""
    return {
        setting.name: setting.beginning
        for setting in settings_of_kind(COPLAYER, coplayer).values()
        if not setting.later or setting.beginning != setting.default
    }


class ConditionsFactorForm(FactorForm):
    """A form for a factor whose levels are whole conditions. The levels set all fields in which the
    conditions differ."""

    conditions = forms.ModelMultipleChoiceField(
        label="Conditions that become its levels",
        queryset=Condition.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        help_text="Tick two or more. The factor has all fields in which they differ.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["conditions"]
        field.queryset = self.base.study.conditions.all()

    def clean_conditions(self) -> list[Condition]:
        """Return the chosen conditions. Raises ValidationError if there are fewer than two, or if they do not
        differ."""
        chosen = list(self.cleaned_data["conditions"])
        if len(chosen) < 2:
            raise ValidationError("Tick two conditions or more.")
        sets = levels_from([condition_values(one) for one in chosen])
        for number, one in enumerate(sets):
            if one in sets[:number]:
                alike = chosen[sets.index(one)]
                raise ValidationError(f"{alike.name} and {chosen[number].name} do not differ.")
        return chosen

    def levels(self) -> list[dict[str, Json]]:
        """Return one level for each chosen condition."""
        chosen = self.cleaned_data["conditions"]
        keys: set[str] = set()
        made = []
        for one, sets in zip(chosen, levels_from([condition_values(one) for one in chosen]), strict=True):
            key = unused_key(one.key, keys)
            keys.add(key)
            made.append({"key": key, "name": one.name, "sets": sets})
        return made


class FactorNamesForm(forms.Form):
    """A form for the names of a factor and of its levels, and for where the factor varies."""

    name = forms.CharField(label="Name of the factor", max_length=60)
    where = forms.ChoiceField(label="Where it varies", choices=WHERE)

    def __init__(self, *args: Any, factors: Sequence[Factor], key: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.factors, self.factor = factors, next(one for one in factors if one.key == key)
        self.fields["name"].initial = self.factor.name
        self.fields["where"].initial = BETWEEN if self.factor.between else WITHIN
        for level in self.factor.levels:
            self.fields[f"level_{level.key}"] = forms.CharField(
                label=f"Name of the level “{level.name}”", max_length=60, initial=level.name
            )

    def clean(self) -> dict[str, Any]:
        """Return the cleaned data, with all factors of the study added under `factors`."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        levels = tuple(
            one.model_copy(update={"name": cleaned[f"level_{one.key}"]}) for one in self.factor.levels
        )
        named = self.factor.model_copy(
            update={"name": cleaned["name"], "between": cleaned["where"] == BETWEEN, "levels": levels}
        )
        factors = tuple(named if one is self.factor else one for one in self.factors)
        if problem := factors_problem(factors):
            raise ValidationError(problem)
        cleaned["factors"] = factors
        return cleaned


def unused_key(text: str, taken: set[str]) -> str:
    """Return a key for a factor or level with this name: its letters and digits in lower case, with
    underscores between them. A number is added if the key is taken."""
    plain = re.sub(r"[^a-z0-9]+", "_", text.casefold()).strip("_")[:LONGEST_KEY].strip("_") or "level"
    key, number = plain, 2
    while key in taken:
        end = f"_{number}"
        key, number = f"{plain[: LONGEST_KEY - len(end)]}{end}", number + 1
    return key
