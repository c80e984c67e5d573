"""Create a study from one form: languages, recruitment, conditions, consent, questions, and a bonus.

Only the title is needed. All other fields are those of the pages of the design, where they can be changed
afterwards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import transaction
from django.forms.models import fields_for_model

from kitchen.forms.setting_fields import error_without_name
from kitchen.words.english_text import and_list
from study.design import form_labels
from study.design.condition_choices import WORLD, kind_choices
from study.design.demo_study_files import READY_STUDIES
from study.design.metric_and_scale_names import world_figures
from study.design.models import Study, StudyPart, SurveyItem
from study.design.questions.item_fields import LONGEST
from study.design.questions.questionnaires import instrument, instruments
from study.design.study_errors import DesignError
from study.editor.bonus_page import BonusForm, amount_field
from study.editor.condition_form_sections import Fold, make_fold
from study.editor.condition_presets import LABELS, Preset, preset_condition, presets
from study.editor.design_forms import TEXT, NewStudyForm
from study.editor.design_services import (
    condition_save,
    instrument_add,
    part_save,
    study_create,
    study_save,
)
from study.editor.item_list import SHARED, ItemListForm, items_add
from study.editor.place_choices import place_field
from study.editor.probe_fields import ProbesField, RatingSliderField, probes_help
from study.editor.translation_forms import LanguagesForm, chosen_languages

LIST = ("lines", "list_name", "place", "points", "low", "high", "table")
"""The fields of the pasted questions. All but `list_name` have the same names in `ItemListForm`."""
OF_STUDY = ("recruitment", "max_participants", "think_aloud")
"""The fields of the study that the form has as they are."""
DURING = ("probes", "rating_slider")
"""The questions during the game, which all conditions of the set-ups get."""
BONUS = {
    "bonus_currency": "currency",
    "bonus_figure": "figure_1",
    "bonus_each": "each_1",
    "bonus_base": "base",
    "bonus_most": "most",
}
"""The fields of the bonus, each with its name in `BonusForm`."""
SECTIONS = (
    ("The study", ("title", "slug", "begins_as")),
    ("Languages and people", ("written", "others", *OF_STUDY)),
    ("Conditions", (WORLD, "set_ups", *DURING)),
    ("Consent", ("consent",)),
    ("Questions", ("instruments", *LIST)),
)
"""Heading and fields of each section of the form."""


class RefusedFieldError(DesignError):
    """A study that cannot be made, with the form field (`field`) that is the reason."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(why)
        self.field = field


class BeginForm(NewStudyForm):
    """A form for a new study, which begins either empty or with a ready-made design. What is chosen further
    down is added to it."""

    begins_as = forms.ChoiceField(
        required=False,
        label="Begin with",
        choices=[("", "An empty study"), *((name, words) for name, (words, _) in READY_STUDIES.items())],
        help_text="A ready design has conditions, texts, questions and surveys. All of it can be changed.",
    )
    written = LanguagesForm.base_fields["written"]
    others = LanguagesForm.base_fields["others"]
    set_ups = forms.MultipleChoiceField(
        required=False,
        label="Ready set-ups",
        choices=[*LABELS.items()],
        widget=forms.CheckboxSelectMultiple,
        help_text="Each becomes a condition, with the usual settings.",
    )
    probes = ProbesField(label=form_labels.CONDITION["probes"], help_text=probes_help(""))
    rating_slider = RatingSliderField(label=form_labels.CONDITION["rating_slider"])
    consent = forms.CharField(
        required=False,
        label="Text of the consent page",
        max_length=50_000,
        widget=forms.Textarea({**TEXT, "rows": 4}),
        help_text="Markdown: **bold**, *italic*, lists, links, headings with ##.",
    )
    instruments = forms.MultipleChoiceField(
        required=False,
        label="From the library of questionnaires",
        choices=lambda: [(one.code, one.title) for one in instruments()],
        widget=forms.CheckboxSelectMultiple,
    )
    bonus_currency = BonusForm.base_fields["currency"]
    bonus_figure = forms.ChoiceField(
        required=False,
        label="Figure of play",
        choices=lambda: [("", "none"), *_figure_choices()],
        help_text="Choose one of your world, which a condition above measures.",
    )
    bonus_each = amount_field(
        "For each unit of the figure", "The figure, added over all rounds, times this amount."
    )
    bonus_base = BonusForm.base_fields["base"]
    bonus_most = BonusForm.base_fields["most"]
    lines = forms.CharField(
        required=False,
        label="Your own questions with one scale",
        max_length=40_000,
        widget=forms.Textarea({"rows": 5}),
        help_text=ItemListForm.base_fields["lines"].help_text,
    )
    list_name = forms.CharField(
        required=False,
        label=ItemListForm.base_fields["name"].label,
        max_length=LONGEST["scale"] - 4,
        help_text=ItemListForm.base_fields["name"].help_text,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        own = fields_for_model(Study, OF_STUDY, labels=form_labels.STUDY)
        own["recruitment"].label, own["max_participants"].label = (
            "Participants come from",
            "Most participants",
        )
        own["recruitment"].required = False
        shared = fields_for_model(SurveyItem, [name for name in LIST if name in SHARED])
        shared["place"] = place_field()
        for name, field in shared.items():
            field.required = False
            field.label = form_labels.ITEM.get(name, field.label)
        worlds = [("", "none yet"), *kind_choices(WORLD)]
        world = forms.ChoiceField(label="World", required=False, choices=worlds)
        self.fields |= own | shared | {WORLD: world}
        self.fields["written"].required = False

    @property
    def sections(self) -> Iterator[tuple[str, list[Any]]]:
        """Yield each section's heading and its fields, bound to the form."""
        for heading, names in SECTIONS:
            yield heading, [self[name] for name in names]

    @property
    def bonus_fold(self) -> Fold:
        """Return the fold with the fields of the bonus."""
        fold = make_fold("bonus", "Bonus", [self[name] for name in BONUS], {})
        return fold if fold.told else replace(fold, told="no bonus")

    def clean(self) -> dict[str, Any]:
        """Return the cleaned data. Add errors for set-ups that the world cannot play, and for a list of
        questions without a name."""
        cleaned = super().clean()
        chosen, world = cleaned.get("set_ups") or [], cleaned.get(WORLD) or ""
        offered = {one.name: one for one in presets(world)}
        refused = [LABELS[name] for name in chosen if name not in offered]
        if chosen and not world:
            self.add_error(WORLD, "Choose the world of the set-ups.")
        elif refused:
            self.add_error("set_ups", f"This world does not offer: {and_list(refused)}.")
        if cleaned.get("lines") and not cleaned.get("list_name"):
            self.add_error("list_name", "Name the list: its questions are named after it.")
        if not chosen and any(cleaned.get(name) for name in DURING):
            self.add_error("set_ups", "Choose a set-up: questions during the game belong to a condition.")
        self.presets = [offered[name] for name in chosen if name in offered]
        return cleaned


@transaction.atomic
def study_begin(form: BeginForm, *, owner: Any) -> Study:
    """Create the study of a valid form, closed, with `owner` as its only member.

    Raises RefusedFieldError, and makes nothing, if something that was chosen cannot be stored.
    """
    given = form.cleaned_data
    study = study_create(slug=given["slug"], owner=owner, title=given["title"], begins_as=given["begins_as"])
    _set_study_fields(study, given, form.changed_data)
    _add_conditions(study, given, form.presets)
    if given["consent"]:
        _set_consent(study, given["consent"])
    for code in given["instruments"]:
        with _refusing("instruments"):
            instrument_add(study_id=study.pk, instrument=instrument(code))
    if given["lines"]:
        _add_questions(study, given)
    if any(given[name] not in (None, "") for name in BONUS):
        _set_bonus(study, given)
    return study


def _figure_choices() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the label of each world with the names and labels of its figures."""
    worlds = kind_choices(WORLD)
    return [(label, [(one.name, one.label) for one in world_figures(world)]) for world, label in worlds]


@contextmanager
def _refusing(field: str) -> Iterator[None]:
    """Turn the errors of the rules into RefusedFieldError for this field of the form."""
    try:
        yield
    except ValidationError as error:
        words = " ".join(error.messages)
        named = words.partition(": ")[0]
        if named in DURING:
            field, words = named, error_without_name(words)
        raise RefusedFieldError(field, words) from None
    except DesignError as error:
        raise RefusedFieldError(field, str(error)) from None


def _set_study_fields(study: Study, given: Mapping[str, Any], changed: Collection[str]) -> None:
    """Store languages, recruitment and the most participants. A ready design keeps its own where nothing was
    chosen."""
    chosen = {name: given[name] for name in OF_STUDY if name in changed and given[name]}
    if given["others"] or given["written"] not in ("", study.languages.split()[0]):
        chosen["languages"] = chosen_languages(given)
    for name, value in chosen.items():
        setattr(study, name, value)
    if chosen:
        study_save(study=study, fields=list(chosen))


def _add_conditions(study: Study, given: Mapping[str, Any], chosen: Iterable[Preset]) -> None:
    for preset in chosen:
        with _refusing("set_ups"):
            condition = preset_condition(study, given[WORLD], preset)
            condition.probes, condition.rating_slider = (given[name] for name in DURING)
            condition.full_clean()
            condition_save(condition=condition)


def _set_consent(study: Study, text: str) -> None:
    part = study.parts.filter(kind="consent").first() or StudyPart(study=study, kind="consent", enabled=True)
    part.text = text
    with _refusing("consent"):
        part.full_clean()
        part_save(part=part)


def _add_questions(study: Study, given: Mapping[str, Any]) -> None:
    """Add the pasted questions as one sub-scale. Raises RefusedFieldError as `ItemListForm` refuses them."""
    fresh = SurveyItem()
    usual = {name: getattr(fresh, name) for name in SHARED}
    typed = {name: given[name] for name in SHARED if given.get(name) not in (None, "")}
    data = {**usual, **typed, "lines": given["lines"], "name": given["list_name"], "scored": True}
    sent = {name: value for name, value in data.items() if value not in (False, None)}
    form = ItemListForm(sent, study=study)
    if not form.is_valid():
        field, reasons = next(iter(form.errors.items()))
        raise RefusedFieldError(LIST_FIELDS.get(field, field), " ".join(map(str, reasons)))
    with _refusing("lines"):
        items_add(study_id=study.pk, items=form.made)


def _set_bonus(study: Study, given: Mapping[str, Any]) -> None:
    """Store the bonus. Raises RefusedFieldError as `BonusForm` refuses it."""
    form = BonusForm({theirs: given[own] for own, theirs in BONUS.items()}, study=study)
    if not form.is_valid():
        own_names = {theirs: own for own, theirs in BONUS.items()}
        field, reasons = next(iter(form.errors.items()))
        raise RefusedFieldError(own_names.get(field, "bonus_currency"), " ".join(map(str, reasons)))
    study.bonus_rule = form.rule
    study_save(study=study, fields=["bonus_rule"])


LIST_FIELDS = {"name": "list_name", "scored": "lines", "__all__": "lines"}
"""Fields of `ItemListForm` that have another name in this form."""
