"""The design of one study: an overview, and a plain form for each piece of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, redirect, render

from study.admin.common import how_many
from study.admin.conditions import condition_warnings
from study.admin.forms import asked_kind, next_position
from study.admin.kinds import COPLAYER, WORLD, all_kinds
from study.blueprint import blueprint_of
from study.bound import bound, bound_words
from study.console.common import asked, asked_once, context_of, done, form_page
from study.console.forms import (
    ConsoleItemForm,
    InstrumentForm,
    OrdersForm,
    OutcomesForm,
    PartForm,
    PlanForm,
    RecruitmentForm,
    SettingsForm,
    console_condition_form,
)
from study.free_names import free_label
from study.instruments import instrument
from study.instruments import instruments as shipped
from study.markdown import to_html
from study.models import Condition, Study, StudyPart, SurveyItem
from study.orders.counting import carry_over, even_numbers
from study.orders.registry import get_scheme, sequences
from study.parts import ALWAYS_ON, PARTS
from study.permissions import FORM, study_page
from study.readiness import missing
from study.recruitment import MOST_LABELS, PLACES, new_labels
from study.services.copying import condition_copy
from study.services.designing import (
    condition_delete,
    instrument_add,
    item_delete,
    outcomes_set,
    row_move,
)
from study.services.previewing import previews_erase
from study.versions import differences, frozen_version

POST = ("POST",)
PREVIEW = "_preview"
"""Name of the button that shows a text as participants read it, and saves nothing."""
MOST_SHOWN = 24
"""Sequences of a scheme that a page lists."""
ATTENTION: Mapping[str, Any] = {
    "key": "attention",
    "measure": "Attention check",
    "text": "To show that you read the questions, please choose 2 here.",
    "correct": 2,
}
"""What an attention check says unless the researcher says otherwise."""


CONDITION_ACTS = (("up", "Up"), ("down", "Down"), ("copy", "Copy"), ("delete", "Delete"))
ITEM_ACTS = (("up", "Up"), ("down", "Down"), ("switch", ""), ("delete", "Delete"))
"""Buttons of a row: what each asks for, and its words."""


@study_page("copy")
def overview(request: HttpRequest, study: Study) -> HttpResponse:
    """The whole design on one page, and what is still missing."""
    design, frozen = blueprint_of(study), frozen_version(study)
    context = {
        "participant_link": request.build_absolute_uri(study.get_absolute_url()),
        "recruitment_help": PLACES[study.recruitment].help,
        "missing": missing(study),
        "conditions": study.conditions.all(),
        "parts": [(part, PARTS[part.kind], part.kind in ALWAYS_ON) for part in design.parts],
        "places": items_by_place(study),
        "orders": orders_shown(study),
        "outcomes": study.outcomes.all(),
        "previews": _number(study, "preview", preview=True),
        "programs": _number(study, "synthetic participant", preview=False, synthetic=True),
        "frozen": frozen,
        "changed": len(differences(frozen.blueprint, design)) if frozen else 0,
        "condition_acts": CONDITION_ACTS,
        "item_acts": ITEM_ACTS,
    }
    return render(request, "study/staff/design/overview.html", context_of(study) | context)


def _number(study: Study, one: str, **which: bool) -> str:
    """`3 previews`; empty if there are none."""
    number = study.participants.filter(**which).count()
    return how_many(number, one) if number else ""


def items_by_place(study: Study) -> list[tuple[str, list[SurveyItem]]]:
    """Every place in words with its items, those switched off among them."""
    rows = list(study.items.all())
    return [(label, [one for one in rows if one.place == place]) for place, label in SurveyItem.Place.choices]


def orders_shown(study: Study) -> dict[str, Any]:
    """The order scheme as pages show it: its sequences, how many people fill it, what follows what."""
    names = dict(study.conditions.values_list("key", "name"))
    scheme, number = get_scheme(study.orders), len(names)
    problem = scheme.problem(number)
    if problem or not number:
        return {"label": scheme.label, "meaning": scheme.meaning, "problem": problem}
    block = sequences(study.orders, list(names))
    over = carry_over([one.order for one in block])
    return {
        "label": scheme.label,
        "meaning": scheme.meaning,
        "block": len(block),
        "rows": [(one.id, [names[key] for key in one.order]) for one in block[:MOST_SHOWN]],
        "even": even_numbers(len(block), study.planned_participants or 24) if block else (),
        "names": list(names.values()),
        "carry_over": [
            (first, [over.get((before, after), "") for after in names]) for before, first in names.items()
        ]
        if block
        else [],
    }


Shown = Callable[[HttpRequest, Study], dict[str, Any]]
"""What a page shows besides its form."""


def _study_form(
    form_class: Any, heading: str, shown: Shown = lambda *_: {}
) -> Callable[..., HttpResponseBase]:
    """A page with some of the study's own fields."""

    @study_page("edit", FORM)
    def page(request: HttpRequest, study: Study) -> HttpResponse:
        form = form_class(request.POST or None, instance=Study.objects.get(pk=study.pk))
        if request.method == "POST" and form.is_valid():
            # only what was changed: somebody may have entered since the page was read
            form.instance.save(update_fields=form.changed_data)
            return done(request, form.instance, f"{heading}: saved.")
        return form_page(request, study, form, heading=heading, **shown(request, study))

    return page


settings = _study_form(SettingsForm, "Words and settings")
plan = _study_form(PlanForm, "Plan")
orders = _study_form(
    OrdersForm, "Orders of conditions", lambda request, study: {"orders": orders_shown(study)}
)


LINKS = 20
"""To hand out, unless the researcher says how many."""


def _links_shown(request: HttpRequest, study: Study) -> dict[str, Any]:
    """What to know about labels; for a plain label, links to hand out, new ones each time."""
    number = request.GET.get("links", "")
    many = max(1, min(int(number), MOST_LABELS)) if number.isdecimal() and len(number) < 9 else LINKS
    place = PLACES[study.recruitment]
    link = request.build_absolute_uri(study.get_absolute_url())
    links = [f"{link}?{place.label}={label}" for label in new_labels(many)]
    return {
        "template": "study/staff/design/recruitment.html",
        "links": links if study.recruitment == Study.Recruitment.LABEL else [],
        "most": MOST_LABELS,
    }


recruitment = _study_form(RecruitmentForm, "Recruitment", _links_shown)


@study_page("edit", FORM)
def part(request: HttpRequest, study: Study, kind: str) -> HttpResponse:
    """One part: on or off, its words, its settings."""
    row = _part(study, kind)
    form = PartForm(request.POST or None, instance=row)
    if request.method == "POST" and form.is_valid() and PREVIEW not in request.POST:
        form.save()
        return done(request, study, f"{PARTS[kind].words.capitalize()}: saved.")
    text = request.POST.get("text", row.text)
    more: dict[str, Any] = {"shown": to_html(text), "previewed": PREVIEW in request.POST, "can_preview": True}
    return form_page(request, study, form, heading=PARTS[kind].words.capitalize(), **more)


def _part(study: Study, kind: str) -> StudyPart:
    """The stored part, or a new one as it comes; 404 for a kind that there is not."""
    if kind not in PARTS:
        raise Http404(kind)
    fresh = StudyPart(study=study, kind=kind, enabled=PARTS[kind].enabled)
    return study.parts.filter(kind=kind).first() or fresh


@study_page("edit", FORM)
def condition(request: HttpRequest, study: Study, pk: int | None = None) -> HttpResponse:
    """A new condition, or one that is there, with a typed field for every setting."""
    row = (
        get_object_or_404(study.conditions, pk=pk) if pk else Condition(study=study, label=free_label(study))
    )
    form = console_condition_form()(_with_defaults(request.POST) or None, instance=row)
    if pk and (row.rounds.filter(participant__preview=False).exists() or bound(row)):
        form.fields["key"].disabled = True
    if request.method == "POST" and form.is_valid():
        if not pk:
            form.instance.position = next_position(study)
        condition_save(form)
        return done(request, study, _said(form.instance))
    chosen = {part: asked_kind(request, row, part) for part in (WORLD, COPLAYER)}
    groups = [
        (kind.label, [form[name] for name, _ in kind.named_settings()], kind.name == chosen[kind.part], kind)
        for kind in all_kinds()
        if kind.settings
    ]
    own = {name for kind in all_kinds() for name, _ in kind.named_settings()}
    more = {
        "condition": row,
        "plain": [field for field in form if field.name not in own],
        "groups": groups,
        "cautions": row.cautions if pk else (),
    }
    heading = f"Condition “{row.name}”" if pk else "A new condition"
    return form_page(
        request, study, form, heading=heading, template="study/staff/design/condition.html", **more
    )


@transaction.atomic
def condition_save(form: Any) -> None:
    """Stores it; previews that know it by another key are erased."""
    if form.instance.pk and "key" in form.changed_data:
        previews_erase(study_id=form.instance.study_id)
    form.save()


def _with_defaults(sent: QueryDict) -> QueryDict:
    """What was sent, and the defaults of a world or co-player whose settings were not on the page: `_shown`
    names those that were."""
    found, shown = sent.copy(), sent.getlist("_shown")
    for kind in all_kinds():
        if sent.get(kind.part) != kind.name or f"{kind.part}__{kind.name}" in shown:
            continue
        for name, setting in kind.named_settings():
            if name not in found and setting.default is not False:
                found[name] = str(setting.default)
    return found


def _said(row: Condition) -> str:
    warned = [*condition_warnings(row), *row.cautions]
    return f"{row.name}: saved." + (f" But mind: {' '.join(warned)}" if warned else "")


@study_page("edit", POST)
def condition_act(request: HttpRequest, study: Study, pk: int, act: str) -> HttpResponse:
    """Copy, up, down, delete."""
    row = get_object_or_404(study.conditions, pk=pk)
    if act == "copy":
        made = condition_copy(row)
        return redirect("study:staff-design-condition", study.slug, made.pk)
    if act == "delete":
        return asked_once(request, study, lambda: condition_delete(condition=row), f"{row.name} is deleted.")
    return _moved(request, study, row, act)


def _moved(request: HttpRequest, study: Study, row: Condition | SurveyItem, act: str) -> HttpResponse:
    by = -1 if act == "up" else 1
    return asked(request, study, lambda: row_move(row, by=by), f"{row} was moved {act}.")


@study_page("edit", FORM)
def item(request: HttpRequest, study: Study, pk: int | None = None) -> HttpResponse:
    """A new item, or one that is there. `?kind=attention` begins with an attention check."""
    row = get_object_or_404(study.items, pk=pk) if pk else SurveyItem(study=study)
    initial = _first_words(request, study) if not pk else {}
    form = ConsoleItemForm(request.POST or None, instance=row, initial=initial)
    if request.method == "POST" and form.is_valid():
        if not pk:
            last = study.items.order_by("position").last()
            form.instance.position = last.position + 1 if last else 1
        form.save()
        return done(request, study, f"{form.instance.measure}: saved.")
    heading = f"Question “{row.measure}”" if pk else "A new question"
    return form_page(request, study, form, heading=heading, note=_note(form))


def _first_words(request: HttpRequest, study: Study) -> dict[str, Any]:
    if request.GET.get("kind") != "attention":
        return {"place": request.GET.get("place", SurveyItem.Place.SURVEY)}
    number = study.items.filter(key__startswith="attention").count() + 1
    end = "" if number == 1 else f"_{number}"
    return {**ATTENTION, "key": f"attention{end}", "measure": f"Attention check{end.replace('_', ' ')}"}


def _note(form: ConsoleItemForm) -> str:
    if not form.fixed:
        return f"In part fixed: {form.instance.TRIED}." if form.answered else ""
    if not form.answered:
        return (
            f"What it asks is fixed: {bound_words(bound(form.instance))} and may still be asked it. "
            "It can be switched off, and another one added for those who come from now on."
        )
    return f"There are {form.answered} answers, so what they rest on is fixed. It can be switched off."


@study_page("edit", POST)
def item_act(request: HttpRequest, study: Study, pk: int, act: str) -> HttpResponse:
    """Up, down, off and on, delete."""
    row = get_object_or_404(study.items, pk=pk)
    if act == "delete":
        return asked_once(request, study, lambda: item_delete(item=row), f"{row.measure} is deleted.")
    if act == "switch":
        SurveyItem.objects.filter(pk=pk).update(enabled=not row.enabled)
        return done(request, study, f"{row.measure} is {'off' if row.enabled else 'on'}.")
    return _moved(request, study, row, act)


@study_page("edit", FORM)
def instruments(request: HttpRequest, study: Study) -> HttpResponse:
    """A shipped questionnaire is added."""
    form = InstrumentForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        found = instrument(form.cleaned_data["instrument"])
        words = f"{found.title}: {len(found.items)} questions were added."
        return asked(request, study, lambda: instrument_add(study_id=study.pk, instrument=found), words)
    more = {"shipped": shipped(), "submit": "Add these questions"}
    return form_page(
        request,
        study,
        form,
        heading="Shipped questions",
        template="study/staff/design/instruments.html",
        **more,
    )


@study_page("edit", FORM)
def outcomes(request: HttpRequest, study: Study) -> HttpResponse:
    """A code and an address for each kind of end."""
    form = OutcomesForm(request.POST or None, study=study)
    if request.method == "POST" and form.is_valid():
        outcomes_set(study_id=study.pk, rows=form.rows())
        return done(request, study, "Codes: saved.")
    more = {"leads_to": PLACES[study.recruitment].complete}
    return form_page(
        request, study, form, heading="Codes at the end", template="study/staff/design/outcomes.html", **more
    )
