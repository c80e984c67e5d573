"""Serve the staff page about a study on Prolific: publish, places, submissions, approvals and bonuses.

Each button does one thing, after the user ticked the confirmation that names it.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render

from kitchen.words.english_text import counted_noun
from study.design.models import Study
from study.monitor import prolific_services
from study.monitor.payment_files import with_id
from study.monitor.prolific_api import ID, ProlificClient, ProlificError
from study.monitor.prolific_services import LEFT, PLAYING, WAITING
from study.participants.models import Participant
from study.participants.participant_counts import study_counts
from study.participants.payments import Payment
from study.researchers.form_and_button_pages import CONFIRM_FIELD, NOT_CONFIRMED
from study.researchers.permissions import FORM_METHODS, has_right, study_page

HERE = "study:staff-participants-prolific"
SENDING = Payment.State.SENDING
SHORTEST_REASON, LONGEST_REASON = 100, 1000
"""Minimum and maximum length of the reason for a rejection, in characters. Prolific sets the minimum."""
MOST_PLACES = 100_000


@study_page("results", FORM_METHODS, to_send="own")
def prolific(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the study and its submissions on Prolific, or do what an owner asks for."""
    wrong = _wrong_reason(request.POST)
    if wrong:
        messages.error(request, wrong)
    elif request.method == "POST":
        try:
            _act(request, study)
        except ProlificError as error:
            messages.error(request, _problem(error))
        return redirect(HERE, study.slug)
    context: dict[str, Any] = {
        "study": study,
        "counts": study_counts(study),
        "has_token": bool(settings.PROLIFIC_TOKEN),
        "may_pay": has_right(request.user, study, "own"),
        "sending": Payment.objects.filter(study=study, state=SENDING).select_related("participant"),
        "typed": request.POST.get("reason", ""),
        "shortest": SHORTEST_REASON,
        "longest": LONGEST_REASON,
        "known": sorted(_ids_in_links(study)),
    }
    if study.prolific_study and settings.PROLIFIC_TOKEN:
        try:
            context |= _on_prolific(study, ProlificClient(seconds=8.0))
        except ProlificError as error:
            context["problem"] = str(error)
    return render(request, "study/monitor/prolific.html", context, status=422 if wrong else 200)


def _wrong_reason(sent: QueryDict) -> str:
    """Return what is wrong with the reason for a rejection or return, or an empty string."""
    shortest = {"reject": SHORTEST_REASON, "return": 1}.get(sent.get("review", ""), 0)
    if not shortest or shortest <= len(sent.get("reason", "").strip()) <= LONGEST_REASON:
        return ""
    return f"Nothing was done: the reason must have {shortest} to {LONGEST_REASON} characters."


def _ids_in_links(study: Study) -> set[str]:
    """Return the IDs of studies on Prolific by whose links people came. Programs and previews make theirs
    up."""
    found = study.participants.filter(source=Study.Recruitment.PROLIFIC, synthetic=False, preview=False)
    values = set(found.values_list("referral__STUDY_ID", flat=True)[:1000])
    return {one for one in values if isinstance(one, str) and ID.fullmatch(one)}


def _on_prolific(study: Study, client: ProlificClient) -> dict[str, Any]:
    submissions = prolific_services.submissions_by_label(study, client)
    people = {one.label: one for one in study.participants.filter(label__in=submissions)}
    payments = Payment.objects.filter(study=study).select_related("participant")
    return {
        "there": client.study(study.prolific_study),
        "rows": [(one, people.get(label), one.status == WAITING) for label, one in submissions.items()],
        "confirmed": list(with_id(payments.filter(state__in=Payment.UNPAID), Study.Recruitment.PROLIFIC)),
        "left": LEFT,
    }


def _problem(error: ProlificError) -> str:
    unsure = " It may have been accepted all the same: look at Prolific before you try again."
    return f"{error}{unsure if error.unsure else ''}"


def _act(request: HttpRequest, study: Study) -> None:
    sent, client = request.POST, ProlificClient()
    if "study_id" in sent:
        _set_study(request, study, sent["study_id"].strip())
    elif CONFIRM_FIELD not in sent:
        messages.error(request, NOT_CONFIRMED)
    elif "publish" in sent:
        client.publish(study.prolific_study)
        messages.success(request, "Published on Prolific.")
    elif "places" in sent:
        _set_places(request, study, client, sent["places"])
    elif "free" in sent:
        freed = prolific_services.free_left_places(study, client)
        messages.success(request, f"Freed: {counted_noun(freed, 'place')}.")
    elif "bonuses" in sent:
        codes = sent.getlist("who")
        paid = prolific_services.bonuses_pay(study, user=request.user, codes=codes, client=client)
        messages.success(request, f"Paid: {counted_noun(paid, 'bonus', 'bonuses')}.")
    elif "settle" in sent:
        _settle(request, study)
    else:
        _review(request, study, client)


def _set_study(request: HttpRequest, study: Study, given: str) -> None:
    if given and not ID.fullmatch(given):
        messages.error(request, "This is not an ID of Prolific: letters, digits and hyphens only.")
        return
    Study.objects.filter(pk=study.pk).update(prolific_study=given)
    messages.success(request, "Saved.")


def _set_places(request: HttpRequest, study: Study, client: ProlificClient, given: str) -> None:
    if not (given.isdecimal() and len(given) < 7 and 0 < int(given) <= MOST_PLACES):
        messages.error(request, f"Give a number of places from 1 to {MOST_PLACES}.")
        return
    client.set_places(study.prolific_study, int(given))
    messages.success(request, f"Prolific has {given} places now.")


def _settle(request: HttpRequest, study: Study) -> None:
    codes, paid = request.POST.getlist("who"), request.POST["settle"] == "paid"
    done = prolific_services.bonuses_settle(study, user=request.user, codes=codes, paid=paid)
    words = f"Recorded as {'paid' if paid else 'not paid'}: {counted_noun(done, 'bonus', 'bonuses')}."
    if rest := len(set(codes)) - done:
        words += f" {rest} changed, or may still be answered: wait five minutes and look again."
    (messages.success if done else messages.warning)(request, words)


def _review(request: HttpRequest, study: Study, client: ProlificClient) -> None:
    """Approve or reject the ticked submissions, enter their codes, or ask for their return."""
    sent, done = request.POST, 0
    reason, verb = sent.get("reason", "").strip(), sent.get("review", "")
    waiting = prolific_services.submissions_by_label(study, client)
    people = _reviewed_people(study, sent.getlist("who"))
    for person in people:
        if not (one := waiting.get(person.label)):
            continue
        told: dict[str, Any] = {"user": request.user, "client": client, "submission": one.id}
        if verb == "approve" and one.status == WAITING:
            prolific_services.submission_approve(person, **told)
        elif verb == "reject" and one.status == WAITING:
            prolific_services.submission_reject(person, **told, reason=reason)
        elif verb == "code" and one.status == PLAYING and person.given_code:
            prolific_services.submission_enter_code(person, **told)
        elif verb == "return":
            prolific_services.submission_ask_return(person, **told, reason=reason)
        else:
            continue
        done += 1
    messages.success(request, f"Done for {counted_noun(done, 'submission')}.")


def _reviewed_people(study: Study, codes: list[str]) -> list[Participant]:
    return list(study.participants.filter(code__in=codes).exclude(label="").select_related("study"))
