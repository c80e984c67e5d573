"""Coming to an end: complete or not, or erased."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from kitchen.play.calls import prompts_erase_unused, prompts_of
from kitchen.play.models import Episode, Seat, new_key
from kitchen.play.services import episode_abandon, episode_end
from study.design.models import Outcome, Study
from study.people.marks import mark_of
from study.people.models import Participant
from study.people.news import tell
from study.people.receipts import LeavingReceipt, receipt_make
from study.people.signals import person_erased
from study.people.visits import plays_done

IDLE = "nothing happened for too long"
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
    are complete; empty for none."""
    own = person.completion_code if person.status == Participant.Status.COMPLETE else ""
    return codes.get(person.status) or own


@transaction.atomic
def participant_end(*, participant_id: int, status: str, reason: str = "") -> bool:
    """End a participant's way before its end, and the episode that runs, so that nothing goes on costing
    money; the data stay. False if it was over already."""
    person = Participant.objects.select_for_update().get(pk=participant_id)
    if person.status != Participant.Status.ACTIVE:
        return False
    finish(person, status, reason)
    running = their_episodes(person).filter(status=Episode.Status.PLAYING)
    for episode_id in running.values_list("pk", flat=True):
        if status == Participant.Status.TIMED_OUT:
            episode_abandon(episode_id=episode_id, reason=reason or IDLE)
        else:
            episode_end(episode_id=episode_id, reason=reason or f"participant: {status}")
    return True


def their_episodes(person: Participant) -> QuerySet[Episode]:
    """Every episode that this person plays in or played in; its rows can be locked."""
    mine = Q(rounds__participant=person) | Q(practised_by=person)
    return Episode.objects.filter(pk__in=Episode.objects.filter(mine).values("pk"))


@transaction.atomic
def participant_withdraw(*, participant_id: int) -> LeavingReceipt:
    """Erase everything this person left, row by row; what stays is the study's count.

    Participant.DoesNotExist if it was erased already.
    """
    person = Participant.objects.select_for_update().get(pk=participant_id)
    episodes = list(their_episodes(person).select_for_update())  # no step is written meanwhile
    prompts = prompts_of(episode.pk for episode in episodes)
    seats = dict(person.rounds.exclude(episode=None).values_list("episode", "seat"))
    if not person.preview:
        counter = "withdrawn_synthetic" if person.synthetic else "withdrawn"
        Study.objects.filter(pk=person.study_id).update(**{counter: F(counter) + 1})
    mark = mark_of(person)
    person.delete()
    for episode in episodes:
        _erase(episode, seats.get(episode.pk, 0))
    prompts_erase_unused(prompts)
    tell(person)
    told = partial(person_erased.send, Participant, study_id=person.study_id, mark=mark)
    transaction.on_commit(told, robust=True)  # it is done: whoever hears of it cannot undo it
    transaction.on_commit(_overwrite)
    return receipt_make(person.study.slug, timezone.now())


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


def _erase(episode: Episode, seat: int) -> None:
    """Erase an episode; one in which somebody else plays, too, is theirs: it ends, nobody has the seat."""
    if not episode.rounds.exists() and not episode.practised_by.exists():
        episode.delete()
        return
    Seat.objects.filter(episode=episode, number=seat).update(key=new_key(), page="")
    episode_abandon(episode_id=episode.pk, reason="somebody who played in it left the study")
