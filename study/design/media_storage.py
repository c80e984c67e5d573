"""Store, list, replace and delete the media files of a study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet, Sum
from django.utils import timezone

from study.design.media.media_checks import check_media
from study.design.media.media_errors import MediaError
from study.design.media.media_limits import MIB, MOST_BYTES, MOST_FILES
from study.design.media.media_plans import names_shown
from study.design.models import Study, StudyMedia
from study.design.study_errors import DesignError


@dataclass(frozen=True, slots=True)
class MediaFile:
    """A media file with its bytes and its texts."""

    name: str
    data: bytes
    sha256: str
    alt: str = ""
    transcript: str = ""


def media_rows(study: Study) -> QuerySet[StudyMedia]:
    """Return the study's current media files without their bytes."""
    return study.media.filter(replaced_at=None).defer("data")


def media_files(study: Study) -> list[MediaFile]:
    """Return the study's current media files with their bytes, by name."""
    rows = media_rows(study).defer(None)
    return [MediaFile(row.name, bytes(row.data), row.sha256, row.alt, row.transcript) for row in rows]


@transaction.atomic
def store_media(
    study: Study,
    name: str,
    data: bytes,
    *,
    alt: str = "",
    transcript: str = "",
    replaces: bool = False,
    by: Any = None,
) -> StudyMedia:
    """Check a file and store it, and return its row. With `replaces`, it takes the place of the file of the
    same name.

    Raises MediaError, with the reason in words, if the file is refused or the study has no room for it.
    """
    checked = check_media(name, data)
    if checked.kind == "image" and not alt.strip():
        raise MediaError("Describe the image, for people who do not see it.")
    Study.objects.select_for_update().get(pk=study.pk)
    rows = study.media.defer("data")
    same = rows.filter(name=checked.name, replaced_at=None).first()
    if same and not replaces:
        raise MediaError(f"The study already has “{checked.name}”. Tick the box to replace it.")
    _check_room(study, len(data), same)
    if same:
        _retire(same)
    fields: dict[str, Any] = {"alt": alt.strip(), "transcript": transcript.strip(), "uploaded_by": by}
    earlier = rows.filter(name=checked.name, sha256=checked.sha256).first()
    if earlier:  # the same bytes were here before
        StudyMedia.objects.filter(pk=earlier.pk).update(**fields, replaced_at=None)
        return rows.get(pk=earlier.pk)
    return StudyMedia.objects.create(
        study=study,
        name=checked.name,
        sha256=checked.sha256,
        kind=checked.kind,
        size=len(data),
        width=checked.width,
        height=checked.height,
        data=data,
        **fields,
    )


def _check_room(study: Study, size: int, replaced: StudyMedia | None) -> None:
    if replaced is None and study.media.filter(replaced_at=None).count() >= MOST_FILES:
        raise MediaError(f"A study may have at most {MOST_FILES} files. Delete some that are not used.")
    stored = study.media.aggregate(total=Sum("size"))["total"] or 0
    if stored + size > MOST_BYTES:
        raise MediaError(f"All files of a study may have at most {MOST_BYTES // MIB} MiB together.")


def _retire(row: StudyMedia) -> None:
    """Delete the bytes of a replaced file, or keep them for the versions that show it."""
    if versions_that_show(row):
        StudyMedia.objects.filter(pk=row.pk).update(replaced_at=timezone.now())
    else:
        StudyMedia.objects.filter(pk=row.pk).delete()


def retire_all_media(study: Study) -> None:
    """Delete all current files of the study. Files that a version shows are kept for it."""
    documents = study.versions.values_list("document", flat=True)
    shown = {one["sha256"] for document in documents for one in document.get("media", ())}
    rows = study.media.filter(replaced_at=None)
    rows.exclude(sha256__in=shown).delete()
    rows.update(replaced_at=timezone.now())


def versions_that_show(row: StudyMedia) -> list[int]:
    """Return the numbers of the study's versions whose texts show exactly this file."""
    documents = row.study.versions.order_by("number").values_list("number", "document")
    return [
        number
        for number, document in documents
        if any(one["sha256"] == row.sha256 for one in document.get("media", ()))
    ]


def where_shown(study: Study) -> dict[str, list[str]]:
    """Return where the texts of the current design show each file: readable places by the file's name."""
    places: dict[str, list[str]] = {}
    texts = [(f"part {row.kind}", row.text) for row in study.parts.all()]
    texts += [(f"page “{row.title}”", row.text) for row in study.own_pages.all()]
    texts += [(f"end {row.kind}", row.text) for row in study.outcomes.all()]
    for language, translated in study.texts.items():
        texts += [(f"translation ({language})", text) for text in translated.values()]
    for place, text in texts:
        for name in names_shown([text]):
            if place not in places.setdefault(name, []):
                places[name].append(place)
    return places


@transaction.atomic
def delete_media(row: StudyMedia) -> None:
    """Delete a file. Raises DesignError while a text shows it. If a version shows it, its bytes stay."""
    Study.objects.select_for_update().get(pk=row.study_id)
    if places := where_shown(row.study).get(row.name):
        raise DesignError(f"“{row.name}” is used: {', '.join(places)}. Remove it there, or replace it.")
    _retire(row)
