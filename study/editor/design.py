"""The design of one study: an overview, and a plain form for each piece of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from kitchen.words.counting import counted
from study.design.blueprint import blueprint_of
from study.design.chance import same_for_all
from study.design.models import Study, StudyPart, SurveyItem
from study.design.offered import WORLD, world_kinds
from study.design.parts import ALWAYS_ON, PARTS
from study.design.practice import practice_like
from study.design.recruitment import MOST_LABELS, PLACES, PROOF, label_proof, new_labels
from study.design.versions import differences, frozen_version
from study.editor.chosen import chosen_fields, with_usual
from study.editor.drawn import told_page, with_begun
from study.editor.forms import OrdersForm, OutcomesForm, PartForm, PlanForm, RecruitmentForm, SettingsForm
from study.editor.in_words import OWN_CODE
from study.editor.orders import orders_shown
from study.editor.practice_fields import usual
from study.editor.saving import part_save, study_save
from study.editor.services import outcomes_set
from study.planning.lacking import lacking
from study.researchers.frame import context_of, done, form_page, participant_link
from study.researchers.permissions import FORM, study_page
from study.words.markdown import to_html

PREVIEW = "_preview"
"""Name of the button that shows a text as participants read it, and saves nothing."""
CONDITION_ACTS = (("up", "Up"), ("down", "Down"), ("copy", "Copy"), ("delete", "Delete"))
ITEM_ACTS = (("up", "Up"), ("down", "Down"), ("switch", ""), ("delete", "Delete"))
"""Buttons of a row: what each asks for, and its words."""


@study_page("copy")
def overview(request: HttpRequest, study: Study) -> HttpResponse:
    """The whole design on one page, and what is still missing."""
    design, frozen = blueprint_of(study), frozen_version(study)
    context = {
        "participant_link": participant_link(request, study),
        "same_for_all": same_for_all(design.worlds),
        "recruitment_help": PLACES[study.recruitment].help,
        "missing": (told := lacking(study)),
        "missing_title": _missing_title(study, any(one.hinders for one in told)),
        "conditions": study.conditions.all(),
        "parts": [(part, PARTS[part.kind], part.kind in ALWAYS_ON) for part in design.parts],
        "places": items_by_place(study),
        "orders": orders_shown(study),
        "outcomes": study.outcomes.all(),
        "own_code": OWN_CODE,
        "previews": _number(study, "preview", preview=True),
        "programs": _number(study, "synthetic participant", preview=False, synthetic=True),
        "frozen": frozen,
        "changed": len(differences(frozen.blueprint, design)) if frozen else 0,
        "condition_acts": CONDITION_ACTS,
        "item_acts": ITEM_ACTS,
    }
    return render(request, "study/editor/overview.html", context_of(study) | context)


def _missing_title(study: Study, hinders: bool) -> str:
    if not hinders:
        return "To consider"
    is_open = study.status == Study.Status.OPEN
    return "Missing, although it is open" if is_open else "Still missing before this study can take people"


def _number(study: Study, noun: str, **which: bool) -> str:
    """`3 previews`; empty if there are none."""
    number = study.participants.filter(**which).count()
    return counted(number, noun) if number else ""


def items_by_place(study: Study) -> list[tuple[str, list[SurveyItem]]]:
    """Every place in words with its items, those switched off among them."""
    rows = list(study.items.all())
    return [(label, [one for one in rows if one.place == place]) for place, label in SurveyItem.Place.choices]


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
            study_save(study=form.instance, fields=form.changed_data)
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
    links = [
        f"{link}?{place.label}={label}&{PROOF}={label_proof(study, label)}" for label in new_labels(many)
    ]
    return {
        "template": "study/editor/recruitment.html",
        "participant_link": participant_link(request, study),
        "links": links if study.recruitment == Study.Recruitment.LABEL else [],
        "most": MOST_LABELS,
    }


recruitment = _study_form(RecruitmentForm, "Recruitment", _links_shown)


@study_page("edit", FORM)
def part(request: HttpRequest, study: Study, kind: str) -> HttpResponse:
    """One part: on or off, its words, its settings."""
    row = _part(study, kind)
    sent = with_usual(request.POST, world_kinds(), usual) if kind == "practice" else request.POST
    form = PartForm(with_begun(sent, study) or None, instance=row)
    if told := told_page(request, form):
        return told
    if request.method == "POST" and form.is_valid() and PREVIEW not in request.POST:
        part_save(part=form.instance)
        return done(request, study, f"{PARTS[kind].words.capitalize()}: saved.")
    text = request.POST.get("text", row.text)
    more: dict[str, Any] = {"shown": to_html(text), "previewed": PREVIEW in request.POST, "can_preview": True}
    if kind == "practice":
        chosen = {WORLD: str(form[WORLD].value())}
        more |= chosen_fields(form, world_kinds(), chosen)
        more["template"] = "study/editor/practice.html"
    return form_page(request, study, form, heading=PARTS[kind].words.capitalize(), **more)


def _part(study: Study, kind: str) -> StudyPart:
    """The stored part, or a new one as it comes; 404 for a kind that there is not."""
    if kind not in PARTS:
        raise Http404(kind)
    return study.parts.filter(kind=kind).first() or _fresh_part(study, kind)


def _fresh_part(study: Study, kind: str) -> StudyPart:
    """As it comes; practice is offered in the kitchen of the first condition."""
    fresh = StudyPart(study=study, kind=kind, enabled=PARTS[kind].enabled)
    if kind == "practice" and (first := study.conditions.first()):
        fresh.settings = {"kitchen": practice_like(first.world, first.settings)}
    return fresh


@study_page("edit", FORM)
def outcomes(request: HttpRequest, study: Study) -> HttpResponse:
    """A code and an address for each kind of end."""
    form = OutcomesForm(request.POST or None, study=study)
    if request.method == "POST" and form.is_valid():
        outcomes_set(study_id=study.pk, rows=form.rows())
        return done(request, study, "Codes: saved.")
    more = {"leads_to": PLACES[study.recruitment].complete}
    return form_page(
        request, study, form, heading="Codes at the end", template="study/editor/outcomes.html", **more
    )
