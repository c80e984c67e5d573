"""Serve the pages on which researchers edit a study's design: overview, settings, parts, texts, and others.

The other pages set the planned tests, orders of conditions, recruitment, and outcomes. An outcome is what a
participant gets at the end, such as a completion code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from kitchen.words.english_text import counted_noun
from study.analysis.pre_launch_warnings import pre_launch_problems
from study.design.between_groups import group_keys
from study.design.blueprint import blueprint_of
from study.design.condition_choices import WORLD, world_kinds
from study.design.counterbalancing import (
    OrderSequence,
    balanced_sample_sizes,
    carry_over_counts,
    get_scheme,
)
from study.design.describe_factors import allocation_sentence, balance_sentences
from study.design.form_labels import same_events_label
from study.design.former_translations import former_translations
from study.design.group_allocation import parse_allocation
from study.design.item_places import item_place_words, item_places
from study.design.markdown_html import to_html
from study.design.models import Study, StudyPart, SurveyItem
from study.design.parts_other_than_rounds import ALWAYS_ON, PARTS, practice_for_condition
from study.design.recruitment_platforms import MOST_LABELS, PROOF, RECRUITMENT_PLACES, label_proof, new_labels
from study.design.round_plans import RoundPlan, even_number, plan_sequences
from study.design.study_versions import differences, frozen_version
from study.design.translations import language_codes, language_names
from study.editor.describe_design import OWN_CODE
from study.editor.design_forms import (
    OutcomesForm,
    PartForm,
    PlanForm,
    RecruitmentForm,
    SettingsForm,
)
from study.editor.design_services import outcomes_set, part_save, study_save, texts_save
from study.editor.media_pages import insert_context, staff_media
from study.editor.orders_form import OrdersForm
from study.editor.place_choices import FIXED_PLACES
from study.editor.survey_rule_form import SurveyRuleForm
from study.editor.translation_forms import COLUMN, LanguagesForm, TextsForm, with_column
from study.editor.world_setting_fields import (
    chosen_fields,
    drawing_remarks_page,
    practice_default,
    with_default_settings,
    with_earlier_drawing,
)
from study.participants.allocated_people import allocation_progress
from study.participants.participant_counts import condition_progress, group_progress
from study.researchers.form_and_button_pages import back_to_page, form_page, participant_link, study_context
from study.researchers.permissions import FORM_METHODS, is_concealed_from, study_page

MOST_SHOWN = 24
"""The most sequences of a scheme that a page lists."""


def describe_orders(study: Study, *, conceals: bool = False) -> dict[str, Any]:
    """Return the template context that shows a study's orders of conditions. It has the sequences, the number
    of participants with each sequence, and the carry-over counts.

    If the study has between-subjects groups, it has the sequences of each group instead. If the order
    scheme cannot be used, it has the reason. If the study `conceals` conditions from the user, it has no
    numbers of participants.
    """
    names = dict(study.conditions.values_list("key", "name"))
    scheme, plans = get_scheme(study.orders), study.round_plans()
    problem = study.orders_problem()
    shown: dict[str, Any] = {"label": scheme.label, "meaning": scheme.meaning, "problem": problem}
    is_plain = all(plan.is_plain for plan in plans)
    if plans and not problem and not is_plain:
        scope = "In each group: " if len(plans) > 1 else ""
        shown["meaning"] = scope + balance_sentences(plans[0])
    shown["conditions"] = [] if conceals else condition_progress(study)
    if group_keys(study.between_groups):
        listed = [] if problem else [(plan.group, _order_rows(plan, names)) for plan in plans]
        rule = allocation_sentence(parse_allocation(study.allocation))
        counts = {
            "progress": [] if conceals else group_progress(study),
            "allocation": None if conceals else allocation_progress(study),
        }
        return shown | counts | {"groups": listed, "rule": rule}
    if problem or not plans:
        return shown
    (plan,) = plans
    block, even = plan_sequences(plan), even_number(plan)
    return shown | {
        "block": len(block),
        "rows": _order_rows(plan, names),
        "even": balanced_sample_sizes(even, study.planned_participants or 24) if block else (),
        "is_plain": is_plain,
        "names": list(names.values()),
        "carry_over": _carry_over(names, block) if block else [],
    }


def _order_rows(plan: RoundPlan, names: Mapping[str, str]) -> list[tuple[int, list[str]]]:
    """Return the first sequences of a plan, each with its id and the names of its conditions."""
    return [(one.id, [names[key] for key in one.order]) for one in plan_sequences(plan)[:MOST_SHOWN]]


def _carry_over(names: Mapping[str, str], block: Sequence[OrderSequence]) -> list[tuple[str, list[Any]]]:
    """Return the rows of the carry-over table. Each row has a condition, and how often every other
    condition directly follows it. The cells on the diagonal are empty."""
    over = carry_over_counts([one.order for one in block])
    return [(first, [over.get((before, after), "") for after in names]) for before, first in names.items()]


PREVIEW = "_preview"
"""The name of the button that shows a text as participants read it. The button saves nothing."""
CONDITION_ACTS = (("up", "Up"), ("down", "Down"), ("copy", "Copy"), ("delete", "Delete"))
ITEM_ACTS = (("up", "Up"), ("down", "Down"), ("copy", "Copy"), ("switch", ""), ("delete", "Delete"))
"""The buttons of a row: the requested action and the label."""


@study_page("copy")
def overview(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the whole design on one page, with a list of what is still missing."""
    design, frozen = blueprint_of(study), frozen_version(study)
    context = {
        "participant_link": participant_link(request, study),
        "same_for_all": same_events_label(design.worlds),
        "recruitment_help": RECRUITMENT_PLACES[study.recruitment].help,
        "missing": (told := pre_launch_problems(study)),
        "hinders": (hinders := any(one.hinders for one in told)),
        "missing_title": _missing_title(study, hinders),
        "conditions": study.conditions.all(),
        "parts": [(part, PARTS[part.kind], part.kind in ALWAYS_ON) for part in design.parts],
        "places": items_by_place(study),
        "orders": describe_orders(study, conceals=is_concealed_from(request.user, study)),
        "outcomes": study.outcomes.all(),
        "translated": language_names(study.languages)[1:],
        "own_code": OWN_CODE,
        "previews": _number(study, "preview", preview=True),
        "programs": _number(study, "synthetic participant", preview=False, synthetic=True),
        "frozen": frozen,
        "changed": len(differences(frozen.blueprint, design)) if frozen else 0,
        "condition_acts": CONDITION_ACTS,
        "item_acts": ITEM_ACTS,
    }
    return render(request, "study/editor/overview.html", study_context(study) | context)


def _missing_title(study: Study, hinders: bool) -> str:
    if not hinders:
        return "To consider"
    is_open = study.status == Study.Status.OPEN
    return (
        "Missing, although the study is open"
        if is_open
        else "Still missing before this study can take people"
    )


def _number(study: Study, noun: str, **which: bool) -> str:
    """Return a number of the study's participants with its noun, such as `3 previews`. Return an empty
    string if the number is 0."""
    number = study.participants.filter(**which).count()
    return counted_noun(number, noun) if number else ""


def items_by_place(study: Study) -> list[tuple[str, list[SurveyItem]]]:
    """Return (name, items) pairs for every point of the study where items are asked. `name` is the name of
    the point. Disabled items are included."""
    rows = list(study.items.all())
    titles = dict(study.own_pages.values_list("key", "title"))
    return [
        (item_place_words(place, FIXED_PLACES, titles), [one for one in rows if one.place == place])
        for place in item_places(row.plan for row in rows)
    ]


Shown = Callable[[HttpRequest, Study], dict[str, Any]]
"""Returns the context that a page shows besides its form."""


def _study_form(
    form_class: Any, heading: str, shown: Shown = lambda *_: {}
) -> Callable[..., HttpResponseBase]:
    """Return a view that shows and saves a form for some of the study's own fields. `form_class` is the
    form, `heading` the page's heading, and `shown` returns further template context."""

    @study_page("edit", FORM_METHODS)
    def page(request: HttpRequest, study: Study) -> HttpResponse:
        form = form_class(request.POST or None, instance=Study.objects.get(pk=study.pk))
        if request.method == "POST" and form.is_valid():
            study_save(study=form.instance, fields=getattr(form, "changed_fields", form.changed_data))
            return back_to_page(request, form.instance, f"{heading}: saved.")
        return form_page(request, study, form, heading=heading, **shown(request, study))

    return page


settings_page = _study_form(SettingsForm, "Words and settings")
plan_page = _study_form(PlanForm, "Plan", lambda *_: {"template": "study/editor/plan.html"})
survey_rule_page = _study_form(
    SurveyRuleForm, "Survey after a round", lambda *_: {"template": "study/editor/survey_rule.html"}
)
orders_page = _study_form(
    OrdersForm,
    "Orders of conditions",
    lambda request, study: {
        "orders": describe_orders(study, conceals=is_concealed_from(request.user, study))
    },
)


LINKS = 20
"""The default number of links to hand out."""


def _links_shown(request: HttpRequest, study: Study) -> dict[str, Any]:
    """Return the template context about recruitment. It has the study's link, and newly made personal links
    to hand out."""
    number = request.GET.get("links", "")
    many = max(1, min(int(number), MOST_LABELS)) if number.isdecimal() and len(number) < 9 else LINKS
    place = RECRUITMENT_PLACES[study.recruitment]
    link = request.build_absolute_uri(study.get_absolute_url())
    links = [
        f"{link}?{place.label}={label}&{PROOF}={label_proof(study, label)}" for label in new_labels(many)
    ]
    return {
        "template": "study/editor/recruitment.html",
        "places": [
            (label, place.help)
            for key, label in Study.Recruitment.choices
            if (place := RECRUITMENT_PLACES[key]).help
        ],
        "participant_link": participant_link(request, study),
        "links": links if study.recruitment == Study.Recruitment.LABEL else [],
        "most": MOST_LABELS,
    }


recruitment_page = _study_form(RecruitmentForm, "Recruitment", _links_shown)


@study_page("view", FORM_METHODS, to_send="edit")
def part_page(request: HttpRequest, study: Study, kind: str) -> HttpResponse:
    """Show the form for one part (on or off, text, settings), or save it. `kind` names the part."""
    row = _part(study, kind)
    sent = (
        with_default_settings(request.POST, world_kinds(), practice_default)
        if kind == "practice"
        else request.POST
    )
    form = PartForm(with_earlier_drawing(sent, study) or None, instance=row)
    if told := drawing_remarks_page(request, form):
        return told
    if request.method == "POST" and form.is_valid() and PREVIEW not in request.POST:
        part_save(part=form.instance)
        return back_to_page(request, study, f"{PARTS[kind].words.capitalize()}: saved.")
    text = request.POST.get("text", row.text)
    more: dict[str, Any] = {
        "shown": to_html(text, staff_media(study)),
        "previewed": PREVIEW in request.POST,
        "can_preview": True,
    }
    more |= insert_context(study)
    more["template"] = "study/editor/part.html"
    if kind == "practice":
        chosen = {WORLD: str(form[WORLD].value())}
        more |= chosen_fields(form, world_kinds(), chosen)
        more["template"] = "study/editor/practice.html"
    return form_page(request, study, form, heading=PARTS[kind].words.capitalize(), to_change="edit", **more)


def _part(study: Study, kind: str) -> StudyPart:
    """Return the study's stored part of this kind. If none is stored, return a new part with default
    values. Raises Http404 for an unknown kind."""
    if kind not in PARTS:
        raise Http404(kind)
    return study.parts.filter(kind=kind).first() or _fresh_part(study, kind)


def _fresh_part(study: Study, kind: str) -> StudyPart:
    """Return a part with default values. Practice defaults to the world of the first condition, and to the
    seat of each group if the groups play different seats."""
    fresh = StudyPart(study=study, kind=kind, enabled=PARTS[kind].enabled)
    if kind == "practice" and (first := study.conditions.first()):
        design = blueprint_of(study)
        seats = {design.for_group(group).played_seat(first.world) for group in design.groups}
        own = {"own_seat": True} if len(seats) > 1 else {}
        fresh.settings = {**own, "kitchen": practice_for_condition(first.world, first.settings)}
    return fresh


@study_page("edit", FORM_METHODS)
def outcomes_page(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the form with the code, address and text of each kind of end, or save it."""
    form = OutcomesForm(request.POST or None, study=study)
    if request.method == "POST" and form.is_valid():
        outcomes_set(study_id=study.pk, rows=form.rows())
        return back_to_page(request, study, "Codes: saved.")
    more = {"leads_to": RECRUITMENT_PLACES[study.recruitment].complete}
    return form_page(
        request, study, form, heading="Codes at the end", template="study/editor/outcomes.html", **more
    )


@study_page("edit", FORM_METHODS)
def languages(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the form for the study's languages, or save it. The page links to the texts in each language."""
    first, *others = language_codes(study.languages)
    form = LanguagesForm(request.POST or None, initial={"written": first, "others": others})
    if request.method == "POST" and form.is_valid():
        study.languages = form.languages()
        study_save(study=study, fields=["languages"])
        return back_to_page(request, study, "Languages: saved.", "design-languages")
    return form_page(
        request,
        study,
        form,
        heading="Languages",
        template="study/editor/languages.html",
        others=language_names(study.languages)[1:],
    )


USE_FORMER = "use"
"""The name of the buttons that put the translation of an older wording into a field. Nothing is saved."""


@study_page("edit", FORM_METHODS)
def texts(request: HttpRequest, study: Study, language: str) -> HttpResponse:
    """Show the form to translate all texts of the study into one of its other languages, or save it."""
    offered = dict(language_names(study.languages)[1:])
    if language not in offered:
        raise Http404(language)
    design = blueprint_of(study)
    sent, why = with_column(request.POST, design)
    form = TextsForm(sent or None, design=design, there=(there := study.texts.get(language, {})))
    former = former_translations(design, there)
    chosen = request.POST.get(USE_FORMER, "")
    if one := former.get(form.names.get(chosen, "")):
        sent = sent.copy()
        sent[chosen] = one.translation
        form = TextsForm(sent, design=design, there=there)
    for name, text in form.names.items():
        form.fields[name].former = former.get(text)  # type: ignore[attr-defined]
    if why:
        form.add_error(None, why)
    if request.method == "POST" and form.is_valid() and USE_FORMER not in request.POST:
        texts_save(study_id=study.pk, language=language, texts=form.texts())
        return back_to_page(request, study, f"Texts in {offered[language]}: saved.", "design-languages")
    heading = f"Texts in {offered[language]}"
    more: dict[str, Any] = {"language": language, "pasted": sent.get(COLUMN, ""), "to_check": len(former)}
    return form_page(request, study, form, heading=heading, template="study/editor/texts.html", **more)
