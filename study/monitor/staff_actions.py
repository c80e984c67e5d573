"""Carry out and record the actions of staff on one participant, such as exclusion or a new personal link.

Each action is recorded with a reason and a seal (a keyed hash) in the same transaction. A repeated request
changes nothing. Each function raises ReasonError if no reason is given, and Participant.DoesNotExist if the
data were erased. The seal shows whether somebody added or changed a record directly in the database. It does
not show whether a record was deleted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from kitchen.infra.hmac_seals import column_values, make_seal, seal_is_valid
from kitchen.infra.storable_json import storable_text
from kitchen.play.episode.end_episode import end_episode
from kitchen.play.live.page_session import replace_seat_key
from kitchen.play.models import Episode, new_key
from study.participants.end_and_erase_participation import participant_end
from study.participants.models import Participant, StaffAction
from study.participants.participant_notifications import notify_staff
from study.participants.staff_messages import LONGEST_MESSAGE, ParticipantMessage
from study.participation.page_progress import lock_participant

PURPOSE = "staff action"
SEALED = ("study_id", "participant_id", "user_name", "action", "reason", "at")
"""The sealed fields. The user is not among them, because the reference is removed with the account."""


def record_staff_action(**values: Any) -> StaffAction:
    """Store an action of staff with its seal (a signed hash), and return it."""
    row = StaffAction(**values)
    row.seal = make_seal(PURPOSE, column_values(row, SEALED))
    row.save()
    return row


def record_person_action(person: Participant, user: Any, action: str, reason: str) -> None:
    """Store an action of this user about a participant, with its reason or what was done."""
    record_staff_action(
        study=person.study,
        participant=person,
        user=user,
        user_name=user.get_username(),
        action=action,
        reason=reason,
    )


def changed_staff_actions(actions: QuerySet[StaffAction]) -> Iterator[str]:
    """Yield a sentence for each action whose row differs from what was recorded."""
    for row in actions.order_by("pk").iterator():
        if not seal_is_valid(row.seal, PURPOSE, column_values(row, SEALED)):
            yield f"staff action {row.pk} is not what was written"


LONGEST = 200
"""The most characters of a reason or a note."""


class ReasonError(ValueError):
    """Raised if the reason is missing or too long. The message is for the user."""


@transaction.atomic
def participant_exclude(*, participant_id: int, user: User, reason: str) -> bool:
    """Exclude a participant from the analysis. The data are kept. Return False if the participant is
    already excluded."""
    return _set_excluded(participant_id, user, _checked(reason), excluded=True)


@transaction.atomic
def participant_include(*, participant_id: int, user: User, reason: str) -> bool:
    """Include an excluded participant in the analysis again. Return False if the participant was not
    excluded."""
    return _set_excluded(participant_id, user, _checked(reason), excluded=False)


def _set_excluded(participant_id: int, user: User, reason: str, *, excluded: bool) -> bool:
    person, action = lock_participant(participant_id), StaffAction.Action
    if bool(person.excluded_at) is excluded:
        return False
    person.excluded_at, person.excluded_reason = (timezone.now(), reason) if excluded else (None, "")
    person.save(update_fields=["excluded_at", "excluded_reason"])
    _record(person, user, action.EXCLUDE if excluded else action.INCLUDE, reason)
    return True


def link_fingerprint(person: Participant) -> str:
    """Return a hash of the participant's current personal link, which forms include. If the link has changed
    since the form was made, the form has no effect."""
    return hashlib.sha256(person.key.encode()).hexdigest()[:16]


@transaction.atomic
def link_reissue(*, participant_id: int, user: User, reason: str, stamp: str) -> str:
    """Issue a new personal link and return its secret key.

    The old link, the old browser and open pages lose access at once. If `stamp` is not the fingerprint of
    the current link, change nothing and return an empty string.
    """
    reason = _checked(reason)
    person = lock_participant(participant_id)
    if stamp != link_fingerprint(person):
        return ""
    person.key, person.entry = new_key(), new_key()
    person.save(update_fields=["key", "entry"])
    for episode_id, seat in _seats(person):
        replace_seat_key(episode_id=episode_id, seat=seat)
    _record(person, user, StaffAction.Action.REISSUE, reason)
    return person.key


def _seats(person: Participant) -> Iterator[tuple[int, int]]:
    for practised in person.practised_ids:
        yield practised, person.warm_up_seat if practised == person.warm_up_id else person.practice_seat
    for one in person.rounds.exclude(episode=None):
        assert one.episode_id  # noqa: S101 - asked for above
        yield one.episode_id, one.seat


def running_episode(person: Participant) -> Episode | None:
    """Return the participant's running episode, or None."""
    ids = [episode_id for episode_id, _ in _seats(person)]
    return Episode.objects.filter(pk__in=ids, status=Episode.Status.PLAYING).first()


@transaction.atomic
def episode_stop(*, participant_id: int, user: User, reason: str, episode: str) -> bool:
    """End the participant's episode with the key `episode`. The participant's page then shows what follows in
    the study.

    Return False if the episode has ended or is not the participant's.
    """
    reason = _checked(reason)
    person = lock_participant(participant_id)
    current = running_episode(person)
    if not current or str(current.key) != episode or not end_episode(episode_id=current.pk, reason=reason):
        return False
    _record(person, user, StaffAction.Action.END_EPISODE, reason)
    return True


@transaction.atomic
def participant_stop(*, participant_id: int, user: User, reason: str) -> bool:
    """End the participation for a technical reason. If nobody else plays in the running episode, it also
    ends. Return False if the participation had already ended."""
    reason = _checked(reason)
    person = lock_participant(participant_id)
    if not participant_end(participant_id=person.pk, status=Participant.Status.TECHNICAL, reason=reason):
        return False
    episode = running_episode(person)
    if episode and not episode.rounds.exclude(participant=person).exists():
        end_episode(episode_id=episode.pk, reason=reason)
    _record(person, user, StaffAction.Action.END_WAY, reason)
    return True


@transaction.atomic
def note_write(*, participant_id: int, user: User, reason: str) -> bool:
    """Store a private note about a participant. Return True."""
    _record(lock_participant(participant_id), user, StaffAction.Action.NOTE, _checked(reason))
    return True


@transaction.atomic
def message_send(*, participant_id: int, user: User, reason: str) -> bool:
    """Send the text `reason` to a participant, who sees it on the next page. Return False for programs and
    for people who refused consent, who read no more pages."""
    text, person = _checked(reason, LONGEST_MESSAGE), lock_participant(participant_id)
    if person.synthetic or person.status == Participant.Status.NO_CONSENT:
        return False
    ParticipantMessage.objects.create(participant=person, user=user, user_name=user.get_username(), text=text)
    Participant.objects.filter(pk=person.pk).update(unread_messages=F("unread_messages") + 1)
    _record(person, user, StaffAction.Action.MESSAGE, "")  # the text is erased earlier than the action
    return True


def _checked(reason: str, longest: int = LONGEST) -> str:
    """Return the reason as it is stored, without surrounding spaces. Raises ReasonError if it is missing or
    longer than `longest` characters."""
    reason = storable_text(reason.strip())
    if not reason:
        raise ReasonError("Say why: the reason is kept with the data.")
    if len(reason) > longest:
        raise ReasonError(f"At most {longest} characters.")
    return reason


def _record(person: Participant, user: User, action: str, reason: str) -> None:
    record_person_action(person, user, action, reason)
    notify_staff(person)
