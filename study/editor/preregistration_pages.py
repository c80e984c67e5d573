"""Serve the pages on which staff freeze, read and download a study's preregistration, and see later changes.

The download is a ZIP file for a registry such as OSF. It has the preregistration as JSON, a readable copy,
and instructions to check its hash.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from kitchen.contract.world import Json
from kitchen.infra.file_downloads import as_attachment
from kitchen.infra.file_writing import zip_files
from study.analysis.pre_launch_warnings import first_warning, pre_launch_problems
from study.design.blueprint import Blueprint, ConditionPlan, blueprint_of
from study.design.factors import Factor
from study.design.form_labels import study_label
from study.design.markdown_html import to_html
from study.design.media_html import NO_MEDIA
from study.design.metric_and_scale_names import comparison_metrics, exploratory_metrics
from study.design.models import Study, Version
from study.design.own_pages import compared_names
from study.design.preregistration import bundle_problem, date_is_hashed, freeze_study
from study.design.study_versions import FreezeState, freeze_states, frozen_version, matches_design
from study.editor import describe_design
from study.editor.describe_changes import design_changes, program_changes
from study.editor.describe_design import LabelledValue, condition_pairs
from study.editor.media_pages import design_media
from study.researchers.form_and_button_pages import confirmed_service_button, study_context
from study.researchers.permissions import study_page

README = """\
Preregistration of “{title}”, version {number}, frozen {at}.

preregistration.json  the bundle, as it was frozen: design, orders, prompts, models, and by whom, when and
                      with which program
preregistration.html  the same to read; it needs no other file and no network

Its SHA-256 is

  {sha256}

To compute it again without the program that wrote it:

  python3 -c "
  import hashlib, json
  bundle = json.load(open('preregistration.json', encoding='utf-8'))
  told = {under}
  text = json.dumps(told, sort_keys=True, separators=(',', ':'), ensure_ascii=False)
  print(hashlib.sha256(text.encode()).hexdigest())"
"""
WHOLE = "{name: bundle[name] for name in ('format', 'content', 'frozen', 'program')}"
CONTENT = "bundle['content']"


def bundle_text(version: Version) -> str:
    """Return the version's preregistration bundle as indented JSON."""
    return json.dumps(version.bundle, indent=2, sort_keys=True, ensure_ascii=False)


def preregistration_zip(study: Study, version: Version, page: str) -> bytes:
    """Return a ZIP with the bundle, a readable HTML page of the bundle (`page`), and a README. Equal input
    gives equal bytes."""
    assert version.bundle and version.frozen_at  # noqa: S101 - it is frozen
    readme = README.format(
        title=study.title,
        number=version.number,
        at=version.bundle["frozen"]["at"],
        sha256=version.bundle["sha256"],
        under=WHOLE if version.bundle["format"] > 1 else CONTENT,
    )
    texts = {
        "README.txt": readme,
        "preregistration.html": page,
        "preregistration.json": bundle_text(version),
    }
    files = {name: text.encode() for name, text in texts.items()}
    return zip_files(files, folder=f"{study.slug}_preregistration_{version.number}", at=version.frozen_at)


POST = ("POST",)


@study_page("view")
def preregistration(request: HttpRequest, study: Study) -> HttpResponse:
    """Show whether the design is frozen, what changed since, and how many participants entered under each
    version."""
    frozen, design = frozen_version(study), blueprint_of(study)
    states, told = freeze_states(study), pre_launch_problems(study)
    context = {
        "frozen": frozen,
        "hindrances": [one for one in told if one.hinders],
        "cautions": [one for one in told if not one.hinders],
        "differences": design_changes(frozen.blueprint, design) if frozen else [],
        "versions": [
            (version, states[version.pk], _entered_early(version, states[version.pk]))
            for version in versions_counted(study)
        ],
        "already": _entered_unfrozen(study, design),
        "program_differences": program_changes(frozen.bundle) if frozen and frozen.bundle else [],
        "untold": bool(frozen and frozen.blueprint.format < design.format),
    }
    return render(request, "study/editor/preregistration.html", study_context(study) | context)


def _entered_early(version: Version, state: FreezeState) -> int:
    """Return how many people entered under this version before the version was preregistered."""
    if state.frozen_at is None:
        return 0
    return version.participants.filter(preview=False, synthetic=False, entered_at__lt=state.frozen_at).count()


def _entered_unfrozen(study: Study, design: Blueprint) -> int:
    """Return how many people entered under the current design while it was not preregistered."""
    unfrozen = [
        one.pk for one in study.versions.filter(frozen_at=None).defer("bundle") if matches_design(one, design)
    ]
    return study.participants.filter(version__in=unfrozen, preview=False, synthetic=False).count()


def versions_counted(study: Study) -> list[Version]:
    """Return every version, newest first, with the numbers of its participants: `people`, `programs`
    (synthetic) and `previews`."""
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
    """Preregister the current design, if the user confirmed it."""
    words, mind = "Frozen: the preregistration is stored with its hash and date.", first_warning(study)
    act = partial(freeze_study, study_id=study.pk, user=request.user)
    return confirmed_service_button(request, study, act, words, "preregistration", mind=mind)


@study_page("view")
def download_bundle(request: HttpRequest, study: Study, number: int) -> HttpResponseBase:
    """Download the bundle as a JSON file."""
    version = _frozen(study, number)
    response = HttpResponse(bundle_text(version), content_type="application/json; charset=utf-8")
    return as_attachment(response, f"{study.slug}_preregistration_{number}.json")


@study_page("view")
def download_zip(request: HttpRequest, study: Study, number: int) -> HttpResponseBase:
    """Download a ZIP with the files to upload to a registry such as OSF."""
    version = _frozen(study, number)
    page = render_to_string("study/editor/preregistered_file.html", _bundle_context(study, version))
    response = HttpResponse(preregistration_zip(study, version, page), content_type="application/zip")
    return as_attachment(response, f"{study.slug}_preregistration_{number}.zip")


@study_page("view")
def readable_page(request: HttpRequest, study: Study, number: int) -> HttpResponse:
    """Show a bundle for reading and printing. The page computes its hash again."""
    return render(
        request,
        "study/editor/preregistered.html",
        _bundle_context(study, _frozen(study, number), in_console=True),
    )


def _bundle_context(study: Study, version: Version, *, in_console: bool = False) -> dict[str, Any]:
    """Return the contents of the bundle as template context. Only a page in the console shows media."""
    assert version.bundle  # noqa: S101 - it is frozen
    content = version.bundle["content"]
    design = Blueprint.from_json(content["design"])
    media = design_media(study, design) if in_console else NO_MEDIA
    return {
        "study": study,
        "version": version,
        "bundle": version.bundle,
        "dated": date_is_hashed(version.bundle),
        "problem": bundle_problem(version.bundle),
        "design": design,
        "plan": describe_design.plan_pairs(design),
        "planned": [_plan_text(design, name) for name in describe_design.PLAN_TEXTS],
        "settings": describe_design.study_pairs(design),
        "conditions": [_condition(one, content, design.factors) for one in design.conditions],
        "parts": [
            (one, to_html(one.text, media), describe_design.part_pairs(one, compared_names(design, "end")))
            for one in design.parts
            if one.enabled
        ],
        "pages": [
            (one, to_html(one.text, media), describe_design.page_pairs(one, compared_names(design, "end")))
            for one in design.pages
        ],
        "off": describe_design.parts_off(design),
        "orders": content["orders"],
        "sequences": _sequences(content["orders"], {one.key: one.name for one in design.conditions}),
        "measured": comparison_metrics(design),
        "explored": exploratory_metrics(design),
        "places": describe_design.questions_by_place(design),
        "scales": describe_design.scales(design),
        "ends": describe_design.ends(design),
    }


def _plan_text(design: Blueprint, name: str) -> tuple[str, SafeString]:
    """Return the text of the plan with this name, as a pair of heading and HTML."""
    return study_label(name), to_html(str(design.study[name] or ""))


def _condition(
    condition: ConditionPlan, content: Mapping[str, Json], factors: Sequence[Factor]
) -> tuple[str, list[LabelledValue], list[str]]:
    """Return three things about a condition: its name, its settings with the facts that follow from them, and
    its prompts. Facts and prompts come from the bundle's `content`."""
    model = content.get("models", {}).get(condition.key, "")
    rules = [LabelledValue("Version of the world's rules", str(content["worlds"][condition.world]))]
    plays = [LabelledValue("Language model that plays", model)] if model else []
    return (
        condition.name,
        [*condition_pairs(condition, factors), *rules, *plays],
        content["prompts"].get(condition.key, []),
    )


def _sequences(orders: Mapping[str, Json], names: Mapping[str, str]) -> list[str]:
    """Return each sequence of conditions as text. If the study has between-subjects groups, the text begins
    with the group."""
    told = [(one.get("group"), " → ".join(names[key] for key in one["order"])) for one in orders["sequences"]]
    return [f"{group}: {order}" if group else order for group, order in told]


def _frozen(study: Study, number: int) -> Version:
    version = get_object_or_404(study.versions, number=number)
    if not version.bundle:
        raise Http404(number)
    return version
