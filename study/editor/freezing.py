"""The preregistration: freezing it, reading it, taking it away, and what was changed since."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from kitchen.contract.world import Json
from kitchen.machine.downloads import named
from study.design.blueprint import Blueprint, ConditionPlan, blueprint_of
from study.design.figures import explored, measured
from study.design.freezing import study_freeze
from study.design.models import Study, Version
from study.design.preregistration import bundle_problem, date_is_hashed
from study.design.versions import FreezeState, freeze_states, frozen_version, tells
from study.editor import in_words
from study.editor.changes import changes, program_changes
from study.editor.handing_over import bundle_text, handed_over
from study.editor.in_words import Pair, condition_pairs
from study.planning.lacking import lacking, to_mind
from study.researchers.frame import asked_once, context_of
from study.researchers.permissions import study_page
from study.words.markdown import to_html

POST = ("POST",)


@study_page("view")
def preregistration(request: HttpRequest, study: Study) -> HttpResponse:
    """Whether it is frozen, what is different now, and how many took part under which version."""
    frozen, design = frozen_version(study), blueprint_of(study)
    states, told = freeze_states(study), lacking(study)
    context = {
        "frozen": frozen,
        "hindrances": [one for one in told if one.hinders],
        "cautions": [one for one in told if not one.hinders],
        "differences": changes(frozen.blueprint, design) if frozen else [],
        "versions": [
            (version, states[version.pk], _early(version, states[version.pk]))
            for version in versions_counted(study)
        ],
        "already": _already(study, design),
        "program_differences": program_changes(frozen.bundle) if frozen and frozen.bundle else [],
        "untold": bool(frozen and frozen.blueprint.format < design.format),
    }
    return render(request, "study/editor/preregistration.html", context_of(study) | context)


def _early(version: Version, state: FreezeState) -> int:
    """How many people entered under it before it was preregistered."""
    if state.frozen_at is None:
        return 0
    return version.participants.filter(preview=False, synthetic=False, entered_at__lt=state.frozen_at).count()


def _already(study: Study, design: Blueprint) -> int:
    """How many people have entered under the present design before it is preregistered."""
    unfrozen = [one.pk for one in study.versions.filter(frozen_at=None).defer("bundle") if tells(one, design)]
    return study.participants.filter(version__in=unfrozen, preview=False, synthetic=False).count()


def versions_counted(study: Study) -> list[Version]:
    """Every version with `people`, `programs` and `previews`."""
    real = Q(participants__preview=False)
    return list(
        study.versions.annotate(
            people=Count("participants", filter=real & Q(participants__synthetic=False)),
            programs=Count("participants", filter=real & Q(participants__synthetic=True)),
            previews=Count("participants", filter=Q(participants__preview=True)),
        )
        .defer("document", "bundle")
        .order_by("-number")
    )


@study_page("own", POST)
def freeze(request: HttpRequest, study: Study) -> HttpResponse:
    """The design as it is now is preregistered."""
    words, mind = "Frozen: the preregistration is stored with its hash and date.", to_mind(study)
    act = partial(study_freeze, study_id=study.pk, user=request.user)
    return asked_once(request, study, act, words, "preregistration", mind=mind)


@study_page("view")
def bundle(request: HttpRequest, study: Study, number: int) -> HttpResponseBase:
    """The bundle as a file."""
    version = _frozen(study, number)
    response = HttpResponse(bundle_text(version), content_type="application/json; charset=utf-8")
    return named(response, f"{study.slug}_preregistration_{number}.json")


@study_page("view")
def handed(request: HttpRequest, study: Study, number: int) -> HttpResponseBase:
    """All that a registry such as OSF keeps of it, as one ZIP."""
    version = _frozen(study, number)
    page = render_to_string("study/editor/preregistered_file.html", _told(study, version))
    response = HttpResponse(handed_over(study, version, page), content_type="application/zip")
    return named(response, f"{study.slug}_preregistration_{number}.zip")


@study_page("view")
def readable(request: HttpRequest, study: Study, number: int) -> HttpResponse:
    """The bundle for people, to read and to print; its hash is computed again for this page."""
    return render(request, "study/editor/preregistered.html", _told(study, _frozen(study, number)))


def _told(study: Study, version: Version) -> dict[str, Any]:
    """All that the bundle says, for a template."""
    assert version.bundle  # noqa: S101 - it is frozen
    content = version.bundle["content"]
    design = Blueprint.from_json(content["design"])
    return {
        "study": study,
        "version": version,
        "bundle": version.bundle,
        "dated": date_is_hashed(version.bundle),
        "problem": bundle_problem(version.bundle),
        "design": design,
        "plan": in_words.plan_pairs(design),
        "planned": [_planned(design, name) for name in in_words.PLAN_TEXTS],
        "settings": in_words.study_pairs(design),
        "conditions": [_condition(one, content) for one in design.conditions],
        "parts": [(one, to_html(one.text), in_words.part_pairs(one)) for one in design.parts if one.enabled],
        "off": in_words.parts_off(design),
        "orders": content["orders"],
        "sequences": _sequences(content["orders"], {one.key: one.name for one in design.conditions}),
        "measured": measured(design),
        "explored": explored(design),
        "places": in_words.places(design),
        "scales": in_words.scales(design),
        "ends": in_words.ends(design),
    }


def _planned(design: Blueprint, name: str) -> tuple[str, SafeString]:
    """A text of the plan, with its heading."""
    return in_words.study_label(name), to_html(str(design.study[name] or ""))


def _condition(condition: ConditionPlan, content: Mapping[str, Json]) -> tuple[str, list[Pair], list[str]]:
    """Name, all that was set and follows from it, and prompts of a condition."""
    model = content.get("models", {}).get(condition.key, "")
    rules = [Pair("Version of the world's rules", str(content["worlds"][condition.world]))]
    plays = [Pair("Language model that plays", model)] if model else []
    return (
        condition.name,
        [*condition_pairs(condition), *rules, *plays],
        content["prompts"].get(condition.key, []),
    )


def _sequences(orders: Mapping[str, Json], names: Mapping[str, str]) -> list[str]:
    return [" → ".join(names[key] for key in one["order"]) for one in orders["sequences"]]


def _frozen(study: Study, number: int) -> Version:
    version = get_object_or_404(study.versions, number=number)
    if not version.bundle:
        raise Http404(number)
    return version
