"""Show participants the page that tests their microphone, before they play, if the study records sound.

Nothing is recorded on this page. The study decides whether people without a microphone may go on.
In a preview one always may.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from kitchen.play.live.render_page import PERMISSIONS_WITH_MICROPHONE
from study.design.models import Study
from study.participants.end_and_erase_participation import participant_end
from study.participants.models import Participant
from study.participation.idle_timeout import idle_clock
from study.participation.pages.page_context import guest_reminder, page_response
from study.participation.sound_uploads import microphone_set

MICROPHONE = "microphone"
"""Name of the page, and of its form."""
WITHOUT = "no microphone"
"""Reason for leaving, as stored in the data."""


def microphone_page(request: HttpRequest, person: Participant) -> HttpResponse:
    """Show the page that tests the microphone, or store what the participant answered there."""
    required = person.version.blueprint.meant("think_aloud") == Study.ThinkAloud.REQUIRED
    if request.method == "POST":
        answer = request.POST.get("microphone", "")
        if answer == "leave" and person.as_guest:
            return guest_reminder(request, person)
        if answer == "leave":
            participant_end(participant_id=person.pk, status=Participant.Status.TECHNICAL, reason=WITHOUT)
        elif answer == "yes" or (answer == "no" and (person.preview or not required)):
            microphone_set(participant_id=person.pk, has_one=answer == "yes")
        return redirect(person)
    context: dict[str, Any] = {"idle": idle_clock(person), "required": required}
    response = page_response(request, person, MICROPHONE, **context)
    response["Permissions-Policy"] = PERMISSIONS_WITH_MICROPHONE
    return response
