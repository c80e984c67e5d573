"""Define messages of staff to one participant, and read and confirm them.

A message appears on the participant's next page, or at once in the lobby. It stays until the participant
presses a button, which is stored as the time of reading.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models, transaction
from django.db.models import F
from django.utils import timezone

from study.participants.models import Participant
from study.participants.participant_notifications import notify_staff

LONGEST_MESSAGE = 500
"""The most characters of a message."""


class ParticipantMessage(models.Model):
    """A message of staff to one participant, erased with the participant's data."""

    id: int
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="staff_messages")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    user_name = models.CharField(max_length=150, help_text="The name at that time.")
    text = models.CharField(max_length=LONGEST_MESSAGE)
    sent_at = models.DateTimeField(default=timezone.now, editable=False)
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["sent_at", "id"]

    def __str__(self) -> str:
        return f"{self.participant}: {self.sent_at:%Y-%m-%d %H:%M}"


def unread_messages(person: Participant) -> list[ParticipantMessage]:
    """Return the messages that the participant has not confirmed, oldest first.

    A guest sees none, because somebody else may know the guest's label. Without messages this needs no query.
    """
    if person.as_guest or not person.unread_messages:
        return []
    return list(person.staff_messages.filter(read_at=None))


@transaction.atomic
def messages_read(*, person: Participant, newest: int) -> int:
    """Store that the participant has read their messages up to the one with the id `newest`. Return how many
    were read now."""
    waiting = person.staff_messages.filter(read_at=None, pk__lte=newest)
    if number := waiting.update(read_at=timezone.now()):
        Participant.objects.filter(pk=person.pk).update(unread_messages=F("unread_messages") - number)
        notify_staff(person)
    return number
