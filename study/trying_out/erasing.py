"""Erasing what a dry run left, so that the study is as before it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import IntegrityError
from django.db.models import Q

from kitchen.play.erasing import episode_erase
from kitchen.play.models import Episode
from study.design.errors import DesignError
from study.design.models import Study
from study.people.leaving import participant_withdraw
from study.people.models import Participant
from study.people.news import audience_name
from study.queue import ask_erasing
from study.trying_out.synthetic.recordings import recordings_left


def erasing_ask(*, study_id: int) -> None:
    """Have a worker erase every program that took part; DesignError if none can be asked."""
    if not ask_erasing(study_id):
        raise DesignError("Nothing was erased: Redis, which hands work to the workers, does not answer.")


def synthetic_erase(*, study_id: int) -> int:
    """Erase every program that took part, and the count of those that withdrew; how many were erased.

    One after another, as withdrawals are: what is stopped in the middle leaves whole participants.
    """
    programs = Participant.objects.filter(study=study_id, synthetic=True, preview=False)
    erased = sum(_erase(participant_id) for participant_id in list(programs.values_list("pk", flat=True)))
    episodes_erase_left(study_id=study_id)
    Study.objects.filter(pk=study_id).update(withdrawn_synthetic=0)
    return erased


def episodes_erase_left(*, study_id: int) -> int:
    """Erase, one after another, what `make_synthetic` wrote before it was stopped: episodes of programs in
    which nobody plays; how many."""
    nobody = Q(rounds=None, practised_by=None, synthetic=True)
    left = Episode.objects.filter(nobody, audience=audience_name(study_id)) | recordings_left()
    ids = list(left.values_list("pk", flat=True))
    for pk in ids:
        episode_erase(pk)
    return len(ids)


def _erase(participant_id: int) -> bool:
    """False if it is gone meanwhile."""
    try:
        participant_withdraw(participant_id=participant_id)
    except Participant.DoesNotExist:
        return False
    return True


@contextmanager
def unless_erased(study: Study) -> Iterator[None]:
    """Programs are made here; DesignError where somebody erases programs of the study meanwhile."""
    try:
        yield
    except (IntegrityError, Episode.DoesNotExist) as error:
        rest = "those that are whole stay, erase_synthetic erases the rest"
        raise DesignError(f"programs of {study.slug} were erased meanwhile: {rest}") from error
