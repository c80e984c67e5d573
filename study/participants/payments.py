"""Define the ledger of what participants are paid beyond the recruitment platform's base reward.

There is at most one row for a participant, so nobody is paid twice. The row is written when staff confirm the
amount, before anything is sent.
"""

from __future__ import annotations

from uuid import uuid4

from django.conf import settings
from django.db import models
from django.utils import timezone

from study.design.models import Study
from study.participants.models import Participant


class Payment(models.Model):
    """The bonus of one participant: the confirmed amount with its parts, and how far its payment is."""

    class State(models.TextChoices):
        CONFIRMED = "confirmed", "confirmed, not paid yet"
        SENDING = "sending", "sent, without an answer yet"
        PAID = "paid", "paid"
        REFUSED = "refused", "refused by the platform"

    id: int
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="payments")
    participant = models.OneToOneField(Participant, on_delete=models.CASCADE, related_name="payment")
    participant_id: int
    amount = models.DecimalField(max_digits=9, decimal_places=2)
    currency = models.CharField(max_length=3)
    parts = models.JSONField(default=list, help_text="The parts of the amount: name, units and amount.")
    state = models.CharField(max_length=10, choices=State, default=State.CONFIRMED)
    key = models.UUIDField(default=uuid4, unique=True, help_text="Identifies the payment to a platform.")
    reference = models.CharField(
        max_length=80, blank=True, default="", help_text="The platform's own name of the payment."
    )
    note = models.CharField(max_length=200, blank=True, default="", help_text="Why it was refused.")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    user_name = models.CharField(max_length=150, help_text="Who confirmed the amount; the name at that time.")
    confirmed_at = models.DateTimeField(default=timezone.now, editable=False)
    sent_at = models.DateTimeField(null=True, blank=True, help_text="When a platform was last asked to pay.")
    paid_at = models.DateTimeField(null=True, blank=True)

    UNPAID = (State.CONFIRMED, State.REFUSED)
    """States in which a bonus can be paid. Only older versions wrote *refused*."""

    class Meta:
        ordering = ["participant__number"]

    def __str__(self) -> str:
        return f"{self.participant}: {self.words}"

    @property
    def words(self) -> str:
        """Return the amount with its currency, such as `1.20 GBP`."""
        return f"{self.amount:.2f} {self.currency}"
