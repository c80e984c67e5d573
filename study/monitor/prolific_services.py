"""Keep a study and its submissions on Prolific in step: free places, approve, and pay bonuses once.

A bonus is stored as *sending*, with Prolific's ID of the payment, before it is paid. Prolific pays an ID as
often as it is asked. So a payment whose answer was lost is never sent again by itself: an owner looks at
Prolific, and says whether it was paid.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from study.design.models import Study
from study.monitor.payment_files import prolific_file, with_id
from study.monitor.prolific_api import ProlificClient, ProlificError, Submission
from study.monitor.staff_actions import record_person_action
from study.participants.current_breaks import people_after_a_session
from study.participants.end_and_erase_participation import RETURNED, participant_end
from study.participants.models import Participant, StaffAction
from study.participants.payments import Payment
from study.participation.page_progress import lock_participant

log = logging.getLogger(__name__)
TIMED_OUT = "TIMED-OUT"
LEFT: Mapping[str, str] = {
    "RETURNED": RETURNED,
    TIMED_OUT: "timed out on Prolific",
}
"""Statuses of a submission whose person does not come back, with the reason that is stored."""
WAITING = "AWAITING-REVIEW"
PLAYING = "ACTIVE"
"""The status of a submission whose person has not gone back to Prolific with a code."""
State = Payment.State
MOST_AT_ONCE = 200
"""The most bonuses of one announcement."""
SETTLE_AFTER = timedelta(minutes=5)
"""Longer than all tries of one request together."""


def free_left_places(study: Study, client: ProlificClient) -> int:
    """End the participation of people who returned their submission, or were timed out by Prolific, so that
    their places are free. Return how many. A time-out ends nobody who began
    a break between sessions: it concerns the submission of an earlier session."""
    active = study.participants.filter(
        status=Participant.Status.ACTIVE, source=Study.Recruitment.PROLIFIC, preview=False, synthetic=False
    )
    people = dict(active.exclude(label="").values_list("label", "pk"))
    if not people:
        return 0
    gone = {
        people[one.participant]: one.status
        for one in client.submissions(study.prolific_study)
        if one.status in LEFT and one.participant in people
    }
    freed, kept = 0, people_after_a_session(Participant.objects.filter(pk__in=gone).select_related("version"))
    for pk, status in gone.items():
        if status == TIMED_OUT and pk in kept:
            continue
        why = LEFT[status]
        with suppress(Participant.DoesNotExist):  # withdrew meanwhile
            freed += participant_end(participant_id=pk, status=Participant.Status.TIMED_OUT, reason=why)
    return freed


def free_all_left_places() -> int:
    """Free the places of all open studies on Prolific, and return how many. An error concerns one study
    only."""
    freed = 0
    if not settings.PROLIFIC_TOKEN:
        return freed
    open_ones = Study.objects.filter(status=Study.Status.OPEN).exclude(prolific_study="")
    for study in open_ones.order_by("pk"):
        try:
            freed += free_left_places(study, ProlificClient())
        except ProlificError as error:
            log.warning("study %s on Prolific: %s", study.slug, error)
        except Exception:  # the other studies go on
            log.exception("study %s on Prolific", study.slug)
    return freed


def submissions_by_label(study: Study, client: ProlificClient) -> dict[str, Submission]:
    """Return the submissions on Prolific by the participant's ID."""
    return {one.participant: one for one in client.submissions(study.prolific_study)}


def submission_approve(person: Participant, *, user: Any, client: ProlificClient, submission: str) -> None:
    """Record that somebody approves the submission of a participant, and approve it."""
    record_person_action(person, user, StaffAction.Action.REVIEW, "approve on Prolific")
    client.approve(submission)


def submission_enter_code(person: Participant, *, user: Any, client: ProlificClient, submission: str) -> None:
    """Record that somebody enters on Prolific the code that a participant was given, and enter it. A code of
    a screen-out then screens out there."""
    record_person_action(person, user, StaffAction.Action.REVIEW, "enter the code on Prolific")
    client.enter_code(submission, person.given_code)


def submission_reject(
    person: Participant, *, user: Any, client: ProlificClient, submission: str, reason: str
) -> None:
    """Record that somebody rejects the submission of a participant, who reads the reason, and reject it."""
    record_person_action(person, user, StaffAction.Action.REVIEW, f"reject on Prolific: {reason}"[:200])
    client.reject(submission, category="OTHER", message=reason)


def submission_ask_return(
    person: Participant, *, user: Any, client: ProlificClient, submission: str, reason: str
) -> None:
    """Record that somebody asks a participant to return the submission, and ask for it."""
    record_person_action(
        person, user, StaffAction.Action.REVIEW, f"ask to return on Prolific: {reason}"[:200]
    )
    client.ask_return(submission, reason=reason)


def bonuses_pay(study: Study, *, user: Any, codes: Sequence[str], client: ProlificClient) -> int:
    """Pay the confirmed bonuses of these people at Prolific, and return how many.

    Raises ProlificError. If Prolific refused, the bonuses are confirmed again and can be paid later. If its
    answer was lost, they stay *sending* until an owner says what became of them (`bonuses_settle`). Nothing
    is sent twice.
    """
    if not codes:
        return 0
    currency = client.study(study.prolific_study).currency
    if not currency:
        raise ProlificError("Prolific does not say the currency of the study. Upload the file there.")
    claimed = _claim(study, codes, currency)
    if not claimed:
        return 0
    try:
        reference = client.prepare_bonuses(study.prolific_study, prolific_file(claimed))
    except ProlificError as error:
        _release(claimed, "", str(error))  # nothing was paid: it was only announced
        raise
    try:
        _announce(claimed, reference)
    except ProlificError as error:
        _release(claimed, "", str(error))
        raise
    try:
        client.pay_bonuses(reference)
    except ProlificError as error:
        if not error.unsure:
            _release(claimed, reference, str(error))
        raise
    return _mark_paid(claimed, reference, user, "at Prolific")


@transaction.atomic
def _claim(study: Study, codes: Sequence[str], currency: str) -> list[Payment]:
    """Mark the unpaid bonuses of these people as being sent, so that nobody else sends them. Raises
    ProlificError if one has another currency."""
    rows = Payment.objects.select_for_update(of=("self",)).filter(
        study=study,
        participant__code__in=codes,
        state__in=Payment.UNPAID,
    )
    claimed = list(with_id(rows.select_related("participant__study"), Study.Recruitment.PROLIFIC))[
        :MOST_AT_ONCE
    ]
    if others := sorted({one.currency for one in claimed} - {currency}):
        raise ProlificError(f"Prolific pays this study in {currency}, and these bonuses are in {others[0]}.")
    _of(claimed).update(state=State.SENDING, reference="", note="", sent_at=timezone.now())
    return claimed


@transaction.atomic
def _announce(claimed: Sequence[Payment], reference: str) -> None:
    """Store the ID of the announcement. Raises ProlificError if the bonuses are no longer as they were
    claimed: then they must not be paid."""
    mine = _of(claimed).filter(state=State.SENDING, reference="")
    stored = mine.update(reference=reference, sent_at=timezone.now())
    if stored != len(claimed):  # the transaction is rolled back
        raise ProlificError("Somebody changed these bonuses or withdrew meanwhile. Nothing was paid.")


def _release(claimed: Sequence[Payment], reference: str, why: str) -> None:
    """Make these bonuses confirmed again, if this attempt still has them."""
    mine = _of(claimed).filter(state=State.SENDING, reference=reference)
    mine.update(state=State.CONFIRMED, reference="", note=why[:200])


def _mark_paid(rows: Sequence[Payment], reference: str, user: Any, where: str) -> int:
    """Store that these bonuses are paid, and then who did it. Somebody can have withdrawn meanwhile."""
    with transaction.atomic():
        mine = _of(rows).select_for_update().filter(state=State.SENDING, reference=reference)
        paid = list(mine)
        _of(paid).update(state=State.PAID, paid_at=timezone.now(), note="")
    for row in paid:
        with suppress(Participant.DoesNotExist), transaction.atomic():
            person = lock_participant(row.participant_id)
            record_person_action(person, user, StaffAction.Action.PAID, f"{row.words}, {where}")
    return len(paid)


def bonuses_settle(study: Study, *, user: Any, codes: Sequence[str], paid: bool) -> int:
    """Store what became of bonuses that were sent without an answer: they were `paid`, or can be paid again.
    Return for how many. A bonus that was sent less than `SETTLE_AFTER` ago is left out: its answer can still
    come."""
    old = Q(sent_at=None) | Q(sent_at__lt=timezone.now() - SETTLE_AFTER)
    rows = Payment.objects.filter(old, study=study, participant__code__in=codes, state=State.SENDING)
    done = 0
    for row in rows.select_related("participant__study"):
        if paid:
            done += _mark_paid([row], row.reference, user, "at Prolific, by its page")
        else:
            mine = _of([row]).filter(state=State.SENDING, reference=row.reference, sent_at=row.sent_at)
            done += mine.update(state=State.CONFIRMED, reference="", note="was not paid at Prolific")
    return done


def _of(rows: Sequence[Payment]) -> QuerySet[Payment]:
    return Payment.objects.filter(pk__in=[row.pk for row in rows])
