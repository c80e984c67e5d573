"""The last page: complete, or not, with the code or address that the researcher has set for it."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from kitchen.words.speech import gettext, marked
from study.design.blueprint import OUTCOMES
from study.design.models import Outcome
from study.design.recruitment import PLACES
from study.people import flow
from study.people.models import Participant
from study.taking_part.entering import why_closed
from study.taking_part.pages.common import part_context, told_html
from study.taking_part.pages.guests import finished_here
from study.taking_part.pages.refused import kept_label

WORDS = {
    "no_consent": (
        marked("You do not take part"),
        marked("Nothing that tells who you are was kept. Thank you for your interest."),
    ),
    "failed_check": (
        marked("The study ends here"),
        marked("Not all questions of understanding were answered correctly. Thank you for your time."),
    ),
    "timed_out": (
        marked("The study has ended"),
        marked("Nothing happened for a long time, so your place was given away."),
    ),
    "technical": (
        marked("The study has ended"),
        marked("It was ended by the researchers for a technical reason."),
    ),
    "unmatched": (
        marked("Nobody came to play with you"),
        marked("The others with whom you were to play did not come, or have left. Thank you for waiting."),
    ),
}
"""Heading and words of each end but the good one."""


def end(request: HttpRequest, person: Participant, place: flow.CurrentPage) -> HttpResponse:
    """What somebody takes away."""
    if request.method == "POST":
        return redirect(person)
    if not finished_here(request, person):
        return render(
            request, "study/taking_part/ended_elsewhere.html", {"participant": person, "study": person.study}
        )
    outcome = _outcome(person)
    context = {
        "participant": person,
        "study": person.study,
        "outcome_html": told_html(_words(person, outcome)),
        **taken_away(person, person.label or kept_label(request, person)),
    }
    if person.status == Participant.Status.COMPLETE:
        return render(request, "study/taking_part/end.html", part_context(person, "end") | context)
    heading, words = map(gettext, WORDS[person.status])
    context |= {"heading": heading, "words": words, "again": _may_begin_again(person)}
    return render(request, "study/taking_part/stopped.html", context)


def _may_begin_again(person: Participant) -> bool:
    """Whether who did not agree is asked again by the study's own address: nobody has to be sent to it."""
    refused = person.status == Participant.Status.NO_CONSENT and not person.preview
    return refused and not PLACES[person.source].label and not why_closed(person.study)


def taken_away(person: Participant, label: str) -> dict[str, Any]:
    """The code and where it is handed in, for `code.html`; whoever erases the person asks before."""
    return {
        "code": person.given_code,
        "own_code": person.given_code == person.completion_code,
        "complete": person.status == Participant.Status.COMPLETE,
        "leads_to": _address(person, _outcome(person), label),
    }


def _outcome(person: Participant) -> Outcome | None:
    return Outcome.objects.filter(study=person.study, kind=person.status).first()


def _words(person: Participant, outcome: Outcome | None) -> str:
    """The words of this end as the participant entered with them. The address is not bound to
    a version, so that a wrong one can be put right; the code is the one that was given. Versions that know no
    outcomes have the present words."""
    design = person.design
    if design.format < OUTCOMES:
        return outcome.text if outcome else ""
    return next((one.text for one in design.outcomes if one.kind == person.status), "")


def _address(person: Participant, outcome: Outcome | None, label: str) -> str:
    """Where the button leads; empty for no button. A person's own code is not one that places know."""
    code, known = person.given_code, person.given_code not in {"", person.completion_code}
    place = PLACES[person.study.recruitment if person.preview else person.source]
    pattern = outcome.url if outcome and outcome.url else place.complete if known else ""
    return pattern.replace("{code}", quote(code)).replace("{label}", quote(label))
