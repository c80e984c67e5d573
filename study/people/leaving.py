"""Coming to an end: complete or not, or erased."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from kitchen.play.calls import prompts_of
from kitchen.play.erasing import episode_erase, prompts_erase
from kitchen.play.going import seat_leave
from kitchen.play.models import Episode
from kitchen.play.services import episode_abandon, episode_end
from kitchen.words.speech import marked
from study.design.models import Outcome, Study
from study.people.marks import mark_of
from study.people.models import Group, Participant
from study.people.news import audience_name, tell
from study.people.receipts import LeavingReceipt, receipt_make
from study.people.signals import person_erased, person_goes
from study.people.took_part import PAID, note_left
from study.people.visits import plays_done

IDLE = marked("nothing happened for too long")
"""Why somebody was timed out, in the data and on the page."""


def finish(person: Participant, status: str, reason: str = "") -> None:
    """Note that this participant, locked by the caller, has come to an end."""
    person.status, person.ended_at, person.end_reason = status, timezone.now(), reason
    person.given_code = code_to_give(person, outcome_codes(person.study_id))
    person.save(update_fields=["status", "ended_at", "end_reason", "given_code"])
    plays_done(person.pk)
    tell(person)


def outcome_codes(study_id: int) -> dict[str, str]:
    """The codes that a study gives at the kinds of end now."""
    return dict(Outcome.objects.filter(study=study_id).values_list("kind", "code"))


def code_to_give(person: Participant, codes: Mapping[str, str]) -> str:
    """What somebody who has come to an end takes away: the code of that kind of end, else their own if they
    are complete, or came and found nobody to play with; empty for none."""
    own = person.completion_code if person.status in PAID else ""
    return codes.get(person.status) or own


@transaction.atomic
def participant_end(*, participant_id: int, status: str, reason: str = "") -> bool:
    """End a participant's way before its end, and the episode that runs, so that nothing goes on costing
    money; the data stay. False if it was over already."""
    person = Participant.objects.select_for_update().get(pk=participant_id)
    if person.status != Participant.Status.ACTIVE:
        return False
    finish(person, status, reason)
    group_lock(person.pk)
    running = their_episodes(person).filter(status=Episode.Status.PLAYING)
    for episode in list(running.only("pk", "absence")):
        if episode.absence:
            seat_leave(episode_id=episode.pk, seat=_seats(person)[episode.pk])
        elif status == Participant.Status.TIMED_OUT:
            episode_abandon(episode_id=episode.pk, reason=reason or IDLE)
        else:
            episode_end(episode_id=episode.pk, reason=reason or f"participant: {status}")
    return True


def _seats(person: Participant) -> dict[int | None, int]:
    """By episode of a round: where the person sits."""
    return dict(person.rounds.exclude(episode=None).values_list("episode", "seat"))


def group_lock(participant_id: int) -> None:
    """Nobody opens an episode for this person's group until the transaction ends. Whoever also locks the
    person does that before."""
    list(Group.objects.select_for_update().filter(members__participant=participant_id))


def their_episodes(person: Participant) -> QuerySet[Episode]:
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
    told = partial(person_erased.send, Participant, study_id=person.study_id)
    transaction.on_commit(told, robust=True)  # it is done: whoever hears of it cannot undo it
    prompts = prompts_of(episodes)
    for episode_id in episodes:
        episode_erase(episode_id)
    prompts_erase(prompts)
    episodes_erase_left(study_id=person.study_id)
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
        note_left(person)
    group_lock(person.pk)  # after the study, as who looks for a group
    episodes = list(their_episodes(person).select_for_update())  # no step is written meanwhile
    seats = _seats(person)
    mark = mark_of(person)
    person.delete()
    Group.objects.filter(study=person.study_id, members=None).delete()
    left = [episode.pk for episode in episodes if _end_without(episode, seats.get(episode.pk, 0))]
    tell(person)
    receipt = receipt_make(person.study.slug, timezone.now())
    person_goes.send(Participant, study_id=person.study_id, receipt=receipt, mark=mark, by=by)
    return person, receipt, left


def _end_without(episode: Episode, seat: int) -> bool:
    """Nobody has the seat; the episode ends, unless others go on without them. Whether nobody else plays, or
    has played, in it."""
    seat_leave(episode_id=episode.pk, seat=seat)
    others = (episode.rounds, episode.practised_by, episode.first_practised_by)
    return not any(each.exists() for each in others)


def episodes_erase_left(*, study_id: int) -> int:
    """Erase what somebody who left has left because a process died: episodes of people that are over and
    belong to nobody; how many."""
    nobody = Episode.objects.filter(rounds=None, practised_by=None, first_practised_by=None, synthetic=False)
    over = nobody.filter(audience=audience_name(study_id)).exclude(status=Episode.Status.PLAYING)
    left = list(over.values_list("pk", flat=True))
    for episode_id in left:
        episode_erase(episode_id)
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
