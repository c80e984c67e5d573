"""Add an extra amount to the bonus of one person who completed the study, with a reason.

The sum is confirmed at once, so it is paid like every other bonus, and at most once. A bonus that was paid or
sent gets no extra. The amount and its reason are recorded as an action of staff.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django import forms
from django.db import transaction
from django.utils import timezone

from kitchen.infra.storable_json import storable_text
from study.design.bonus_rule import CENT, CURRENCIES, MOST
from study.design.models import Study
from study.monitor.payment_actions import PayRow, payable_people
from study.monitor.staff_actions import record_person_action
from study.participants.bonuses import bonus_of
from study.participants.models import Participant, StaffAction
from study.participants.payments import Payment
from study.participation.page_progress import lock_participant

EXTRA = "extra"
"""Name of the part of a bonus that this module adds."""
LONGEST_REASON = 150
"""The most characters of the reason. The record also has the amounts."""


class ExtraBonusError(ValueError):
    """Raised if a person cannot get this extra. The message is for the user."""


class ExtraBonusForm(forms.Form):
    """A form for the extra of one person. The value of a person is their code and the amount as it is shown,
    so that the form has no effect if it is sent twice."""

    person = forms.ChoiceField(
        label="Who", error_messages={"invalid_choice": "Choose one of these people again."}
    )
    extra = forms.DecimalField(
        label="Extra amount",
        min_value=CENT,
        max_value=MOST,
        decimal_places=2,
        help_text="Added to their bonus.",
    )
    currency = forms.ChoiceField(label="Currency", choices=[(one, one) for one in CURRENCIES])
    reason = forms.CharField(
        label="Why",
        max_length=LONGEST_REASON,
        help_text=f"At most {LONGEST_REASON} characters, kept with the data. The person does not see it.",
    )
    sure = forms.BooleanField(
        label="Yes, confirm their bonus with the extra",
        error_messages={"required": "Tick the box to confirm."},
    )

    def __init__(
        self, data: Any = None, *, rows: Iterable[PayRow], code: str = "", currency: str = ""
    ) -> None:
        choices = {f"{row.person.code} {row.amount:.2f}": _person_words(row) for row in rows if row.can_grow}
        chosen = next((value for value in choices if value.split()[0] == code), None)
        super().__init__(
            data, prefix=EXTRA, initial={"person": chosen, "currency": currency or CURRENCIES[0]}
        )
        self.fields["person"].choices = list(choices.items())  # type: ignore[attr-defined]

    @property
    def has_people(self) -> bool:
        """Return whether anybody can get an extra."""
        return bool(self.fields["person"].choices)  # type: ignore[attr-defined]

    def save(self, *, study: Study, user: Any) -> Payment:
        """Add the extra, and return the payment. Raises ExtraBonusError, which is also the form's error."""
        given = self.cleaned_data
        code, seen = given["person"].split()
        more = {"extra": given["extra"], "currency": given["currency"], "reason": given["reason"]}
        try:
            return extra_bonus_add(study=study, user=user, code=code, seen=seen, **more)
        except ExtraBonusError as error:
            self.add_error(None, str(error))
            raise


def _person_words(row: PayRow) -> str:
    now = row.payment or row.bonus
    name = f", {row.person.label}" if row.person.label else ""
    return f"{row.person.code}{name}: {now.words if now else 'no bonus'}"


@transaction.atomic
def extra_bonus_add(
    *, study: Study, user: Any, code: str, seen: str, extra: Decimal, currency: str, reason: str
) -> Payment:
    """Confirm the bonus of the person with this code, with this extra. `seen` is their bonus without it, as
    the user saw it. Raises ExtraBonusError if the bonus is another one by now, or was paid or sent."""
    person = payable_people(study).filter(code=code).first()
    if person is None:
        raise ExtraBonusError("Only people who completed the study get a bonus.")
    try:
        lock_participant(person.pk)
    except Participant.DoesNotExist:  # withdrew meanwhile
        raise ExtraBonusError("This person withdrew meanwhile.") from None
    payment = Payment.objects.select_for_update(of=("self",)).filter(participant=person).first()
    if payment and payment.state not in Payment.UNPAID:
        raise ExtraBonusError("Their bonus was paid or sent already.")
    now = payment or bonus_of(person)
    if f"{now.amount if now else Decimal(0):.2f}" != seen:
        raise ExtraBonusError("Their bonus is another one by now: look again.")
    if now and now.currency != currency:
        raise ExtraBonusError(f"Their bonus is in {now.currency}.")
    before = now.amount if now else Decimal(0)
    parts = payment.parts if payment else now.to_json() if now else []  # type: ignore[union-attr]
    values = {
        "study": study,
        "amount": before + extra,
        "currency": currency,
        "parts": [*parts, {"part": EXTRA, "units": "1", "amount": f"{extra}"}],
        "user": user,
        "user_name": user.get_username(),
        "confirmed_at": timezone.now(),
    }
    changed, _ = Payment.objects.update_or_create(participant=person, defaults=values)
    words = f"{changed.words}, of it {extra:.2f} extra: {storable_text(reason.strip())}"
    record_person_action(person, user, StaffAction.Action.BONUS, words)
    return changed
