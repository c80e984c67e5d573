"""End a participant's session: finish, withdraw and erase their data, or erase data that are older than the
retention period.

Retention erases names and free texts first, and later all data. Days count from the participant's last
action. Each piece is a transaction of its own; a run that was interrupted continues the next time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any

from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from kitchen.infra.database_writes import batches_of
from kitchen.play.episode.change_episode import abandon_episode, end_episode, leave_seat
from kitchen.play.episode.create_episode import erase_episode, erase_prompts
from kitchen.play.models import Episode, Seat
from kitchen.play.turn.decision_records import prompt_hashes_of, unused_prompt_hashes
from kitchen.words.translation import gettext_noop
from study.design.models import Outcome, Study, SurveyItem
from study.design.questions.item_fields import DOES_NOT_APPLY
from study.participants.erasure_records import (
    PAID_STATUSES,
    LeavingReceipt,
    erasure_mark,
    make_receipt,
    record_completion,
)
from study.participants.models import Answer, Group, PageVisit, Participant, Round
from study.participants.participant_events import (
    live_page_group_name,
    notify_staff,
    participant_erased,
    participant_leaving,
)

NOT_DONE = (Episode.Status.PLAYING, Episode.Status.ABANDONED)
"""An episode that ended because its player was gone was not done with; nor one that others went on with."""


def mark_episode_visits_done(participant_id: int) -> None:
    """Note when the episodes of this participant ended; what is noted stays. Asked whenever another page is
    seen or done, since an episode ends on the server."""
    over = Round.objects.filter(participant=participant_id, position=OuterRef("position"))
    over = over.exclude(episode=None).exclude(episode__status__in=NOT_DONE)
    theirs = Seat.objects.filter(episode=OuterRef("episode"), number=OuterRef("seat"), mind=None)
    over = over.filter(Exists(theirs))
    begun = PageVisit.objects.filter(participant=participant_id, page="play", done_at=None)
    begun.filter(Exists(over)).update(done_at=Subquery(over.values("episode__ended_at")))


IDLE = gettext_noop("nothing happened for too long")
"""Why somebody was timed out, in the data and on the page."""


def finish_participant(person: Participant, status: str, reason: str = "") -> None:
    """Note that this participant, locked by the caller, has come to an end."""
    person.status, person.ended_at, person.end_reason = status, timezone.now(), reason
    person.given_code = code_to_give(person, outcome_codes(person.study_id))
    person.save(update_fields=["status", "ended_at", "end_reason", "given_code"])
    mark_episode_visits_done(person.pk)
    notify_staff(person)


def outcome_codes(study_id: int) -> dict[str, str]:
    """The codes that a study gives at the kinds of end now."""
    return dict(Outcome.objects.filter(study=study_id).values_list("kind", "code"))


def code_to_give(person: Participant, codes: Mapping[str, str]) -> str:
    """What somebody who has come to an end takes away: the code of that kind of end, else their own if they
    are complete, or came and found nobody to play with; empty for none."""
    own = person.completion_code if person.status in PAID_STATUSES else ""
    return codes.get(person.status) or own


@transaction.atomic
def participant_end(*, participant_id: int, status: str, reason: str = "") -> bool:
    """End a participant's way before its end, and the episode that runs, so that nothing goes on costing
    money; the data stay. False if it was over already."""
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
    """By episode of a round: where the person sits."""
    return dict(person.rounds.exclude(episode=None).values_list("episode", "seat"))


def group_lock(participant_id: int) -> None:
    """Nobody opens an episode for this person's group until the transaction ends. Whoever also locks the
    person does that before."""
    list(Group.objects.select_for_update().filter(members__participant=participant_id))


def episodes_of(person: Participant) -> QuerySet[Episode]:
    """Every episode that this person plays in or played in; its rows can be locked."""
    mine = Q(rounds__participant=person) | Q(practised_by=person) | Q(first_practised_by=person)
    return Episode.objects.filter(pk__in=Episode.objects.filter(mine).values("pk"))


def participant_withdraw(*, participant_id: int, counted: bool = True, by: Any = None) -> LeavingReceipt:
    """Erase everything this person left, row by row, because they or (`by`) one of the staff want it; what
    stays is the study's count, if it is to be `counted`, and then what `took_part` keeps of who was done.

    They themselves go first, and whatever leads to them. Their episodes follow one after another, so that
    nobody who plays waits; what a process that dies meanwhile leaves of these is erased when the next one
    leaves (`episodes_erase_left`). Participant.DoesNotExist if it was erased already.
    """
    person, receipt, episodes = _forget(participant_id, counted, by)
    told = partial(participant_erased.send, Participant, study_id=person.study_id)
    transaction.on_commit(told, robust=True)  # it is done: whoever hears of it cannot undo it
    prompts = prompt_hashes_of(episodes)
    for episode_id in episodes:
        erase_episode(episode_id)
    erase_prompts(prompts)
    erase_orphaned_episodes(study_id=person.study_id)
    transaction.on_commit(_overwrite)
    return receipt


@transaction.atomic
def _forget(participant_id: int, counted: bool, by: Any) -> tuple[Participant, LeavingReceipt, list[int]]:
    """Erase the person, with a receipt, and have their mark kept. Their episodes end; those in which nobody
    plays any more are to be erased."""
    person = Participant.objects.select_for_update().get(pk=participant_id)
    if counted and not person.preview:
        counter = "withdrawn_synthetic" if person.synthetic else "withdrawn"
        Study.objects.filter(pk=person.study_id).update(**{counter: F(counter) + 1})
        record_completion(person)
    group_lock(person.pk)  # after the study, as who looks for a group
    episodes = list(episodes_of(person).select_for_update())  # no step is written meanwhile
    seats = _seats(person)
    mark = erasure_mark(person)
    person.delete()
    Group.objects.filter(study=person.study_id, members=None).delete()
    left = [episode.pk for episode in episodes if _end_without(episode, seats.get(episode.pk, 0))]
    notify_staff(person)
    receipt = make_receipt(person.study.slug, timezone.now())
    participant_leaving.send(Participant, study_id=person.study_id, receipt=receipt, mark=mark, by=by)
    return person, receipt, left


def _end_without(episode: Episode, seat: int) -> bool:
    """Nobody has the seat; the episode ends, unless others go on without them. Whether nobody else plays, or
    has played, in it."""
    leave_seat(episode_id=episode.pk, seat=seat)
    others = (episode.rounds, episode.practised_by, episode.first_practised_by)
    return not any(each.exists() for each in others)


def erase_orphaned_episodes(*, study_id: int) -> int:
    """Erase what somebody who left has left because a process died: episodes of people that are over and
    belong to nobody; how many."""
    nobody = Episode.objects.filter(rounds=None, practised_by=None, first_practised_by=None, synthetic=False)
    over = nobody.filter(audience=live_page_group_name(study_id)).exclude(status=Episode.Status.PLAYING)
    left = list(over.values_list("pk", flat=True))
    for episode_id in left:
        erase_episode(episode_id)
    return len(left)


def _overwrite() -> None:
    """SQLite keeps what was erased in its log until that is written over: it is emptied now, or, if somebody
    reads for long, at a later withdrawal. PostgreSQL's log is its administrator's."""
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        return
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA busy_timeout = {LOG_PATIENCE}")
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        cursor.execute(f"PRAGMA busy_timeout = {connection.settings_dict['OPTIONS']['timeout'] * 1000}")


LOG_PATIENCE = 300
"""Milliseconds that somebody who leaves waits for others who read the database."""

PEOPLE = 50
"""Whose names are erased together."""


def expired_participants(days: int | None) -> QuerySet[Participant]:
    """Those who did something last more than so many days ago; nobody where things are kept for ever."""
    if days is None:
        return Participant.objects.none()
    return Participant.objects.filter(active_at__lt=timezone.now() - timedelta(days=days))


def participants_with_names(people: QuerySet[Participant]) -> QuerySet[Participant]:
    """Those of them with a name or a free text."""
    texts = texts_of(people).values("participant")
    return people.filter(~Q(label="") | ~Q(referral={}) | Q(pk__in=texts)).order_by("pk")


def texts_of(people: QuerySet[Participant]) -> QuerySet[Answer]:
    """Their answers in words of their own."""
    of_them = Answer.objects.filter(participant__in=people.values("pk"), item__kind=SurveyItem.Kind.TEXT)
    return of_them.exclude(value="").exclude(value=DOES_NOT_APPLY)


def erase_names(ids: Iterable[int]) -> int:
    """Empty what names these participants: the label and what else their link said, and free texts. How many
    they were. The rest stays, and their personal link with it, so that they can still leave."""
    done = 0
    for piece in batches_of(ids, PEOPLE):
        with transaction.atomic():
            people = Participant.objects.filter(pk__in=piece)
            texts_of(people).update(value="")
            done += people.update(label="", referral={})
    return done


def erase_participants(ids: Iterable[int]) -> int:
    """Erase all that these participants left, one after another; how many there were. They are not counted as
    withdrawn."""
    return sum(_erase(participant_id) for participant_id in ids)


def _erase(participant_id: int) -> bool:
    """False if they have left meanwhile."""
    try:
        participant_withdraw(participant_id=participant_id, counted=False)
    except Participant.DoesNotExist:
        return False
    return True


def erase_orphans() -> int:
    """Erase what belongs to nobody since a process died while it erased: episodes, and what models were
    asked; how many episodes."""
    studies = Study.objects.values_list("pk", flat=True)
    episodes = sum(erase_orphaned_episodes(study_id=study_id) for study_id in studies)
    erase_prompts(unused_prompt_hashes())
    return episodes
