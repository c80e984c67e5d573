"""Show and serve recorded sound on the replay page of an episode."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from kitchen.play.models import Episode
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
def sound_take(request: HttpRequest, study: Study, episode: UUID, number: int) -> HttpResponse:
    """Send the take with this id, or the part of it that the browser asks for."""
    found = SoundTake.objects.filter(participant__study=study, episode__key=episode)
    take = get_object_or_404(found, pk=number)
    return part_response(b"".join(take.file_pieces()), KINDS[take.kind], request.headers.get("Range", ""))


def part_response(data: bytes, kind: str, wanted: str) -> HttpResponse:
    """Return the bytes that a `Range` header asks for (status 206), or all of them."""
    asked = re.fullmatch(r"bytes=(\d{1,12})-(\d{0,12})", wanted)
    headers = {**SAFE, "Accept-Ranges": "bytes"}
    if not asked:
        return HttpResponse(data, content_type=kind, headers=headers)
    first = int(asked[1])
    last = min(int(asked[2] or len(data)), len(data) - 1)
    if first > last:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{len(data)}"})
    headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
    return HttpResponse(data[first : last + 1], status=206, content_type=kind, headers=headers)
