"""The page of somebody whose next round waits until the study has money again."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from study.design.page_order import progress
from study.people import flow
from study.people.leaving import participant_end
from study.people.models import Participant
from study.taking_part.going_on import round_begin
from study.taking_part.pages.common import elsewhere, sent

WHY = "the budget was spent"
"""Why somebody left here, in the data."""


def waiting(request: HttpRequest, person: Participant, place: flow.CurrentPage) -> HttpResponse:
    """Goes on by itself once the budget was raised; whoever does not want to wait leaves with what they
    did."""
    if request.method != "POST" and round_begin(participant_id=person.pk):
        return redirect(person)
    return break_page(request, person, place)


def break_page(request: HttpRequest, person: Participant, place: flow.CurrentPage) -> HttpResponse:
    """The page itself, and what its form does."""
    if sent(request, "waiting") and "leave" in request.POST:
        if person.as_guest:
            return elsewhere(request, person)
        participant_end(participant_id=person.pk, status=Participant.Status.TECHNICAL, reason=WHY)
    if request.method == "POST":
        return redirect(person)
    assert place.round  # noqa: S101 - the flow leads here with a round only
    labels = {plan.key: plan.label for plan in person.design.conditions}
    label = labels.get(place.round.condition.key, "")
    told = {
        "participant": person,
        "study": person.study,
        "progress": progress(person.design, "waiting", position=place.position, label=label),
    }
    return render(request, "study/taking_part/waiting.html", told)
