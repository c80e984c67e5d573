"""Confirm the bonuses of participants, and record that they were paid.

An amount is confirmed by a person, and only as that person saw it. Each confirmation and payment is recorded
as an action of staff.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from study.design.bonus_rule import Bonus
from study.design.models import Study
from study.monitor.staff_actions import record_person_action
from study.participants.bonuses import compute_bonuses
from study.participants.models import Participant, StaffAction
from study.participants.payments import Payment
from study.participation.page_progress import lock_participant


@dataclass(frozen=True, slots=True)
class PayRow:
    """A participant who completed the study, with the bonus by the rule and the payment, if any."""

    person: Participant
    bonus: Bonus | None
    payment: Payment | None

    @property
    def is_open(self) -> bool:
        """Return whether staff can confirm an amount for this person."""
        return self.payment is None and self.bonus is not None and self.bonus.amount > 0

    @property
    def amount(self) -> Decimal:
        """Return the confirmed amount, or the one by the rule, or 0."""
        now = self.payment or self.bonus
        return now.amount if now else Decimal(0)

    @property
    def can_grow(self) -> bool:
        """Return whether an extra can be added: nothing was paid or sent."""
        return self.payment is None or self.payment.state in Payment.UNPAID

    @property
    def parts(self) -> list[dict[str, str]]:
        """Return the parts of the confirmed bonus, or of the one by the rule: name, units and amount."""
        if self.payment:
            return list(self.payment.parts)
        return self.bonus.to_json() if self.bonus else []


def payable_people(study: Study) -> QuerySet[Participant]:
    """Return the people who completed the study, without programs and previews, in the order of numbers."""
    complete = study.participants.filter(status=Participant.Status.COMPLETE, synthetic=False, preview=False)
    return complete.select_related("study", "payment").defer("version").order_by("number")


def pay_rows(study: Study) -> list[PayRow]:
    """Return everybody who completed the study, with bonus and payment."""
    people = list(payable_people(study))
    bonuses = compute_bonuses(study, people)
    return [PayRow(one, bonuses.get(one.pk), getattr(one, "payment", None)) for one in people]


def payments_confirm(*, study: Study, user: Any, amounts: Mapping[str, str]) -> tuple[int, int]:
    """Confirm the bonuses of people. `amounts` maps codes to the amounts that the user saw.

    Return two numbers: the confirmed bonuses, and those that were not, because the amount is another one by
    now, or was confirmed before.
    """
    people = list(study.participants.filter(code__in=amounts.keys()).select_related("study"))
    bonuses = compute_bonuses(study, people)
    done = 0
    for person in people:
        bonus = bonuses.get(person.pk)
        if bonus and bonus.amount > 0 and amounts[person.code] == f"{bonus.amount:.2f}":
            done += _confirm(person, user, bonus)
    return done, len(amounts) - done


@transaction.atomic
def _confirm(person: Participant, user: Any, bonus: Bonus) -> bool:
    try:
        lock_participant(person.pk)
    except Participant.DoesNotExist:  # withdrew meanwhile
        return False
    _, is_new = Payment.objects.get_or_create(
        participant=person,
        defaults={
            "study": person.study,
            "amount": bonus.amount,
            "currency": bonus.currency,
            "parts": bonus.to_json(),
            "user": user,
            "user_name": user.get_username(),
        },
    )
    if is_new:
        record_person_action(person, user, StaffAction.Action.BONUS, bonus.words)
    return is_new


@transaction.atomic
def payments_mark_paid(*, study: Study, user: Any, codes: Sequence[str]) -> int:
    """Record that staff paid these people outside of this server. Return for how many it was not recorded
    before. A payment that a platform has not answered yet is not changed."""
    confirmed = Payment.objects.select_for_update().filter(
        study=study, participant__code__in=codes, state__in=Payment.UNPAID
    )
    done = 0
    for payment in confirmed.select_related("participant__study"):
        payment.state, payment.paid_at, payment.note = Payment.State.PAID, timezone.now(), ""
        payment.save(update_fields=["state", "paid_at", "note"])
        record_person_action(
            payment.participant, user, StaffAction.Action.PAID, f"{payment.words}, elsewhere"
        )
        done += 1
    return done


@dataclass(frozen=True, slots=True)
class PayTotals:
    """Sums over the people of a study: by the rule, confirmed, and paid."""

    people: int
    by_rule: Decimal
    confirmed: Decimal
    paid: Decimal
    currency: str

    @classmethod
    def of(cls, rows: Sequence[PayRow]) -> PayTotals:
        """Return the sums of these rows."""
        payments = [row.payment for row in rows if row.payment]
        bonuses = [row.bonus for row in rows if row.bonus]
        paid = [one.amount for one in payments if one.state == Payment.State.PAID]
        return cls(
            len(rows),
            sum((one.amount for one in bonuses), Decimal(0)),
            sum((one.amount for one in payments), Decimal(0)),
            sum(paid, Decimal(0)),
            [*(one.currency for one in bonuses), *(one.currency for one in payments), ""][0],
        )
