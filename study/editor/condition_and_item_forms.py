"""Define the forms with which researchers edit a condition and a survey item (one question).

A condition combines a world (game) with its settings and the agents that play. Its form has one field for
each setting.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.forms.utils import ErrorDict

from kitchen.contract.world import Json
from kitchen.forms.setting_fields import error_without_name
from study.design import form_labels
from study.design.between_groups import group_keys
from study.design.condition_choices import COPLAYER, WORLD, ChoosableKind, goal_labels, kind_choices
from study.design.condition_seats import condition_refusal
from study.design.models import Condition, SurveyItem
from study.design.naming_rules import KEY_RULE, key_from_name
from study.design.questions.item_fields import FieldGroup, form_fields
from study.design.questions.item_kinds import needed_fields
from study.editor.form_fields import (
    ELSEWHERE,
    AnyValueField,
    GoalField,
    StarTargetsField,
    TextLinesField,
    talk_language_field,
)
from study.editor.place_choices import place_field
from study.editor.probe_fields import ProbesField, RatingSliderField, probes_help

SHOW_BUTTON = "_show_settings"
"""The name of the button that reloads the form for another world or co-player. The button saves nothing."""

TEAM_SIZE = "Agents besides the participant's own. 3 teammates make a team of 4 agents."
TEAM_SIZE_WITH_LEADER = (
    f"{TEAM_SIZE} If the participant leads and controls no player, 3 teammates make a team of 3 agents."
)
GOAL_HELP = (
    "One metric and its least value on each line, for example “completed = 3”. All must be reached. Empty: "
    "no goal. The metrics of this world: {metrics}."
)
STARS_HELP = (
    "A metric that participants see, and its values for one, two and three stars, for example "
    "“completed = 3 5 7”. The page shows the targets before the round, and the stars during and after it. It "
    "may affect ratings. Empty: no stars."
)
KEY_FROM_NAME = "Empty: made from the name."
KEY_OF_COPY = re.compile(r"_copy\d*$")
"""Finds the end of a key that `condition_copy` made."""
KEY_MESSAGES = {"key": {"invalid": KEY_RULE}}
GROUP_FIELDS = ("between_group", "within_level")
"""Fields of conditions in a study with between-subjects groups."""
OTHER_PAGE_FIELDS = {"co-player": COPLAYER, "seats": "teammates"}
"""Names in messages of the rules → form fields, where the two differ."""


class ShowsOtherKinds:
    """A form whose setting fields depend on a choice, such as the world. A button reloads the form to show
    the fields of another choice."""

    def full_clean(self) -> None:
        """Validate the form. If the request only reloads the form (`SHOW_BUTTON`), skip the validation."""
        if SHOW_BUTTON in self.data:  # type: ignore[attr-defined]
            self._errors = ErrorDict()
            self.cleaned_data: dict[str, Any] = {}
        else:
            super().full_clean()  # type: ignore[misc]

    def is_valid(self) -> bool:
        """Return whether the form is valid. Return False if the request only reloads the form to show other
        fields (`SHOW_BUTTON`)."""
        return SHOW_BUTTON not in self.data and super().is_valid()  # type: ignore[attr-defined, misc]


def clear_unchosen_errors(form: Any, kinds: Iterable[ChoosableKind], cleaned: Mapping[str, Any]) -> None:
    """Remove the errors of settings whose world or co-player is not chosen. The fields of these settings
    are hidden."""
    for kind in kinds:
        if cleaned.get(kind.part) != kind.name:
            for name, _ in kind.named_settings():
                form.errors.pop(name, None)


class ConditionForm(ShowsOtherKinds, forms.ModelForm):  # type: ignore[type-arg]
    """A form for a condition, with one field for each setting of every world and co-player.

    Only the fields of the chosen world and co-player are used. The other fields are hidden. So typed
    values are kept while somebody tries another world. `team_condition_form.condition_form` makes the
    subclass to use.
    """

    kinds: ClassVar[tuple[ChoosableKind, ...]] = ()
    goal = GoalField(label=form_labels.CONDITION["goal"])
    star_targets = StarTargetsField(label=form_labels.CONDITION["star_targets"], required=False)
    probes = ProbesField(label=form_labels.CONDITION["probes"])
    rating_slider = RatingSliderField(label=form_labels.CONDITION["rating_slider"])

    class Meta:
        model = Condition
        fields = (
            "key",
            "name",
            "label",
            "step_seconds",
            "thinking_seconds",
            "shown",
            "three_dimensions",
            "shows_intents",
            "recommends_sound",
            "hides_dots",
            "passes_by",
            "knowing",
            "decision_seconds",
            "offers_plans",
            "order_choices",
            "talk_language",
            "goal",
            "ends_at_goal",
            "star_targets",
            "probes",
            "rating_slider",
            "ready_card",
            "end_card",
            "rating_replay",
            "lobby_practice",
            "lobby_practice_shared",
            WORLD,
            COPLAYER,
            "teammates",
            *GROUP_FIELDS,
        )
        labels = form_labels.CONDITION
        error_messages = KEY_MESSAGES
        help_texts = {
            "step_seconds": "Seconds for a step, after which a missing command becomes “do nothing”. "
            "Empty: the game waits for the participant.",
            "name": "For example “Two dispatched”.",
            "label": "Choose a neutral name, for example “Team A”, that does not reveal who plays.",
            "teammates": TEAM_SIZE_WITH_LEADER,
            "star_targets": STARS_HELP,
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._refused = condition_refusal(self.instance)
        for name in ("knowing", "key"):
            self.fields[name].required = False  # empty: the default, and a key made from the name
        self.fields["key"].help_text += f" {KEY_FROM_NAME}"
        self.fields["probes"].help_text = probes_help(self._world())
        self.fields["goal"].help_text = GOAL_HELP.format(
            metrics=", ".join(f"{name} ({label})" for name, label in goal_labels(self._world()).items())
        )
        self.fields["talk_language"] = talk_language_field(
            self.instance.study.languages, self.instance.talk_language
        )
        self._offer_groups()
        for part in (WORLD, COPLAYER):
            self._offer(part, kind_choices(part, getattr(self.instance, part)))
        for kind in self.kinds:
            stored, is_new = self._stored(kind), not self._has(kind)
            for name, setting in kind.named_settings():
                value = stored.get(setting.name, setting.beginning if is_new else setting.default)
                self.initial.setdefault(name, value)
                if setting.choices and value not in dict(setting.choices):
                    self._offer(name, [*setting.choices, (value, f"{value} (no longer there)")])

    def _world(self) -> str:
        """Return the world that is currently chosen in the form."""
        return str(self[WORLD].value() or "")

    def _offer_groups(self) -> None:
        """Fill the form's choices with the study's between-subjects groups. If the study has no groups,
        remove the fields about groups."""
        groups = group_keys(self.instance.study.between_groups)
        known = [group for group in (self.instance.between_group,) if group and group not in groups]
        if not groups and not known:
            for name in GROUP_FIELDS:
                del self.fields[name]
            return
        field = self.fields["between_group"]
        field.widget = forms.Select(choices=[("", "all groups"), *((one, one) for one in (*groups, *known))])

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        if isinstance(field, forms.ChoiceField):
            field.choices = choices

    def _has(self, kind: ChoosableKind) -> bool:
        """Return True if the stored condition already has this world or co-player (`kind`). Its missing
        settings then get their default values."""
        return bool(self.instance.pk) and getattr(self.instance, kind.part) == kind.name

    def _stored(self, kind: ChoosableKind) -> Mapping[str, Json]:
        values = {
            WORLD: (self.instance.world, self.instance.settings),
            COPLAYER: (self.instance.coplayer, self.instance.coplayer_settings),
        }
        name, settings = values[kind.part]
        return settings if name == kind.name else {}

    def clean(self) -> dict[str, Any]:
        """Return the cleaned data, with the settings of the chosen world and co-player collected. The model
        checks whether these settings can be played."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        clear_unchosen_errors(self, self.kinds, cleaned)
        others = Condition.objects.filter(study=self.instance.study_id).exclude(pk=self.instance.pk)
        keys = set(others.values_list("key", flat=True))
        if not cleaned.get("key") and "key" not in self.errors:
            cleaned["key"] = self.instance.key or key_from_name(cleaned.get("name", ""), keys, "condition")
        elif self._has_key_of_copy(cleaned):
            cleaned["key"] = key_from_name(cleaned["name"], keys, "condition")
        if cleaned.get("key") in keys:
            self.add_error("key", "Another condition of this study has this key.")
        self.instance.settings = self._gathered(WORLD, self.instance.settings)
        self.instance.coplayer_settings = self._gathered(COPLAYER, {})
        return cleaned

    def _has_key_of_copy(self, cleaned: Mapping[str, Any]) -> bool:
        """Return whether the condition is a copy that gets its first own name, and nobody typed a key or
        planned a contrast with the copy's key."""
        row, changed = self.instance, self.changed_data
        is_free = not self.fields["key"].disabled and row.key not in str(row.study.planned_contrasts)
        is_named = "name" in changed and "key" not in changed and bool(cleaned.get("name"))
        return bool(row.pk and is_named and is_free and KEY_OF_COPY.search(row.key))

    def _post_clean(self) -> None:
        """Add an error if the form has settings that new conditions can no longer use. The condition's
        previous settings stay allowed."""
        super()._post_clean()  # type: ignore[misc]
        why = condition_refusal(self.instance)
        if why and why != self._refused:
            self.add_error(None, ValidationError({NON_FIELD_ERRORS: [why]}))

    def _gathered(self, part: str, otherwise: Mapping[str, Json]) -> dict[str, Json]:
        """Return the settings of the chosen world or co-player by name. A setting with an invalid value is
        left out, because its field already has an error."""
        kind = self._chosen(part)
        if kind is None:
            return dict(otherwise)
        stored = self._stored(kind)
        named = [
            (s, self.cleaned_data[name]) for name, s in kind.named_settings() if name in self.cleaned_data
        ]
        return {s.name: value for s, value in named if not s.later or s.name in stored or value != s.default}

    def _chosen(self, part: str) -> ChoosableKind | None:
        name = self.cleaned_data.get(part)
        return next((kind for kind in self.kinds if (kind.part, kind.name) == (part, name)), None)

    def add_error(self, field: str | None, error: Any) -> None:
        """Add an error to the form. A message that begins with a setting's name (such as `alpha: too
        small`) is shown at that setting's field."""
        if field is None and hasattr(error, "error_dict"):
            for name, reasons in error.error_dict.items():
                for reason in reasons:
                    super().add_error(*(self._routed(reason) if name == NON_FIELD_ERRORS else (name, reason)))
        else:
            super().add_error(field, error)

    def _routed(self, error: ValidationError) -> tuple[str | None, ValidationError]:
        text = " ".join(error.messages)
        field = self._field_called(text.partition(": ")[0])
        return (field, ValidationError(self._reasons(field, text))) if field else (None, error)

    def _reasons(self, field: str, text: str) -> list[str]:
        """Return the error messages for a field. For a drawing, return every reason why it cannot be
        played. For any other field, return the message `text`."""
        refusals = getattr(self.fields[field].widget, "refusals", None)
        found = refusals(self.cleaned_data.get(field) or "") if refusals else []
        return found or [error_without_name(text)]

    def _field_called(self, name: str) -> str | None:
        """Return the form field for the setting `name` that an error message mentions.

        The settings of the chosen world are searched first, then those of the chosen co-player, then the
        condition's other fields.
        """
        for part in (WORLD, COPLAYER):
            kind = self._chosen(part)
            for field, setting in kind.named_settings() if kind else ():
                if setting.name == name:
                    return field
        for meant in (OTHER_PAGE_FIELDS.get(name, name), ELSEWHERE.get(name, name)):
            if meant in self.fields:
                return meant
        return None


class SurveyItemForm(ShowsOtherKinds, forms.ModelForm):  # type: ignore[type-arg]
    """A form for one survey item. The item's position is not a field; buttons change it. Another kind shows
    other fields.

    The question cannot be changed once there are answers. It also cannot be changed while participants
    still take part whose version of the study has the item.
    """

    options = TextLinesField(help_text="The options, one on each line.")
    correct = AnyValueField(
        help_text="The correct answer of an attention check or a comprehension question: a point of the "
        "scale, or an option word for word. Empty: no correct answer."
    )

    class Meta:
        model = SurveyItem
        fields = (
            *form_fields(FieldGroup.WHERE),
            *form_fields(FieldGroup.WORDS),
            *form_fields(FieldGroup.ASKED),
            "enabled",
            *form_fields(FieldGroup.MORE),
        )
        labels = form_labels.ITEM
        error_messages = KEY_MESSAGES
        help_texts = {"text": ""}  # its label says it
        widgets = {"text": forms.Textarea({"rows": 2})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stored = self.instance.pk is not None
        self.fields["place"] = place_field(
            self.instance.study if self.instance.study_id else None, self.instance.place if stored else ""
        )
        self.answered = self.instance.answers.count() if stored else 0
        self.fixed = self.instance.why_fixed() if stored else ""
        why = f"{self.answered} answers" if self.answered and self.fixed else self.fixed or SurveyItem.TRIED
        for name in self.instance.fixed_fields():
            self.fields[name].disabled = True
            self.fields[name].widget.attrs["title"] = f"Fixed: {why}."
        self.fields["kind"].widget.attrs["class"] = "decides"
        for name in needed_fields(str(self["kind"].value())):
            self.fields[name].is_needed = True  # type: ignore[attr-defined]  # the label does not say “optional”
        self.fields["key"].required = False
        self.fields["key"].help_text += f" {KEY_FROM_NAME}"

    def clean(self) -> dict[str, Any]:
        """Return the cleaned data, with a key made from the name if none was given."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not cleaned.get("key") and "key" not in self.errors:
            taken = SurveyItem.objects.filter(study=self.instance.study_id).exclude(pk=self.instance.pk)
            keys = set(taken.values_list("key", flat=True))
            cleaned["key"] = self.instance.key or key_from_name(cleaned.get("measure", ""), keys, "question")
        return cleaned
