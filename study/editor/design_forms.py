"""Define the forms with which researchers edit a study: settings, planned tests, recruitment, parts, members.

Another form sets the outcomes. An outcome is what a participant gets at the end,
such as a completion code. Members are the staff who may see or edit the study. The forms of conditions and
questions are in `study.editor.condition_and_item_forms`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, cast

from django import forms
from django.contrib.auth import get_user_model
from django.utils import timezone
from django.utils.text import slugify

from kitchen.contract.world import Json
from study.analysis.analysis_covariates import covariate_items
from study.analysis.analysis_sample import designed_measures
from study.design import form_labels
from study.design.analysis_plan import (
    COVARIATE,
    FACTORIAL_TESTS,
    MAIN_TESTS,
    RANKS,
    ROLES,
    contrast_problems,
    main_test_label,
)
from study.design.blueprint import Blueprint, PartPlan, blueprint_of
from study.design.condition_choices import world_kinds
from study.design.form_labels import same_events_label, same_events_meaning
from study.design.item_places import is_on_own_page
from study.design.models import Outcome, Study, StudyPart
from study.design.own_page_checks import part_rule_errors
from study.design.own_pages import known_names
from study.design.part_rules import RULE, why_for_everybody
from study.design.parts_other_than_rounds import ALWAYS_ON, FAILURES, PARTS
from study.design.piped_words import has_piped_words, piped_problem
from study.design.questions.questionnaires import instruments
from study.design.text_checks import FILLED_PARTS
from study.editor.condition_and_item_forms import ShowsOtherKinds, clear_unchosen_errors
from study.editor.design_services import is_slug_taken, unused_name
from study.editor.form_fields import TextLinesField
from study.editor.place_choices import place_choices
from study.editor.rule_fields import HasRule
from study.editor.world_setting_fields import (
    drawing_problems,
    practice_fields,
    practice_fields_of,
    practice_settings,
    use_drawing_fields,
)
from study.participants.participant_counts import has_begun
from study.researchers.models import Membership

TEXT = {"rows": 10, "spellcheck": "true"}


SLUG_MESSAGES = {
    "slug": {
        "invalid": "Letters, digits, hyphens and underscores only: it is part of the link.",
        "unique": "Another study has this name in its link.",
    }
}


class NewStudyForm(forms.ModelForm):  # type: ignore[type-arg]
    """A form with the minimum that a new study needs: its title, and its name in the link."""

    class Meta:
        model = Study
        fields = ("title", "slug")
        labels = {"slug": "Name in the link"}
        error_messages = SLUG_MESSAGES
        help_texts = {
            "slug": "Letters, digits, hyphens and underscores. The participants' link ends in it. If it is "
            "empty, it is made from the title."
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["slug"].required = False

    def clean(self) -> dict[str, Any]:
        """Return the cleaned data, with a name in the link made from the title if none was given."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not cleaned.get("slug") and "slug" not in self.errors and cleaned.get("title"):
            plain = slugify(cleaned["title"])[:50].strip("-") or "study"
            cleaned["slug"] = unused_name(plain, "", 50, is_slug_taken)
        return cleaned


class SettingsForm(forms.ModelForm):  # type: ignore[type-arg]
    """A form for the texts and settings of a study. Link and seed cannot be changed once somebody has
    entered."""

    class Meta:
        model = Study
        fields = (
            "title",
            "slug",
            "shared",
            "same_dishes",
            "shuffle_items",
            "scores_above_surveys",
            "remind_teams",
            "thinking_seconds",
            "shown",
            "asks_first",
            "blocked_words",
            "keeps_devices",
            "think_aloud",
            "idle_warning_minutes",
            "idle_minutes",
            "budget_limit",
            "pauses_when_spent",
            "seed",
        )
        labels = form_labels.STUDY
        error_messages = SLUG_MESSAGES

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        worlds = [one.world for one in self.instance.conditions.all()] if self.instance.pk else []
        same = self.fields["same_dishes"]
        same.label, same.help_text = same_events_label(worlds), same_events_meaning(worlds)
        if has_begun(self.instance):
            for name in ("slug", "seed"):
                self.fields[name].disabled = True
                self.fields[name].help_text = "Fixed: participants have entered."


ROLE_FIELD = "role__"
"""Beginning of the names of the fields for roles of measures. The measure's key follows."""


class PlanForm(forms.ModelForm):  # type: ignore[type-arg]
    """A form for what is planned before recruitment begins, such as numbers of participants and tests."""

    class Meta:
        model = Study
        fields = (
            "planned_participants",
            "hypotheses",
            "exclusions",
            "failed_checks_allowed",
            "planned_tests",
            "main_test",
            "measures_correction",
            "planned_contrasts",
        )
        help_texts = {
            "planned_contrasts": f"{Study._meta.get_field('planned_contrasts').help_text} To test whether "
            "the difference is equivalent to 0, too, add a margin in the measure's unit or in standard "
            "deviations: “H1 [trust] ±0.5: …” or “H1 [trust] ±0.3 d: …”.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.factors:
            cast(forms.ChoiceField, self.fields["main_test"]).choices = list(FACTORIAL_TESTS.items())
        elif self.instance.between_groups:
            choices = [(name, main_test_label(name, grouped=True)) for name in MAIN_TESTS if name != RANKS]
            cast(forms.ChoiceField, self.fields["main_test"]).choices = choices
        self.measures = designed_measures(self.instance) if self.instance.pk else []
        if self.instance.pk:
            self.fields["planned_contrasts"].help_text += self._known_keys()
        for one in self.measures:
            usual = "exploratory" if one.exploratory else "secondary"
            self.fields[f"{ROLE_FIELD}{one.key}"] = forms.ChoiceField(
                label=one.label,
                required=False,
                choices=[("", f"not chosen: {usual}"), *ROLES.items()],
                initial=self.instance.measure_roles.get(one.key, ""),
            )
        able = self.instance.pk and self.instance.factors
        self.covariates = covariate_items(blueprint_of(self.instance)) if able else []
        for item in self.covariates:
            self.fields[f"{ROLE_FIELD}{item.key}"] = forms.ChoiceField(
                label=item.measure or item.text,
                required=False,
                choices=[("", "no covariate"), (COVARIATE, "covariate: effects are adjusted for it")],
                initial=self.instance.measure_roles.get(item.key, ""),
                help_text="Asked before the rounds. Covariates are in the mixed model, and in the analysis "
                "of covariance of a study with factors between participants only.",
            )

    def _known_keys(self) -> str:
        """Return a sentence with the keys of conditions and measures, which contrasts are written with."""
        conditions = ", ".join(self.instance.conditions.values_list("key", flat=True)) or "none yet"
        measures = "; ".join(f"{one.key} ({one.label})" for one in self.measures) or "none yet"
        return f" Conditions: {conditions}. Measures: {measures}."

    @property
    def keys_with_roles(self) -> list[str]:
        """Return the keys of the measures, and of the items that can be covariates."""
        return [*(one.key for one in self.measures), *(one.key for one in self.covariates)]

    @property
    def role_fields(self) -> list[Any]:
        """Return the fields of the roles of measures and covariates, bound to the form."""
        return [self[f"{ROLE_FIELD}{key}"] for key in self.keys_with_roles]

    @property
    def plain_fields(self) -> list[Any]:
        """Return all other fields, bound to the form."""
        return [field for field in self if not field.name.startswith(ROLE_FIELD)]

    @property
    def changed_fields(self) -> list[str]:
        """Return the names of the study's fields that were changed in the form."""
        changed = [name for name in self.changed_data if not name.startswith(ROLE_FIELD)]
        return [*changed, *(["measure_roles"] if len(changed) < len(self.changed_data) else [])]

    def clean(self) -> dict[str, Any]:
        """Return the cleaned data. The roles of measures are stored in the study. Roles of measures that the
        design no longer has are removed."""
        cleaned = super().clean() or self.cleaned_data
        given = {key: cleaned.get(f"{ROLE_FIELD}{key}") for key in self.keys_with_roles}
        self.instance.measure_roles = {key: role for key, role in given.items() if role}
        return cleaned

    def clean_planned_contrasts(self) -> str:
        """Return the contrasts. Raises ValidationError if they do not fit the study's conditions."""
        text = str(self.cleaned_data["planned_contrasts"])
        conditions = self.instance.conditions.values_list("key", "between_group") if self.instance.pk else []
        measures = [one.key for one in designed_measures(self.instance)] if self.instance.pk else None
        factorial = bool(self.instance.factors)
        if problems := contrast_problems(text, dict(conditions), measures, factorial=factorial):
            raise forms.ValidationError(problems)
        return text


class RecruitmentForm(forms.ModelForm):  # type: ignore[type-arg]
    """A form for recruitment: the platform, the number of participants, and the last day."""

    closes_at = forms.DateTimeField(
        label="Closes at",
        required=False,
        widget=forms.DateTimeInput(attrs={"placeholder": "2026-12-31 18:00"}, format="%Y-%m-%d %H:%M"),
        help_text="Date and time (UTC), for example 2026-12-31 18:00. From then on nobody can enter; people "
        "who are playing can finish. Empty: never.",
        error_messages={"invalid": "Write date and time like 2026-12-31 18:00."},
    )

    class Meta:
        model = Study
        fields = (
            "recruitment",
            "signed_only",
            "prolific_workspace",
            "max_participants",
            "closes_at",
            "entries_per_address",
            "entries_per_minute",
            "max_round_trip_ms",
        )
        labels = {
            "recruitment": "Participants come from",
            "signed_only": "Only signed links",
            "prolific_workspace": "Prolific workspace",
            "max_participants": "Most participants",
            "entries_per_address": "Maximum entries from one address",
            "entries_per_minute": "Maximum entries in a minute",
            "max_round_trip_ms": form_labels.STUDY["max_round_trip_ms"],
        }

    def clean_closes_at(self) -> datetime | None:
        """Return the closing date, or None if there is none. Raises ValidationError if the date is new and
        in the past. A past date that was already stored is accepted."""
        closes_at: datetime | None = self.cleaned_data["closes_at"]
        if closes_at and "closes_at" in self.changed_data and closes_at <= timezone.now():
            raise forms.ValidationError(
                "This time has passed. To stop new participants from now on, close the study."
            )
        return closes_at


class PartForm(ShowsOtherKinds, HasRule, forms.ModelForm):  # type: ignore[type-arg]
    """A form for one part of a study: on or off, heading, text, and a field for each of its settings."""

    class Meta:
        model = StudyPart
        fields = ("enabled", "title", "text")
        widgets = {"text": forms.Textarea(TEXT)}
        labels = form_labels.PART
        help_texts = {"text": "Markdown: **bold**, *italic*, lists, links, headings with ##."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kind = PARTS[self.instance.kind]
        self.settings: Mapping[str, Json] = {**kind.settings, **self.instance.settings}
        self.fields["title"].help_text = f"Empty: {kind.title or 'the title of the study'}."
        if kind.name in ALWAYS_ON:
            del self.fields["enabled"]
        stored = practice_fields_of(self.settings) if kind.name == "practice" else self.settings
        for name, field in SETTING_FIELDS.get(kind.name, dict)().items():
            self.fields[name] = field
            self.initial.setdefault(name, stored.get(name))
        use_drawing_fields(self, self.instance.study)
        design = blueprint_of(self.instance.study)
        self.for_everybody = why_for_everybody(design, kind.name)
        if not self.for_everybody or self.settings.get(RULE):
            self.add_rule(design, kind.name, self.settings.get(RULE) or {})

    def clean(self) -> dict[str, Any]:
        """Return the cleaned data, with the part's settings collected. The model checks the settings."""
        cleaned = super().clean() or self.cleaned_data
        if self.instance.kind == "practice":
            clear_unchosen_errors(self, world_kinds(), cleaned)
        if words := self._piped_problem(cleaned.get("text") or ""):
            self.instance.text = cleaned["text"]  # so that the model does not call it empty
            self.add_error("text", words)
        if self.errors:
            return cleaned
        rule = self.checked_rule(cleaned, self._rule_problems)
        own = SETTING_FIELDS.get(self.instance.kind, dict)
        given: Mapping[str, Any] = {name: cleaned.get(name) for name in own()}
        if self.instance.kind == "practice":
            given = practice_settings(given, self.settings)
        self.instance.settings = {**given, **({RULE: rule} if rule else {})}
        return cleaned

    def _rule_problems(self, rule: dict[str, Json], design: Blueprint) -> Iterable[str]:
        kind = self.instance.kind
        plan = PartPlan(kind=kind, enabled=True, title="", text="", settings={RULE: rule})
        return part_rule_errors(plan, design)

    def _piped_problem(self, text: str) -> str:
        """Return why the text cannot be filled with the participant's answers and results. Return an empty
        string if it can, or has nothing to fill."""
        if not has_piped_words(text):
            return ""
        kind = self.instance.kind
        known = known_names(blueprint_of(self.instance.study), kind) if kind in FILLED_PARTS else {}
        return piped_problem(text, known)

    def add_error(self, field: str | None, error: Any) -> None:
        """Add an error to the form. An error about the part's settings is shown above the form, because its
        message names the setting."""
        if field is None and hasattr(error, "error_dict") and "settings" in error.error_dict:
            wrong = error.error_dict.pop("settings")
            told = [
                words for one in wrong for reason in one.messages for words in drawing_problems(self, reason)
            ]
            super().add_error(None, told)
            if not error.error_dict:
                return
        super().add_error(field, error)


def _consent_fields() -> dict[str, forms.Field]:
    words = "One on each line. Participants tick each of them."
    return {
        "statements": TextLinesField(
            label=form_labels.PART_SETTINGS["statements"], required=True, help_text=words
        )
    }


def _check_fields() -> dict[str, forms.Field]:
    return {
        "attempts": forms.IntegerField(
            label=form_labels.PART_SETTINGS["attempts"], min_value=1, max_value=20
        ),
        "on_failure": forms.ChoiceField(
            label=form_labels.PART_SETTINGS["on_failure"], choices=[*FAILURES.items()]
        ),
    }


SETTING_FIELDS = {"consent": _consent_fields, "check": _check_fields, "practice": practice_fields}
"""Functions that return the typed fields of a part's settings, by the part's kind."""


class OutcomeForm(forms.ModelForm):  # type: ignore[type-arg]
    """A form for the completion code, address and text for one kind of end."""

    class Meta:
        model = Outcome
        fields = ("code", "url", "text")
        labels = {"code": "Fixed code"}
        help_texts = {
            "code": "The same for everybody. Empty: each participant who completes the study gets their "
            "own code, and the other endings have no code."
        }
        widgets = {"text": forms.Textarea({"rows": 2})}


class OutcomesForm:
    """A set of forms: one `OutcomeForm` for each kind of end, such as complete or timed out."""

    def __init__(self, data: Any = None, *, study: Study) -> None:
        stored = {row.kind: row for row in study.outcomes.all()}
        self.forms = {
            kind: OutcomeForm(data, prefix=kind, instance=stored.get(kind) or Outcome(study=study, kind=kind))
            for kind in Outcome.Kind.values
        }

    def __iter__(self) -> Iterator[tuple[str, OutcomeForm]]:
        """Yield (readable name, form) for each kind of end."""
        return ((Outcome.Kind(kind).label.capitalize(), form) for kind, form in self.forms.items())

    def is_valid(self) -> bool:
        """Return whether all forms are valid."""
        return not self.errors

    @property
    def errors(self) -> bool:
        """Return whether any form has errors."""
        return any(form.is_bound and form.errors for form in self.forms.values())

    def rows(self) -> dict[str, dict[str, str]]:
        """Return the submitted codes, addresses and texts, by kind of end."""
        return {kind: form.cleaned_data for kind, form in self.forms.items()}


class InstrumentForm(forms.Form):
    """A form to choose a questionnaire that comes with the application, in order to add its items."""

    instrument = forms.ChoiceField(
        label="Shipped questions", choices=lambda: [(one.code, one.title) for one in instruments()]
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.pages = [(place, words) for place, words in place_choices(study) if is_on_own_page(place)]
        self.fields["place"] = forms.ChoiceField(
            label="Where", required=False, choices=[("", "as it is shipped"), *self.pages]
        )


class ItemRowsForm(forms.Form):
    """A form to paste questions as rows of a CSV file or a spreadsheet."""

    rows = forms.CharField(
        max_length=500_000,
        strip=False,
        label="Rows",
        help_text="Copy the rows from the file or a spreadsheet, with the row that names the columns.",
        widget=forms.Textarea({"rows": 14, "spellcheck": "false"}),
    )


class MemberForm(forms.Form):
    """A form to give a staff user a role in a study."""

    user = forms.CharField(label="User name", help_text="A staff member with a login on this server.")
    role = forms.ChoiceField(choices=Membership.Role.choices, initial=Membership.Role.COLLABORATOR)

    def clean_user(self) -> Any:
        """Return the active staff user with this name. Raises ValidationError if there is none."""
        name = self.cleaned_data["user"]
        user = get_user_model().objects.filter(username=name, is_staff=True, is_active=True).first()
        if user is None:
            raise forms.ValidationError(
                f"There is no staff member called {name}. An administrator adds people."
            )
        return user
