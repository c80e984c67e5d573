"""Show and serve recorded sound on the replay page of an episode."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404

from kitchen.infra.file_downloads import pieces_in_thread
from kitchen.play.models import Episode
from study.design.media_response import LARGEST_PART, asked_part
from study.design.models import Study
from study.participants.sound_recordings import KINDS, SoundTake
from study.participants.speech_models import speech_package
from study.researchers.permissions import study_page

SAFE = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox; default-src 'none'"}
"""Headers of a file that somebody uploaded."""


def sound_context(episode: Episode) -> dict[str, Any]:
    """Return the template context with the takes of an episode. It is empty without sound."""
    takes = list(SoundTake.objects.filter(episode=episode).select_related("participant"))
    return {"takes": takes, "speech_package": speech_package()} if takes else {}


@study_page("results")
def sound_take(request: HttpRequest, study: Study, episode: UUID, number: int) -> HttpResponseBase:
    """Send the take with this id, or the part of it that the browser asks for."""
    found = SoundTake.objects.filter(participant__study=study, episode__key=episode)
    take = get_object_or_404(found, pk=number)
    return part_response(take, request.headers.get("Range", ""))


def part_response(take: SoundTake, wanted: str) -> HttpResponseBase:
    """Return the bytes that a `Range` header asks for (status 206), or all of them. A part has at most
    `LARGEST_PART` bytes, so that no request reads hours of sound; browsers then ask for the next part."""
    headers = {**SAFE, "Accept-Ranges": "bytes"}
    kind = KINDS[take.kind]
    if not wanted or "," in wanted:
        return StreamingHttpResponse(pieces_in_thread(take.file_pieces()), content_type=kind, headers=headers)
    begin, end = asked_part(wanted, take.size)
    if begin >= end:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{take.size}"})
    end = min(end, begin + LARGEST_PART)
    headers["Content-Range"] = f"bytes {begin}-{end - 1}/{take.size}"
    return HttpResponse(take.file_part(begin, end), status=206, content_type=kind, headers=headers)
