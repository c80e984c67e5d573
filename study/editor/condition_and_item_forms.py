"""Define the forms for a condition, with a typed field for each setting, and for survey items.

The admin and the console use these forms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db.models import Count, Max, QuerySet
from django.forms.models import BaseInlineFormSet
from django.forms.utils import ErrorDict
from django.http import HttpRequest

from kitchen.contract.world import Json
from kitchen.forms.setting_fields import error_without_name, setting_field
from study.design.condition_choices import COPLAYER, WORLD, ChoosableKind, KindSelect, all_kinds, kind_choices
from study.design.condition_plan import condition_refusal
from study.design.models import Condition, Study, SurveyItem
from study.design.questions.item_fields import FieldGroup, form_fields
from study.editor.form_fields import ELSEWHERE, AnyValueField, TextLinesField

SHOW_BUTTON = "_show_settings"
"""The name of the button that reloads the form for another world or co-player. The button saves nothing."""

OTHER_PAGE_FIELDS = {"co-player": COPLAYER, "seats": "teammates"}
"""Names in messages of the rules → form fields, where the two differ."""


class ShowsOtherKinds:
    """A form with settings of several kinds. It can be reloaded to show those of another choice."""

    def full_clean(self) -> None:
        """Validate the form, except when it is only reloaded to show another choice."""
        if SHOW_BUTTON in self.data:  # type: ignore[attr-defined]
            self._errors = ErrorDict()
            self.cleaned_data: dict[str, Any] = {}
        else:
            super().full_clean()  # type: ignore[misc]

    def is_valid(self) -> bool:
        """Return whether the form is valid. A form that is only reloaded never is."""
        return SHOW_BUTTON not in self.data and super().is_valid()  # type: ignore[attr-defined, misc]


def clear_unchosen_errors(form: Any, kinds: Iterable[ChoosableKind], cleaned: Mapping[str, Any]) -> None:
    """Remove the errors of hidden fields. These fields belong to kinds that are not chosen."""
    for kind in kinds:
        if cleaned.get(kind.part) != kind.name:
            for name, _ in kind.named_settings():
                form.errors.pop(name, None)


class ConditionForm(ShowsOtherKinds, forms.ModelForm):  # type: ignore[type-arg]
    """A condition with one field per setting of every world and co-player.

    Only the chosen kinds' fields count.

    The page has the fields of all kinds and hides those that are not chosen. So typed values stay while
    somebody tries one world after another. `condition_form` makes the subclass to use.
    """

    kinds: ClassVar[tuple[ChoosableKind, ...]] = ()
    position = forms.IntegerField(
        required=False, min_value=0, max_value=32767, help_text="Place in tables and figures. Empty: last."
    )

    class Meta:
        model = Condition
        fields = (
            "study",
            "key",
            "name",
            "label",
            "position",
            "step_seconds",
            "thinking_seconds",
            "shown",
            "three_dimensions",
            "shows_intents",
            "passes_by",
            "knowing",
            "decision_seconds",
            "offers_plans",
            WORLD,
            COPLAYER,
            "teammates",
        )
        help_texts = {
            "key": "Its name in the data, for example two_dispatched.",
            "step_seconds": "Seconds for a step, after which a missing command becomes “do nothing”. "
            "Empty: the game waits for the participant.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._refused = condition_refusal(self.instance)
        if "knowing" in self.fields:  # an empty value keeps the default
            self.fields["knowing"].required = False
        for part in (WORLD, COPLAYER):
            _offer(self.fields.get(part), kind_choices(part, getattr(self.instance, part)))
        for kind in self.kinds:
            stored, is_new = self._stored(kind), not self._has(kind)
            for name, setting in kind.named_settings():
                value = stored.get(setting.name, setting.beginning if is_new else setting.default)
                self.initial.setdefault(name, value)
                if setting.choices and value not in dict(setting.choices):
                    _offer(self.fields[name], [*setting.choices, (value, f"{value} (no longer there)")])

    def _has(self, kind: ChoosableKind) -> bool:
        """Return whether the stored condition already has this kind.

        Its missing settings keep their defaults.
        """
        return bool(self.instance.pk) and getattr(self.instance, kind.part) == kind.name

    def _stored(self, kind: ChoosableKind) -> Mapping[str, Json]:
        values = {
            WORLD: (self.instance.world, self.instance.settings),
            COPLAYER: (self.instance.coplayer, self.instance.coplayer_settings),
        }
        name, settings = values[kind.part]
        return settings if name == kind.name else {}

    def clean(self) -> dict[str, Any]:
        """Collect the settings of the chosen kinds. The model checks whether they can be played."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        clear_unchosen_errors(self, self.kinds, cleaned)
        self._check_key(cleaned)
        if cleaned.get("position") is None and "position" not in self.errors:
            cleaned["position"] = next_position(self._study(cleaned))
        self.instance.settings = self._gathered(WORLD, self.instance.settings)
        self.instance.coplayer_settings = self._gathered(COPLAYER, {})
        return cleaned

    def _post_clean(self) -> None:
        """Refuse settings that can no longer be chosen, unless the condition had them before."""
        super()._post_clean()  # type: ignore[misc]
        why = condition_refusal(self.instance)
        if why and why != self._refused:
            self.add_error(None, ValidationError({NON_FIELD_ERRORS: [why]}))

    def _study(self, cleaned: Mapping[str, Any]) -> Study | None:
        return cleaned.get("study") or (self.instance.study if self.instance.study_id else None)

    def _check_key(self, cleaned: Mapping[str, Any]) -> None:
        study, key = self._study(cleaned), cleaned.get("key")
        others = Condition.objects.filter(study=study, key=key).exclude(pk=self.instance.pk)
        if study and key and others.exists():
            self.add_error("key", "Another condition of this study has this key.")

    def _gathered(self, part: str, otherwise: Mapping[str, Json]) -> dict[str, Json]:
        """Return the settings of the chosen kind by name. A wrong value is left out; it has its own error."""
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
        """Attach a message of the rules (such as `alpha: too small`) to the field that it names."""
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
        """Return the messages for a field: all reasons that a drawing cannot be played, else the rules'
        message."""
        refusals = getattr(self.fields[field].widget, "refusals", None)
        found = refusals(self.cleaned_data.get(field) or "") if refusals else []
        return found or [error_without_name(text)]

    def _field_called(self, name: str) -> str | None:
        """Return the form field for a name in a message.

        The condition's fields and those of the chosen kinds are searched.

        The chosen world comes first, then the chosen co-player, then the other fields.
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


def condition_form() -> type[ConditionForm]:
    """Return a form class with the worlds and co-players that are currently registered."""
    kinds = all_kinds()
    fields: dict[str, Any] = {
        name: setting_field(setting) for kind in kinds for name, setting in kind.named_settings()
    }
    fresh = Condition()
    fields[WORLD] = forms.ChoiceField(choices=kind_choices(WORLD), initial=fresh.world)
    fields[COPLAYER] = forms.ChoiceField(
        choices=kind_choices(COPLAYER), initial=fresh.coplayer, label="Co-player", widget=KindSelect
    )
    return type("ConditionForm", (ConditionForm,), {**fields, "kinds": kinds})


def _offer(field: forms.Field | None, choices: list[tuple[str, str]]) -> None:
    if isinstance(field, forms.ChoiceField):
        field.choices = choices


def next_position(study: Study | None) -> int:
    """Return the position after the last condition of a study."""
    last = Condition.objects.filter(study=study).aggregate(last=Max("position"))["last"]
    return (last or 0) + 1


def requested_kind(request: HttpRequest, condition: Condition | None, part: str) -> str:
    """Return the world or co-player whose settings the page shows."""
    stored: str = getattr(condition or Condition(), part)
    return request.POST.get(part) or request.GET.get(part) or stored


class StudyForm(forms.ModelForm):  # type: ignore[type-arg]
    """A study's own fields, with the labels of the admin."""

    class Meta:
        model = Study
        fields = ("title", "slug", "status", "seed", "orders", "same_dishes", "shuffle_items")
        labels = {"slug": "Name in the link", "seed": "Seed"}
        help_texts = {"slug": "The last part of the participants' link, for example teams in /s/teams/."}


class SurveyItemForm(forms.ModelForm):  # type: ignore[type-arg]
    """One survey item.

    Its question is fixed once there are answers, or active participants who entered with it.
    """

    position = forms.IntegerField(
        required=False, min_value=0, max_value=32767, help_text="Order on the page. Empty: last."
    )
    options = TextLinesField(help_text="What can be chosen, one on each line.")
    correct = AnyValueField(help_text="The right answer, of a check.")

    class Meta:
        model = SurveyItem
        fields = (
            "position",
            *form_fields(FieldGroup.WHERE),
            *form_fields(FieldGroup.WORDS),
            *form_fields(FieldGroup.ASKED),
            "enabled",
            *form_fields(FieldGroup.MORE),
        )
        help_texts = {"key": "The measure's name in the data, for example trust."}
        labels = {"low": "Lowest point", "high": "Highest point"}
        widgets = {"text": forms.Textarea({"class": "vLargeTextField", "rows": 2})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.answered: int = getattr(self.instance, "answered", 0)
        if self.instance.pk and not hasattr(self.instance, "answered"):
            self.answered = self.instance.answers.count()
        if self.instance.pk is None:
            self.initial.pop("position", None)
        self.fixed: str = self.instance.why_fixed() if self.instance.pk else ""
        if self.fixed:
            self._fix(SurveyItem.FROZEN, f"{self.answered} answers" if self.answered else self.fixed)
        elif self.answered:
            self._fix(SurveyItem.VALUES, SurveyItem.TRIED)

    def _fix(self, names: Iterable[str], why: str) -> None:
        for name in names:
            self.fields[name].disabled = True
            self.fields[name].widget.attrs["title"] = f"Fixed: {why}."

    def clean(self) -> dict[str, Any]:
        """Refuse to delete an item that has answers or is fixed."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if self.answered and cleaned.get("DELETE"):
            cleaned["DELETE"] = False
            raise ValidationError(f"“{self.instance}” stays: {self.answered} answers to it are stored.")
        if self.fixed and cleaned.get("DELETE"):
            cleaned["DELETE"] = False
            raise ValidationError(
                f"“{self.instance}” stays: {self.fixed}. Switch it off instead, or copy the study."
            )
        return cleaned


class SurveyItemFormSet(BaseInlineFormSet):  # type: ignore[type-arg]
    """The items of one study."""

    def clean(self) -> None:
        """Refuse two items with one measure. Items without a position follow the last one."""
        super().clean()
        filled = [form for form in self.forms if form.has_changed() or form.instance.pk]
        self._tell_apart([form for form in filled if not form.cleaned_data.get("DELETE")])
        places = [form.cleaned_data.get("position") for form in filled]
        last = max((place for place in places if place is not None), default=0)
        for form in filled:
            if form.cleaned_data.get("position") is None:
                last += 1
                form.instance.position = last

    def _tell_apart(self, forms: list[Any]) -> None:
        """Find equal measures within the submitted forms. The model compares with stored items."""
        seen: set[str] = set()
        for form in forms:
            measure = form.cleaned_data.get("measure")
            if measure in seen and "measure" not in form.errors:
                form.add_error("measure", "Another item of this study has this measure.")
            seen.add(measure or "")


def with_answer_counts(items: QuerySet[SurveyItem]) -> QuerySet[SurveyItem]:
    """Annotate items with `answered`, the number of answers, for `SurveyItemForm`."""
    return items.annotate(answered=Count("answers"))
