"""Serve the staff pages about one participant of a study, and carry out actions on the participant.

No page shows the secret key in a participant's personal link, except the page that issues a new link.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.validators import MaxLengthValidator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from kitchen.contract.decision_notes import PredictionAccuracy
from kitchen.forms.setting_fields import LinesOfText
from kitchen.play.turn.decision_records import prediction_accuracy, predictions_by_episode
from study.design.models import Study
from study.design.play_metrics import FORESIGHT
from study.design.session_breaks import BREAK_STATES
from study.monitor import staff_actions
from study.monitor.live_status import kind_of, page_words
from study.monitor.person_timeline import timeline, visible_actions
from study.participants import next_page
from study.participants.bonuses import bonus_of
from study.participants.current_breaks import current_break
from study.participants.end_and_erase_participation import participant_withdraw
from study.participants.models import Participant, Round, StaffAction
from study.participants.payments import Payment
from study.participants.staff_messages import LONGEST_MESSAGE
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


class ActionForm(forms.Form):
    """A form to confirm an action: a reason and a checkbox. For a note or a message the reason is its text,
    and there is no checkbox."""

    reason = LinesOfText(strip=True)
    sure = forms.BooleanField()

    def __init__(self, action: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.longest = longest_text(action)
        self.fields["reason"].validators.append(MaxLengthValidator(self.longest))
        if action in WRITTEN:
            del self.fields["sure"]

    @property
    def problem(self) -> str:
        """Return what is wrong with the form, as a text for the user."""
        why = f"Write a text of at most {self.longest} characters."
        said = {"reason": why, "sure": "Tick the box to confirm."}
        return " ".join(words for name, words in said.items() if name in self.errors)


WRITTEN = (StaffAction.Action.NOTE, StaffAction.Action.MESSAGE)
"""Actions that consist of a text only, and change nothing about the participant."""


def longest_text(action: str) -> int:
    """Return how many characters the text of this action may have."""
    return LONGEST_MESSAGE if action == StaffAction.Action.MESSAGE else staff_actions.LONGEST


@dataclass(frozen=True, slots=True)
class OfferedAction:
    """An action that is possible now: its name, label and effect, and the object it applies to."""

    action: str
    words: str
    effect: str
    target: str = ""

    @property
    def written(self) -> str:
        """Return the label of the text that the action consists of. It is empty for other actions."""
        labels = {StaffAction.Action.NOTE: "Note", StaffAction.Action.MESSAGE: "Message"}
        return labels[StaffAction.Action(self.action)] if self.action in WRITTEN else ""

    @property
    def longest(self) -> int:
        """Return how many characters the action's text may have."""
        return longest_text(self.action)


@study_page("view")
def participant(request: HttpRequest, study: Study, code: str) -> HttpResponse:
    """Show one participant's progress and the possible actions."""
    return _show(request, study, get_object_or_404(_whole(study), code=code))


def _whole(study: Study) -> QuerySet[Participant]:
    return study.participants.select_related("study", "version", "practice")


def _show(request: HttpRequest, study: Study, person: Participant, **more: Any) -> HttpResponse:
    rounds = person.rounds.select_related("condition", "episode").defer("episode__state")
    place, pause = next_page.current_page(person), current_break(person)
    conceals = not has_right(request.user, study, "results")
    payment = None if conceals else Payment.objects.filter(participant=person).first()
    may_erase = has_right(request.user, study, "own")
    context = {
        "study": study,
        "person": person,
        "kind": kind_of(person),
        "page": page_words(place.page),
        "place": place,
        "pause": pause,
        "pause_words": BREAK_STATES[pause.state(timezone.now())] if pause else "",
        "visits": [(page_words(visit.page), visit) for visit in person.visits.all()],
        "rounds": [] if conceals else rounds_with_foresight(rounds.prefetch_related("answers__item")),
        "answers": []
        if conceals
        else person.answers.filter(round=None).select_related("item").order_by("id"),
        "conceals": conceals,
        "bonus": None if conceals else bonus_of(person),
        "payment": payment,
        "may_give_extra": may_erase and not conceals and _can_get_extra(person, payment),
        "actions": visible_actions(person, conceals=conceals),
        "sent": person.staff_messages.all(),
        "timeline": timeline(person, conceals=conceals),
        "may_erase": may_erase,
        "offers": _offers(person, conceals=conceals) if has_right(request.user, study, "edit") else [],
        **more,
    }
    status = 422 if more.get("problem") else 200
    return render(request, "study/monitor/participant.html", context, status=status)


def _can_get_extra(person: Participant, payment: Payment | None) -> bool:
    is_payable = person.status == Participant.Status.COMPLETE and not (person.synthetic or person.preview)
    return is_payable and (payment is None or payment.state in Payment.UNPAID)


def _offers(person: Participant, *, conceals: bool) -> list[OfferedAction]:
    """Return the actions that are possible now. If `conceals`, their words do not name the episode. Then
    there is no new link either, because it would show the participant's condition."""
    offers = [OfferedAction("note", "Write a note", "Only staff of this study read it. No data file has it.")]
    if not person.synthetic and person.status != Participant.Status.NO_CONSENT:
        words = (
            "The participant reads it on the next page, or at once in the lobby. It interrupts no round. You "
            "see here when it was read. The data record it, because it can influence the participant."
        )
        offers.append(OfferedAction("message", "Send a message", words))
    words = "The data are kept and marked; the analysis excludes them."
    shut = OfferedAction("exclude", "Exclude", words)
    if person.excluded_at:
        words = "The analysis includes the data again."
        shut = OfferedAction("include", "Take the exclusion back", words)
    offers.append(shut)
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
    "note": "The note is kept.",
    "message": "Sent. The participant sees it on the next page.",
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
    action = request.POST.get("action", "")
    if action not in (*DONE, StaffAction.Action.REISSUE):
        return redirect("study:staff-participants-one", study.slug, code)
    form = ActionForm(action, request.POST)
    if action == StaffAction.Action.REISSUE and not has_right(request.user, study, "results"):
        raise PermissionDenied
    if not form.is_valid():
        typed = request.POST.get("reason", "")
        return _show(request, study, person, problem=form.problem, wrong=action, typed=typed)
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
    return _back(request, study, code)


def _back(request: HttpRequest, study: Study, code: str) -> HttpResponse:
    """Redirect to the replay of the episode that the form names in `replay`, or to the participant's page."""
    try:
        return redirect("study:staff-replay", study.slug, UUID(request.POST.get("replay", "")))
    except ValueError:
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
        kinds.NOTE: staff_actions.note_write,
        kinds.MESSAGE: staff_actions.message_send,
        kinds.END_WAY: staff_actions.participant_stop,
    }
    return others[kinds(action)](**whom)
