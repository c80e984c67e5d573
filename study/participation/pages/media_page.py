"""Serve the media files of a study's pages to its participants."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from study.design.media_response import media_response
from study.design.models import StudyMedia
from study.participation.page_progress import participant_of_key


@require_http_methods(["GET", "HEAD"])
def media(request: HttpRequest, key: str, sha256: str, media_name: str) -> HttpResponse:
    """Return a file that the design of this participant shows. Raises Http404 for any other file."""
    person = participant_of_key(key)
    if person is None or not _is_shown(person.version.document, sha256, media_name):
        raise Http404(media_name)
    files = StudyMedia.objects.defer("data").filter(study=person.study_id, sha256=sha256, name=media_name)
    if (row := files.first()) is None:
        raise Http404(media_name)
    return media_response(request, row)


def _is_shown(document: dict[str, object], sha256: str, name: str) -> bool:
    listed = document.get("media", ())
    assert isinstance(listed, (list, tuple))  # noqa: S101 - a document that the program wrote
    return any((one["sha256"], one["name"]) == (sha256, name) for one in listed)
