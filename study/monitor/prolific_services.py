"""Keep a study and its submissions on Prolific in step: free places, approve, and pay bonuses once.

A bonus is stored as *sending*, with Prolific's ID of the payment, before it is paid. A payment whose answer
was lost stays so, and is paid again only under the same ID, which Prolific pays once.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from study.design.models import Study
from study.monitor.payment_files import prolific_file, with_id
from study.monitor.prolific_api import ProlificClient, ProlificError, Submission
from study.monitor.staff_actions import record_staff_action
from study.participants.end_and_erase_participation import participant_end
from study.participants.models import Participant, StaffAction
from study.participants.payments import Payment

log = logging.getLogger(__name__)
LEFT: Mapping[str, str] = {
    "RETURNED": "returned on Prolific",
    "TIMED-OUT": "timed out on Prolific",
}
"""Statuses of a submission whose person does not come back, with the reason that is stored."""
WAITING = "AWAITING-REVIEW"
State = Payment.State


def free_left_places(study: Study, client: ProlificClient) -> int:
    """End the participation of people who returned their submission, or were timed out by Prolific, so that
    their places are free. Return how many."""
    active = study.participants.filter(
        status=Participant.Status.ACTIVE, source=Study.Recruitment.PROLIFIC, preview=False, synthetic=False
    )
    people = dict(active.exclude(label="").values_list("label", "pk"))
    if not people:
        return 0
    gone = {
        people[one.participant]: LEFT[one.status]
        for one in client.submissions(study.prolific_study)
        if one.status in LEFT and one.participant in people
    }
    return sum(
        participant_end(participant_id=pk, status=Participant.Status.TIMED_OUT, reason=why)
        for pk, why in gone.items()
    )


def free_all_left_places() -> int:
    """Free the places of all open studies on Prolific, and return how many. An error concerns one study
    only."""
    freed = 0
    if not settings.PROLIFIC_TOKEN:
        return freed
    for study in Study.objects.exclude(prolific_study="").order_by("pk"):
        try:
            freed += free_left_places(study, ProlificClient())
        except ProlificError as error:
            log.warning("study %s on Prolific: %s", study.slug, error)
    return freed


def submissions_by_label(study: Study, client: ProlificClient) -> dict[str, Submission]:
    """Return the submissions on Prolific by the participant's ID."""
    return {one.participant: one for one in client.submissions(study.prolific_study)}


def submission_approve(person: Participant, *, user: Any, client: ProlificClient, submission: str) -> None:
    """Approve the submission of a participant, and record who did it."""
    client.approve(submission)
    _record(person, user, StaffAction.Action.PAID, "approved on Prolific")


def submission_reject(
    person: Participant, *, user: Any, client: ProlificClient, submission: str, reason: str
) -> None:
    """Reject the submission of a participant, who reads the reason, and record who did it."""
    client.reject(submission, category="OTHER", message=reason)
    _record(person, user, StaffAction.Action.PAID, f"rejected on Prolific: {reason}"[:200])


def submission_ask_return(
    person: Participant, *, user: Any, client: ProlificClient, submission: str, reason: str
) -> None:
    """Ask a participant to return the submission, and record who did it."""
    client.ask_return(submission, reason=reason)
    _record(person, user, StaffAction.Action.PAID, f"asked to return on Prolific: {reason}"[:200])


def bonuses_pay(study: Study, *, user: Any, codes: Sequence[str], client: ProlificClient) -> int:
    """Pay the confirmed bonuses of these people at Prolific, and return how many.

    Raises ProlificError. If Prolific refused, the bonuses are confirmed again and can be paid later. If its
    answer was lost, they stay *sending*: `bonuses_finish` pays them under the same ID.
    """
    confirmed = _claim(study, codes)
    if not confirmed:
        return 0
    try:
        reference = client.prepare_bonuses(study.prolific_study, prolific_file(confirmed))
    except ProlificError:
        _store(confirmed, state=State.CONFIRMED)  # nothing was paid: it was only announced
        raise
    _store(confirmed, reference=reference)
    return _pay(reference, user, client)


def bonuses_finish(study: Study, *, user: Any, client: ProlificClient) -> int:
    """Pay what was sent without an answer, under the same IDs. Return how many bonuses were paid."""
    sending = Payment.objects.filter(study=study, state=State.SENDING)
    references = set(sending.exclude(reference="").values_list("reference", flat=True))
    return sum(_pay(reference, user, client) for reference in sorted(references))


@transaction.atomic
def _claim(study: Study, codes: Sequence[str]) -> list[Payment]:
    """Mark the confirmed payments of these people as being sent, so that nobody else sends them."""
    rows = Payment.objects.select_for_update().filter(
        study=study, participant__code__in=codes, state=State.CONFIRMED
    )
    claimed = list(with_id(rows.select_related("participant__study")))
    _store(claimed, state=State.SENDING)
    return claimed


def _pay(reference: str, user: Any, client: ProlificClient) -> int:
    rows = list(
        Payment.objects.filter(reference=reference, state=State.SENDING).select_related("participant__study")
    )
    try:
        client.pay_bonuses(reference)
    except ProlificError as error:
        if not error.unsure:
            _store(rows, state=State.REFUSED, note=str(error)[:200])
        raise
    with transaction.atomic():
        _store(rows, state=State.PAID, paid_at=timezone.now(), note="")
        for row in rows:
            _record(row.participant, user, StaffAction.Action.PAID, f"{row.words}, at Prolific")
    return len(rows)


def _store(rows: Sequence[Payment], **values: Any) -> None:
    Payment.objects.filter(pk__in=[row.pk for row in rows]).update(**values)


def _record(person: Participant, user: Any, action: str, reason: str) -> None:
    record_staff_action(
        study=person.study,
        participant=person,
        user=user,
        user_name=user.get_username(),
        action=action,
        reason=reason,
    )
