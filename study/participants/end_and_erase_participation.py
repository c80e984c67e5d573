"""End a participation: a participant finishes, withdraws, or is erased after a retention period.

A withdrawal erases all data of the participant. After the retention period, names and free texts are erased
first, and later all data. Days count from the participant's last action. Three records remain: a signed
receipt of a withdrawal, a hash without a name, and the completion code. None of them leads to the erased
data.
"""

# After the retention period, names and free texts are erased first, and later all data. Days count from the
# participant's last action. Each step has its own transaction; an interrupted run continues the next time.
#
# Three records stay after a participant's data were erased; none leads to the erased data. The signed receipt
# proves without a name that somebody withdrew. The erasure mark is a hash of a random name (128 bits); after
# a backup is restored, it shows who must be erased again. The completion code lets a participant who finished
# be paid; a hash of their label prevents a second participation.

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from typing import Any

from django.core import signing
from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone
from django.utils.crypto import salted_hmac

from kitchen.infra.append_only import erasure_allowed
from kitchen.infra.database_writes import batches_of
from kitchen.play.episode.advance_episode import leave_seat
from kitchen.play.episode.end_episode import abandon_episode, end_episode
from kitchen.play.episode.erase_episode import erase_episode, erase_prompts
from kitchen.play.models import Episode, Seat
from kitchen.play.turn.decision_records import prompt_hashes_of, unused_prompt_hashes
from kitchen.words.gettext_without_django import gettext_noop
from study.design.models import Outcome, Study, SurveyItem
from study.design.questions.item_fields import DOES_NOT_APPLY
from study.participants.annotations import Annotation, erase_annotations
from study.participants.models import (
    PRIVATE_ACTIONS,
    Answer,
    Group,
    LeftComplete,
    PageVisit,
    Participant,
    Round,
    StaffAction,
)
from study.participants.participant_notifications import (
    live_page_group_name,
    notify_staff,
    participant_erased,
    participant_leaving,
)
from study.participants.sound_recordings import SoundTake, erase_sound
from study.participants.staff_messages import ParticipantMessage

RECEIPT_SALT = "brigade.receipt"
TIME = "%Y%m%dT%H%M%SZ"


@dataclass(frozen=True, slots=True)
class LeavingReceipt:
    """Proof of withdrawal without a name. `code` holds the study and the time, and is signed."""

    code: str
    study: str
    """The study's slug."""
    at: datetime

    @property
    def without_proof(self) -> str:
        """Return the receipt's code without its signature. It is enough to recognise a receipt, but not to
        make one."""
        return self.code.rpartition(":")[0]


def make_receipt(study: str, at: datetime) -> LeavingReceipt:
    """Return a signed receipt for a withdrawal from this study at this time. A random word distinguishes
    two receipts of the same second."""
    at = at.astimezone(UTC).replace(microsecond=0)
    content = ":".join([study, at.strftime(TIME), secrets.token_hex(3)])
    return LeavingReceipt(signing.Signer(salt=RECEIPT_SALT).sign(content), study, at)


def read_receipt(code: str) -> LeavingReceipt | None:
    """Return the receipt with this code. Return None if this server did not sign the code."""
    code = "".join(code.split())  # copied from a page or letter, it may be broken into lines
    try:
        study, at, _ = signing.Signer(salt=RECEIPT_SALT).unsign(code).split(":")
    except signing.BadSignature:
        return None
    return LeavingReceipt(code, study, datetime.strptime(at, TIME).replace(tzinfo=UTC))


LABEL_SALT = "brigade.took-part"
PAID_STATUSES = {Participant.Status.COMPLETE, Participant.Status.UNMATCHED}
"""Ends at which every participant gets a code: their own, if the outcome has none."""
NO_REENTRY_STATUSES = {
    *PAID_STATUSES,
    Participant.Status.FAILED_CHECK,
    Participant.Status.NO_PLACE,
    Participant.Status.SCREENED_OUT,
    Participant.Status.LATE_RETURN,
}
"""Ends after which nobody may enter again under the same label."""


def record_completion(person: Participant) -> None:
    """Store that this participant, who is about to be erased, completed the study. Only statuses in
    `NO_REENTRY_STATUSES` are stored, and only for real participants.

    A person who is already recorded is not stored again, for example after a backup was restored.
    """
    if person.status not in NO_REENTRY_STATUSES or person.preview or person.synthetic:
        return
    code = person.given_code if person.status in PAID_STATUSES else ""
    mark = label_mark(person.study_id, person.label)
    same = Q(code=person.completion_code) | (Q(mark=mark) if mark else Q())
    if (code or mark) and not LeftComplete.objects.filter(same, study=person.study_id).exists():
        today = timezone.now().date()
        LeftComplete.objects.create(study_id=person.study_id, code=code, mark=mark, left_on=today)


def completion_of(study_id: int, label: str) -> LeftComplete | None:
    """Return the completion record of an erased participant with this label. Return None if there is no
    record, or if it has expired."""
    mark = label_mark(study_id, label)
    return LeftComplete.objects.filter(study=study_id, mark=mark).first() if mark else None


def label_mark(study_id: int, label: str) -> str:
    """Return a hash of the label (64 hex digits) that depends on the server's secret key. Return an empty
    string if the label is empty."""
    return salted_hmac(LABEL_SALT, f"{study_id} {label}", algorithm="sha256").hexdigest() if label else ""


def forget_completions(names: int | None, everything: int | None) -> int:
    """Erase the label hashes of completion records after `names` days, and whole records after `everything`
    days. None means never.

    Return the number of records that were erased.
    """
    today = timezone.now().date()
    if names is not None:
        old = LeftComplete.objects.filter(left_on__lt=today - timedelta(days=names))
        old.filter(code="").delete()
        old.update(mark="")
    if everything is None:
        return 0
    return LeftComplete.objects.filter(left_on__lt=today - timedelta(days=everything)).delete()[0]


def erasure_mark(person: Participant) -> str:
    """Return the hash (64 hex digits) that identifies this participant in any backup, so that they can be
    erased again."""
    return sha256(f"brigade.erased:{person.entry}".encode()).hexdigest()


NOT_DONE = (Episode.Status.PLAYING, Episode.Status.ABANDONED)
"""Statuses in which the play page is not done: still running, or ended because the player was gone."""


def mark_episode_visits_done(participant_id: int) -> None:
    """Set the end time of the participant's visits to play pages whose episodes have ended. A time that is
    already set stays.

    Call this whenever another page is opened or done, because episodes end on the server. Episodes that
    others continued without the participant are ignored.
    """
    begun = PageVisit.objects.filter(participant=participant_id, page="play", done_at=None)
    if not begun.exists():
        return
    over = Round.objects.filter(participant=participant_id, position=OuterRef("position"))
    over = over.exclude(episode=None).exclude(episode__status__in=NOT_DONE)
    theirs = Seat.objects.filter(episode=OuterRef("episode"), number=OuterRef("seat"), mind=None)
    over = over.filter(Exists(theirs))
    begun.filter(Exists(over)).update(done_at=Subquery(over.values("episode__ended_at")))


IDLE = gettext_noop("nothing happened for too long")
"""Reason for a timeout, in the data and on the page."""


RETURNED = "returned on Prolific"
"""The reason for a timeout of a person who gave up their submission on Prolific. They get no code."""


def finish_participant(person: Participant, status: str, reason: str = "") -> None:
    """Mark this participant as ended with this status. The caller must have locked the row."""
    person.status, person.ended_at, person.end_reason = status, timezone.now(), reason
    person.given_code = code_to_give(person, outcome_codes(person.study_id))
    person.save(update_fields=["status", "ended_at", "end_reason", "given_code"])
    mark_episode_visits_done(person.pk)
    notify_staff(person)


def outcome_codes(study_id: int) -> dict[str, str]:
    """Return the study's completion codes, by kind of end such as `complete`."""
    return dict(Outcome.objects.filter(study=study_id).values_list("kind", "code"))


def code_to_give(person: Participant, codes: Mapping[str, str]) -> str:
    """Return the completion code that a participant gets at the end. Return an empty string for none. `codes`
    is the result of `outcome_codes`.

    If the kind of end has no code, a code of the participant's own is used. Only participants who completed
    the study, or found nobody to play with, have one. People who returned their submission get none.
    """
    if person.end_reason == RETURNED:
        return ""
    own = person.completion_code if person.status in PAID_STATUSES else ""
    return codes.get(person.status) or own


@transaction.atomic
def participant_end(*, participant_id: int, status: str, reason: str = "") -> bool:
    """End a participation early. Its running episodes are also ended, so that they cost nothing more. The
    data are kept. Return False if the participation had already ended."""
    person = Participant.objects.select_for_update().get(pk=participant_id)
    if person.status != Participant.Status.ACTIVE:
        return False
    finish_participant(person, status, reason)
    group_lock(person.pk)
    running = episodes_of(person).filter(status=Episode.Status.PLAYING)
    for episode in list(running.only("pk", "absence")):
        if episode.absence:
            leave_seat(episode_id=episode.pk, seat=_seats(person)[episode.pk])
        elif status == Participant.Status.TIMED_OUT:
            abandon_episode(episode_id=episode.pk, reason=reason or IDLE)
        else:
            end_episode(episode_id=episode.pk, reason=reason or f"participant: {status}")
    return True


def _seats(person: Participant) -> dict[int | None, int]:
    """Return the person's seats in the episodes that can be shared: those of rounds, and the one played while
    waiting. The result maps episode ids to seat numbers."""
    seats: dict[int | None, int] = {person.warm_up_id: person.warm_up_seat} if person.warm_up_id else {}
    return seats | dict(person.rounds.exclude(episode=None).values_list("episode", "seat"))


def group_lock(participant_id: int) -> None:
    """Lock this participant's group until the transaction ends, so that no episode can be created for it. If
    you also lock the participant, lock the group first."""
    list(Group.objects.select_for_update().filter(members__participant=participant_id))


def episodes_of(person: Participant) -> QuerySet[Episode]:
    """Return all episodes that this participant plays or played in. The rows of the query can be locked."""
    played = Q(rounds__participant=person) | Q(practised_by=person) | Q(first_practised_by=person)
    played |= Q(warmed_up_by=person)
    return Episode.objects.filter(pk__in=Episode.objects.filter(played).values("pk"))


def participant_withdraw(*, participant_id: int, counted: bool = True, by: Any = None) -> LeavingReceipt:
    """Erase all data of this participant, and return a receipt.

    `by` is the staff user who does it; None if the participant does. If `counted`, the study's number of
    withdrawals is raised. The record of completion (`record_completion`) stays.

    Recorded sound is erased first, then the participant, then the episodes one by one. If the process dies
    meanwhile, the next withdrawal erases the rest (`erase_orphaned_episodes`). Raises
    Participant.DoesNotExist if the data were already erased.
    """
    erase_sound(SoundTake.objects.filter(participant=participant_id))
    person, receipt, episodes = _forget(participant_id, counted, by)
    erased = partial(participant_erased.send, Participant, study_id=person.study_id)
    transaction.on_commit(erased, robust=True)  # the erasure is committed: a receiver cannot undo it
    prompts = prompt_hashes_of(episodes)
    for episode_id in episodes:
        erase_episode(episode_id)
    erase_prompts(prompts)
    erase_orphaned_episodes(study_id=person.study_id)
    transaction.on_commit(_overwrite)
    return receipt


@transaction.atomic
def _forget(participant_id: int, counted: bool, by: Any) -> tuple[Participant, LeavingReceipt, list[int]]:
    """Erase the participant's row, and send the signal whose receiver stores the erasure mark. Return the
    participant, the receipt, and the ids of episodes in which nobody else played.

    The caller erases these episodes. `by` is the staff user who erases, if any.
    """
    person = Participant.objects.select_for_update().get(pk=participant_id)
    if counted and not person.preview:
        counter = "withdrawn_synthetic" if person.synthetic else "withdrawn"
        Study.objects.filter(pk=person.study_id).update(**{counter: F(counter) + 1})
        record_completion(person)
    group_lock(person.pk)  # after the study, in the same order as forming groups
    episodes = list(episodes_of(person).select_for_update())  # no step is written meanwhile
    seats = _seats(person)
    mark = erasure_mark(person)
    erase_annotations(episode.pk for episode in episodes)
    with erasure_allowed():
        person.delete()
    Group.objects.filter(study=person.study_id, members=None).delete()
    for episode in episodes:  # empty the seat and end the episode, unless others continue it
        leave_seat(episode_id=episode.pk, seat=seats.get(episode.pk, 0))
    unplayed = _without_participant().filter(pk__in=[episode.pk for episode in episodes])
    left = list(unplayed.values_list("pk", flat=True))
    notify_staff(person)
    receipt = make_receipt(person.study.slug, timezone.now())
    participant_leaving.send(Participant, study_id=person.study_id, receipt=receipt, mark=mark, by=by)
    return person, receipt, left


def _without_participant() -> QuerySet[Episode]:
    return Episode.objects.filter(rounds=None, practised_by=None, first_practised_by=None, warmed_up_by=None)


def erase_orphaned_episodes(*, study_id: int) -> int:
    """Erase ended episodes that belong to no participant, and return their number. They remain if a process
    dies while it erases a participant."""
    over = _without_participant().exclude(status=Episode.Status.PLAYING)
    over = over.filter(synthetic=False, audience=live_page_group_name(study_id))
    left = list(over.values_list("pk", flat=True))
    for episode_id in left:
        erase_episode(episode_id)
    return len(left)


def _overwrite() -> None:
    """Empty SQLite's write-ahead log. Erased data would otherwise remain in it until they are overwritten.

    If another process is reading for a long time, the log is not emptied now; a later withdrawal empties
    it. In PostgreSQL, the administrator manages the log.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        return
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA busy_timeout = {LOG_PATIENCE}")
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        cursor.execute(f"PRAGMA busy_timeout = {connection.settings_dict['OPTIONS']['timeout'] * 1000}")


LOG_PATIENCE = 300
"""Milliseconds for which a withdrawal waits for readers of the database."""

PEOPLE = 50
"""Number of participants per transaction when erasing names."""


def expired_participants(days: int | None) -> QuerySet[Participant]:
    """Return participants whose last action is more than `days` days ago. If `days` is None, return none."""
    if days is None:
        return Participant.objects.none()
    return Participant.objects.filter(active_at__lt=timezone.now() - timedelta(days=days))


def participants_with_names(people: QuerySet[Participant]) -> QuerySet[Participant]:
    """Return the given participants who have a label, referral data, a free text, a message or a note,
    recorded sound, or an episode with a rater's note."""
    texts = texts_of(people).values("participant")
    told = ParticipantMessage.objects.exclude(text="").values("participant")
    noted = StaffAction.objects.filter(action__in=PRIVATE_ACTIONS).values("participant")
    named = ~Q(label="") | ~Q(referral={}) | Q(pk__in=texts) | Q(pk__in=told) | Q(pk__in=noted)
    notes = Annotation.objects.exclude(note="").values("rating__episode")
    named |= Q(pk__in=Round.objects.filter(episode__in=notes).values("participant"))
    named |= Q(pk__in=SoundTake.objects.values("participant"))
    named |= Q(practice__in=notes) | Q(first_practice__in=notes) | Q(warm_up__in=notes)
    return people.filter(named).order_by("pk")


FREE_TEXTS = (SurveyItem.Kind.TEXT, SurveyItem.Kind.TEXTS)


def texts_of(people: QuerySet[Participant]) -> QuerySet[Answer]:
    """Return the given participants' free-text answers."""
    of_them = Answer.objects.filter(participant__in=people.values("pk"), item__kind__in=FREE_TEXTS)
    return of_them.exclude(value="").exclude(value=DOES_NOT_APPLY)


def erase_names(ids: Iterable[int]) -> int:
    """Empty the fields that may identify these participants: label, referral data, free texts, messages of
    staff, and notes of raters. Erase notes of staff, messages that were not read, and recorded sound. Return
    the number of participants.

    The other data stay. The personal link still works, so that the participants can withdraw.
    """
    done, studies = 0, set[int]()
    for piece in batches_of(ids, PEOPLE):
        erase_sound(SoundTake.objects.filter(participant__in=piece))
        with erasure_allowed():
            people = Participant.objects.filter(pk__in=piece)
            studies |= set(people.values_list("study", flat=True))
            texts_of(people).update(value="")
            told = ParticipantMessage.objects.filter(participant__in=piece)
            told.filter(read_at=None).delete()
            told.update(text="")
            StaffAction.objects.filter(participant__in=piece, action__in=PRIVATE_ACTIONS).delete()
            for person in people:
                theirs = episodes_of(person).values("pk")
                Annotation.objects.filter(rating__episode__in=theirs).exclude(note="").update(note="")
            done += people.update(label="", referral={}, unread_messages=0)
    for study_id in studies:
        participant_erased.send(Participant, study_id=study_id)
    return done


def erase_participants(ids: Iterable[int]) -> int:
    """Erase all data of these participants, one after another, and return their number. The study's count
    of withdrawals does not change."""
    erased = 0
    for participant_id in ids:
        with suppress(Participant.DoesNotExist):  # withdrew meanwhile
            participant_withdraw(participant_id=participant_id, counted=False)
            erased += 1
    return erased


def erase_orphans() -> int:
    """Erase episodes that belong to no participant, and prompts that nothing uses. Return the number of
    episodes. Such data remain if a process dies while it erases a participant."""
    studies = Study.objects.values_list("pk", flat=True)
    episodes = sum(erase_orphaned_episodes(study_id=study_id) for study_id in studies)
    erase_prompts(unused_prompt_hashes())
    return episodes
