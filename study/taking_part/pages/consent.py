"""What participants agree to, each statement ticked; or not."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from study.people import flow
from study.people.models import Participant
from study.taking_part.entering import consent_given, consent_refused
from study.taking_part.forms import ConsentForm
from study.taking_part.pages.common import elsewhere, part_context, sent
from study.taking_part.pages.refused import keep_label


def consent(request: HttpRequest, person: Participant, place: flow.CurrentPage) -> HttpResponse:
    """The text, its statements, and two buttons."""
    statements = person.design.part("consent").settings["statements"]
    is_sent = sent(request, "consent")
    if is_sent and "refuse" in request.POST and person.as_guest:
        return elsewhere(request, person)
    if is_sent and "refuse" in request.POST:
        consent_refused(participant_id=person.pk)
        return keep_label(redirect(person), person)
    form = ConsentForm(request.POST if is_sent else None, statements=statements)
    if is_sent and form.is_valid():
        consent_given(participant_id=person.pk)
        return redirect(person)
    if request.method == "POST" and not is_sent:
        return redirect(person)
    context = {**part_context(person, "consent"), "form": form}
    return render(request, "study/taking_part/consent.html", context, status=422 if form.errors else 200)
