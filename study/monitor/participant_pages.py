"""Serve the staff pages about a study's participants: a list, one participant, and actions on a participant.

No page shows the secret key in a participant's personal link, except the page that issues a new link.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Prefetch, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from kitchen.contract.decision_notes import PredictionAccuracy
from kitchen.play.turn.decision_records import prediction_accuracy, predictions_by_episode
from study.design.models import Study
from study.design.play_metrics import FORESIGHT
from study.monitor import staff_actions
from study.monitor.live_status import STATUS_LINES, kind_of, page_words
from study.participants import next_page
from study.participants.end_and_erase_participation import participant_withdraw, read_receipt
from study.participants.models import Participant, Round, StaffAction
from study.participants.participant_counts import study_counts
from study.researchers.form_and_button_pages import CONFIRM_FIELD, NOT_CONFIRMED
from study.researchers.permissions import has_right, study_page
from study.researchers.reauthenticate import requires_password


def rounds_with_foresight(rounds: Iterable[Round]) -> list[Round]:
    """Return the rounds, each with a text `foreseen` about how often agents predicted correctly. The text is
    empty without predictions."""
    found = list(rounds)
    by_episode = predictions_by_episode({one.episode_id for one in found if one.episode_id})
    for one in found:
        minds = by_episode.get(one.episode_id or 0)
        setattr(one, "foreseen", _told(prediction_accuracy(minds)) if minds else "")  # noqa: B010 - for the template
    return found


def _told(foresight: PredictionAccuracy) -> str:
    """Return a text such as `Share of right predictions 71 % (5 of 7)`. The number is a dash if no prediction
    has been checked yet."""
    if foresight.share is None:
        return f"{FORESIGHT.label} \N{EN DASH}"
    return f"{FORESIGHT.label} {100 * foresight.share:.0f} % ({foresight.right} of {foresight.judged})"


PER_PAGE = 50
KINDS = {"person": "people", "synthetic": "synthetic participants", "preview": "previews"}
STATUSES = {str(status): words for words, status in STATUS_LINES} | {"excluded": "excluded by staff"}
FILTERS: dict[str, dict[str, Any]] = {
    "person": {"synthetic": False, "preview": False},
    "synthetic": {"synthetic": True, "preview": False},
    "preview": {"preview": True},
}


@study_page("view")
def participants(request: HttpRequest, study: Study) -> HttpResponse:
    """Show one page of the list of participants, filtered by kind, status and code. If the user entered a
    withdrawal receipt, show what the receipt contains."""
    kind, status = request.GET.get("kind", ""), request.GET.get("status", "")
    code, receipt = request.GET.get("code", "").strip(), request.GET.get("receipt", "").strip()
    page = Paginator(_chosen(study, kind, status, code), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "counts": study_counts(study),
        "people": page,
        "rows": [(person, kind_of(person), _done(person)) for person in page],
        "kinds": KINDS,
        "statuses": STATUSES,
        "kind": kind if kind in KINDS else "",
        "status": status if status in STATUSES else "",
        "code": code,
        "receipt": receipt,
        "left": read_receipt(receipt) if receipt else None,
        "left_complete": study.left_complete.exclude(code=""),
        "conceals": not has_right(request.user, study, "results"),
    }
    return render(request, "study/monitor/participants.html", context)


def _chosen(study: Study, kind: str, status: str, code: str) -> QuerySet[Participant]:
    """Return the participants that match these filters, newest first. A filter with an unknown value is
    ignored.

    A code that contains unprintable characters matches nobody.
    """
    chosen = study.participants.filter(**FILTERS.get(kind, {}))
    if status == "excluded":
        chosen = chosen.exclude(excluded_at=None)
    elif status in STATUSES:
        chosen = chosen.filter(status=status)
    if code:
        chosen = chosen.filter(code__startswith=code) if code.isprintable() else chosen.none()
    light = Round.objects.only("participant_id", "answered_at")
    slim = chosen.select_related("version").defer("version__document", "version__bundle")
    return slim.prefetch_related(Prefetch("rounds", light)).order_by("-number")


def _done(person: Participant) -> tuple[int, int]:
    """Return two numbers: the participant's answered rounds and planned rounds."""
    rounds = person.rounds.all()
    return sum(one.answered_at is not None for one in rounds), len(rounds)


class ActionForm(forms.Form):
    """A form to confirm an action: a reason and a checkbox."""

    reason = forms.CharField(max_length=staff_actions.LONGEST, strip=True)
    sure = forms.BooleanField()


@dataclass(frozen=True, slots=True)
class OfferedAction:
    """An action that is possible now: its name, label and effect, and the object it applies to."""

    action: str
    words: str
    effect: str
    target: str = ""


@study_page("view")
def participant(request: HttpRequest, study: Study, code: str) -> HttpResponse:
    """Show one participant's progress and the possible actions."""
    return _show(request, study, get_object_or_404(_whole(study), code=code))


def _whole(study: Study) -> QuerySet[Participant]:
    return study.participants.select_related("study", "version", "practice")


def _show(request: HttpRequest, study: Study, person: Participant, **more: Any) -> HttpResponse:
    rounds = person.rounds.select_related("condition", "episode").defer("episode__state")
    place = next_page.current_page(person)
    conceals = not has_right(request.user, study, "results")
    context = {
        "study": study,
        "person": person,
        "kind": kind_of(person),
        "page": page_words(place.page),
        "place": place,
        "visits": [(page_words(visit.page), visit) for visit in person.visits.all()],
        "rounds": [] if conceals else rounds_with_foresight(rounds.prefetch_related("answers__item")),
        "answers": []
        if conceals
        else person.answers.filter(round=None).select_related("item").order_by("id"),
        "conceals": conceals,
        "actions": person.staff_actions.all(),
        "may_erase": has_right(request.user, study, "own"),
        "offers": _offers(person, conceals=conceals) if has_right(request.user, study, "edit") else [],
        **more,
    }
    status = 422 if more.get("problem") else 200
    return render(request, "study/monitor/participant.html", context, status=status)


def _offers(person: Participant, *, conceals: bool) -> list[OfferedAction]:
    """Return the actions that are possible now. If `conceals`, their words do not name the episode. Then
    there is no new link either, because it would show the participant's condition."""
    words = "The data are kept and marked; the analysis excludes them."
    offers = [OfferedAction("exclude", "Exclude", words)]
    if person.excluded_at:
        words = "The analysis includes the data again."
        offers = [OfferedAction("include", "Take the exclusion back", words)]
    if not conceals:
        words = (
            "The old link, the old browser and open pages stop working at once. The new link is shown once."
        )
        stamp = staff_actions.link_fingerprint(person)
        offers.append(OfferedAction("reissue", "Give a new link", words, stamp))
    if episode := staff_actions.running_episode(person):
        ends = f"The episode “{episode.label}” ends at step {episode.step}"
        ends = "The episode ends now" if conceals else ends
        words = f"{ends}; the page leads the participant on."
        offers.append(OfferedAction("end_episode", "End the episode", words, str(episode.key)))
    if person.status == Participant.Status.ACTIVE:
        words = "Their study ends here, for a technical reason. The data are kept. This cannot be undone."
        offers.append(OfferedAction("end_way", "End their participation", words))
    return offers


DONE = {
    "exclude": "Excluded.",
    "include": "The exclusion is withdrawn.",
    "end_episode": "The episode is ended.",
    "end_way": "Their participation is ended.",
}


@study_page("edit", methods=("POST",))
def act_on_participant(request: HttpRequest, study: Study, code: str) -> HttpResponse:
    """Carry out an action on a participant, if the user confirmed it and gave a reason. If the action is
    no longer possible, nothing changes. While the study conceals conditions from the user, they cannot give a
    new link."""
    person = get_object_or_404(_whole(study), code=code)
    action, form = request.POST.get("action", ""), ActionForm(request.POST)
    if action not in StaffAction.Action.values:
        return redirect("study:staff-participants-one", study.slug, code)
    if action == StaffAction.Action.REISSUE and not has_right(request.user, study, "results"):
        raise PermissionDenied
    if not form.is_valid():
        return _show(request, study, person, problem=_problem(form), wrong=action)
    try:
        done = _do(action, person, request.user, form.cleaned_data["reason"], request.POST.get("target", ""))
    except Participant.DoesNotExist:
        messages.warning(
            request, f"{code} has withdrawn in the meantime: everything is erased, and nothing was changed."
        )
        return redirect("study:staff-participants", study.slug)
    if done and action == StaffAction.Action.REISSUE:
        link = request.build_absolute_uri(get_object_or_404(_whole(study), pk=person.pk).get_absolute_url())
        return _show(request, study, get_object_or_404(_whole(study), pk=person.pk), new_link=link)
    if done:
        messages.success(request, DONE[action])
    else:
        messages.warning(
            request,
            "Nothing was changed: the participant was already in that state, or has changed in the meantime.",
        )
    return redirect("study:staff-participants-one", study.slug, code)


@study_page("own", methods=("POST",))
@requires_password
def erase_participant(request: HttpRequest, study: Study, code: str) -> HttpResponse:
    """Erase all data of one participant after a confirmation, and show the withdrawal receipt once."""
    person = get_object_or_404(study.participants, code=code)
    if CONFIRM_FIELD not in request.POST:
        messages.error(request, NOT_CONFIRMED)
        return redirect("study:staff-participants-one", study.slug, code)
    try:
        receipt = participant_withdraw(participant_id=person.pk, by=request.user)
    except Participant.DoesNotExist:
        raise Http404(code) from None
    context = {"study": study, "code": code, "receipt": receipt}
    return render(request, "study/monitor/erased.html", context)


def _problem(form: ActionForm) -> str:
    why = f"Say why, in at most {staff_actions.LONGEST} characters."
    said = {"reason": why, "sure": "Tick the box to confirm."}
    return " ".join(words for name, words in said.items() if name in form.errors)


def _do(action: str, person: Participant, user: Any, reason: str, target: str) -> bool:
    whom: dict[str, Any] = {"participant_id": person.pk, "user": user, "reason": reason}
    kinds = StaffAction.Action
    if action == kinds.REISSUE:
        return bool(staff_actions.link_reissue(**whom, stamp=target))
    if action == kinds.END_EPISODE:
        return staff_actions.episode_stop(**whom, episode=target)
    others = {
        kinds.EXCLUDE: staff_actions.participant_exclude,
        kinds.INCLUDE: staff_actions.participant_include,
    }
    return others.get(kinds(action), staff_actions.participant_stop)(**whom)
