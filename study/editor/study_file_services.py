"""Take the design of a study's file: into a new study, or into an existing one that nobody has taken part in.

Both check the file completely first. If anything is wrong, nothing is changed.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction

from kitchen.contract.world import Json
from study.design.blueprint import OPTIONAL_STUDY_FIELDS, STUDY_FIELDS, Blueprint, blueprint_of
from study.design.media_storage import media_rows, retire_all_media
from study.design.models import Study
from study.design.questions.item_fields import ItemPlan
from study.design.study_archive import StudyContent
from study.design.study_errors import DesignError
from study.design.study_files import (
    ROWS,
    StudyFile,
    rows_from_content,
    study_fields_of,
    study_from_content,
    study_tried_out,
)
from study.editor.design_services import study_deletion_problem
from study.pilot.previews import previews_erase
from study.researchers.models import Membership

KEPT = {"slug", "status", "conceals_allocation"}
"""Fields of a study that a file does not replace. Only owners may conceal conditions or show them, but
collaborators may take a file."""
CLOSED: dict[str, Any] = {"status": Study.Status.CLOSED}
UNSAID = ("seed", "budget_limit")
"""Fields of a study that stay as they are if the file does not have them."""
OUTSIDE = tuple(
    name
    for name in StudyFile.model_fields
    if name not in {*STUDY_FIELDS, *OPTIONAL_STUDY_FIELDS, *ROWS, *KEPT, "budget"}
)
"""Fields of a study that a file replaces, but the design's document does not have."""


class OutsideDesign(NamedTuple):
    """The parts of a study that a file replaces, but the design's document does not have."""

    fields: Mapping[str, Json]
    """The values of the fields `OUTSIDE`."""
    unused: Blueprint
    """The questions that are switched off, and the files that no text shows."""


def outside_design(study: Study) -> OutsideDesign:
    """Return what the study has outside its design's document, as it is now."""
    shown = [one.name for one in blueprint_of(study).media]
    unused = Blueprint(
        study={},
        conditions=(),
        parts=(),
        items=tuple(ItemPlan.of(row) for row in study.items.filter(enabled=False)),
        media=tuple(row.plan for row in media_rows(study).exclude(name__in=shown)),
    )
    return OutsideDesign({name: getattr(study, name) for name in OUTSIDE}, unused)


def design_of_content(content: StudyContent, into: Study | None = None) -> tuple[Blueprint, OutsideDesign]:
    """Return the design in a study's file, and what is outside it, after the file was checked completely.
    Nothing is stored. Fields `UNSAID` that the file does not have are those of the study `into`. Raises
    DataError if the file is invalid."""
    told = study_fields_of(content)
    stays = {name: getattr(into, name) for name in UNSAID if into and name not in told}
    with study_tried_out(content, slug=f"tried-out-{secrets.token_hex(8)}", **stays, **CLOSED) as made:
        return blueprint_of(made), outside_design(made)


@transaction.atomic
def study_create_from_content(content: StudyContent, *, owner: Any, slug: str = "", title: str = "") -> Study:
    """Create a closed study from a file, and return it. `owner` is its only member. `slug` and `title`
    replace those of the file. Raises DataError if the file is invalid, or its name in the link is taken."""
    own: dict[str, Any] = {name: value for name, value in (("slug", slug), ("title", title)) if value}
    made = study_from_content(content, **own, **CLOSED)
    made.memberships.create(user=owner, role=Membership.Role.OWNER)
    return made


def replacement_problem(study: Study) -> str:
    """Return why the study's design cannot be replaced by that of a file. Return an empty string if it can.
    Previews do not prevent it."""
    if study.status == Study.Status.OPEN:
        return "The study is open. Close it first, or make a new study from the file."
    if study_deletion_problem(study):
        return (
            "People or programs took part with this design. Erase the programs first, or make a new study "
            "from the file."
        )
    return ""


@transaction.atomic
def design_replace(*, study_id: int, content: StudyContent) -> None:
    """Replace the study's design by that of a file. Name in the link, members, codes, addresses and the
    closing date stay. Files that the new design does not name are deleted, or kept only for old versions.

    Raises DesignError if anybody took part, and DataError if the file is invalid. Nothing is changed then.
    """
    study = Study.objects.select_for_update().get(pk=study_id)
    if why := replacement_problem(study):
        raise DesignError(why)
    previews_erase(study_id=study_id)
    ends = {row.kind: (row.code, row.url) for row in study.outcomes.all()}
    codes = dict(study.own_pages.exclude(session_code="").values_list("key", "session_code"))
    for rows in (study.conditions, study.items, study.parts, study.outcomes, study.own_pages):
        rows.all().delete()
    retire_all_media(study)
    _replace_fields(study, content)
    rows_from_content(study, content)
    _restore_ends(study, ends)
    for page in study.own_pages.filter(key__in=codes, session_code="", ends=False):
        if page.plan.is_break:
            study.own_pages.filter(pk=page.pk).update(session_code=codes[page.key])


def _replace_fields(study: Study, content: StudyContent) -> None:
    """Set the study's own fields to those of the file, and to their defaults if the file lacks them."""
    told = study_fields_of(content)
    for name in StudyFile.model_fields.keys() - ROWS - KEPT - {"budget", *UNSAID}:
        field: Any = Study._meta.get_field(name)
        setattr(study, name, field.get_default())
    for name, value in told.items():
        if name not in KEPT:
            setattr(study, name, value)
    study.texts = {}
    try:
        study.full_clean()
    except ValidationError as error:
        name, words = next(iter(error.message_dict.items()))
        raise content.source.error(name, " ".join(words)) from error
    study.save()


def _restore_ends(study: Study, ends: dict[str, tuple[str, str]]) -> None:
    """Store the codes and addresses that the study had, in place of those of the file."""
    for row in study.outcomes.all():
        row.code, row.url = ends.get(row.kind, ("", ""))
        row.save(update_fields=["code", "url"])
    for kind in ends.keys() - set(study.outcomes.values_list("kind", flat=True)):
        study.outcomes.create(kind=kind, code=ends[kind][0], url=ends[kind][1])
    study.outcomes.filter(code="", url="", text="").delete()
