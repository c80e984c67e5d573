"""Take the design of a study's file: into a new study, or into an existing one that nobody has taken part in.

Both check the file completely first. If anything is wrong, nothing is changed.
"""

from __future__ import annotations

import secrets
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from study.design.blueprint import Blueprint, blueprint_of
from study.design.models import Study
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


def design_of_content(content: StudyContent) -> Blueprint:
    """Return the design in a study's file, after it was checked completely. Nothing is stored. Raises
    DataError if the file is invalid."""
    with study_tried_out(content, slug=f"tried-out-{secrets.token_hex(8)}", **CLOSED) as made:
        return blueprint_of(made)


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
    closing date stay.

    Raises DesignError if anybody took part, and DataError if the file is invalid. Nothing is changed then.
    """
    study = Study.objects.select_for_update().get(pk=study_id)
    if why := replacement_problem(study):
        raise DesignError(why)
    previews_erase(study_id=study_id)
    ends = {row.kind: (row.code, row.url) for row in study.outcomes.all()}
    for rows in (study.conditions, study.items, study.parts, study.outcomes, study.own_pages):
        rows.all().delete()
    _replace_fields(study, content)
    rows_from_content(study, content)
    _restore_ends(study, ends)


def _replace_fields(study: Study, content: StudyContent) -> None:
    """Set the study's own fields to those of the file, and to their defaults if the file lacks them."""
    told = study_fields_of(content)
    for name in StudyFile.model_fields.keys() - ROWS - KEPT - {"budget", "seed"}:
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
    """Store codes and addresses that the study had, where the file gives none."""
    for kind, (code, url) in ends.items():
        if code or url:
            row, _ = study.outcomes.get_or_create(kind=kind)
            row.code, row.url = row.code or code, row.url or url
            row.save(update_fields=["code", "url"])
