"""Store codes, raters and marks, and deal the episodes of a study out to its raters.

Every function runs in one transaction. A refusal is an `AnnotationError`, whose message is for the user.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Iterable, Mapping
from math import ceil
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from kitchen.infra.storable_json import storable_text
from kitchen.play.models import Episode
from study.design.models import Study
from study.participants.annotations import (
    LONGEST_NOTE,
    Annotation,
    AnnotationCode,
    AnnotationPlan,
    EpisodeRating,
    Rater,
)
from study.participants.models import Round
from study.researchers.permissions import RIGHTS

MOST_MARKS = 500
"""The most marks of one rater on one episode."""
RELEASED = "You have released your marks: they no longer change."


class AnnotationError(ValueError):
    """Raised if something about annotation cannot be done. The message says why."""


@transaction.atomic
def code_save(*, study: Study, code_id: int | None, values: Mapping[str, str]) -> None:
    """Create a code, or change one that no mark uses. `values` has name, key, colour and description."""
    code = AnnotationCode(study=study)
    if code_id is not None:
        code = _code(study, code_id)
        if code.marks.exists():
            raise AnnotationError(f"“{code.name}” is in use: it can only be retired.")
    for name, value in values.items():
        setattr(code, name, value)
    try:
        with transaction.atomic():
            code.save()
    except IntegrityError:
        raise AnnotationError("Another code has this name or this key.") from None


@transaction.atomic
def code_remove(*, study: Study, code_id: int, retire: bool = False) -> bool:
    """Delete a code that no mark uses, or retire one in use. With `retire`, it is retired in any case. Return
    True if it was deleted."""
    code = _code(study, code_id)
    if retire or code.marks.exists():
        AnnotationCode.objects.filter(pk=code.pk, retired_at=None).update(retired_at=timezone.now())
        return False
    code.delete()
    return True


@transaction.atomic
def code_restore(*, study: Study, code_id: int) -> None:
    """Offer a retired code again."""
    try:
        with transaction.atomic():
            AnnotationCode.objects.filter(study=study, pk=code_id).update(retired_at=None)
    except IntegrityError:
        raise AnnotationError("Another code has its key by now.") from None


def _code(study: Study, code_id: int) -> AnnotationCode:
    found = AnnotationCode.objects.select_for_update().filter(study=study, pk=code_id).first()
    if found is None:
        raise AnnotationError("This code no longer exists.")
    return found


def possible_raters(study: Study) -> QuerySet[User]:
    """Return the members of the study whose role lets them rate."""
    roles = [role for role, rights in RIGHTS.items() if "edit" in rights]
    members = study.memberships.filter(role__in=roles).values("user")
    return User.objects.filter(pk__in=members, is_active=True).order_by("username")


@transaction.atomic
def raters_assign(*, study: Study, users: Iterable[User], plan: Mapping[str, Any]) -> int:
    """Store the plan, add these users as raters, and deal the episodes out. Return the number of new ratings.

    `plan` has the fields of `AnnotationPlan` that the user chooses. Episodes that were dealt out before stay
    where they are, so a later call only adds new episodes and new raters.
    """
    Study.objects.select_for_update().get(pk=study.pk)
    stored, _ = AnnotationPlan.objects.update_or_create(
        study=study, defaults=dict(plan), create_defaults={**plan, "seed": secrets.randbelow(2**31)}
    )
    known, last = {one.user_id for one in study.raters.all()}, study.raters.count()
    for user in users:
        if user.pk not in known:
            last += 1
            Rater.objects.create(study=study, user=user, user_name=user.get_username(), number=last)
    raters = list(study.raters.filter(released_at=None, user__in=possible_raters(study)))
    return _deal(stored, raters) if raters else 0


def _deal(plan: AnnotationPlan, raters: list[Rater]) -> int:
    """Give episodes to raters who have not released: the drawn share of all, of it the overlap to everybody,
    and each of the others to the rater who has fewest.

    The overlap is drawn anew among the episodes that came since the last call, so that it does not rest on
    those of the first participants. Episodes that several raters have already stay in it.
    """
    given: dict[int, set[int]] = {}
    for episode, rater in EpisodeRating.objects.filter(rater__study=plan.study).values_list(
        "episode", "rater"
    ):
        given.setdefault(episode, set()).add(rater)
    drawn = _drawn(plan)
    wanted = ceil(len(drawn) * plan.share / 100)
    known = [one for one in drawn if one in given]
    new_ones = [one for one in drawn if one not in given][: max(0, wanted - len(known))]
    everybody = {rater.pk for rater in raters}
    shared = {one for one in known if len(given[one]) > 1}
    missing = max(0, ceil(len(known) * plan.overlap / 100) - len(shared))
    shared |= {*[one for one in known if one not in shared][:missing]}
    shared |= {*new_ones[: ceil(len(new_ones) * plan.overlap / 100)]}
    load = {pk: sum(pk in theirs for theirs in given.values()) for pk in sorted(everybody)}
    new = list[EpisodeRating]()
    for episode in (*known, *new_ones):
        theirs = given.get(episode, set())
        fewest = min(load, key=lambda pk: load[pk])
        wants = everybody if episode in shared else (set() if theirs else {fewest})
        for pk in sorted(wants - theirs):
            new.append(EpisodeRating(rater_id=pk, episode_id=episode))
            load[pk] += 1
    EpisodeRating.objects.bulk_create(new, batch_size=500)
    return len(new)


def _drawn(plan: AnnotationPlan) -> list[int]:
    """Return the ids of the episodes that may be rated, in a random order. The order of two episodes never
    changes when others are added."""
    played = Round.objects.filter(participant__study=plan.study, participant__preview=False)
    played = played.filter(participant__excluded_at=None, left_out_at=None, episode__step__gt=0)
    played = played.exclude(episode__status=Episode.Status.PLAYING)
    if not plan.with_programs:
        played = played.filter(participant__synthetic=False)
    found = played.order_by().values_list("episode_id", "episode__key").distinct()
    return [pk for pk, key in sorted(found, key=lambda one: _draw(plan.seed, one[1]))]


def _draw(seed: int, key: Any) -> float:
    return random.Random(f"{seed} {key}").random()  # noqa: S311 - a draw of a sample, not a secret


@transaction.atomic
def marks_release(*, study: Study, user: User | None = None) -> int:
    """Release the marks of this user, or of all raters if `user` is None. Return the number of raters whose
    marks were released now."""
    raters = study.raters.filter(released_at=None)
    return (raters if user is None else raters.filter(user=user)).update(released_at=timezone.now())


def _rater(study: Study, user: User) -> Rater:
    """Return and lock this user as a rater whose marks may still change."""
    rater = study.raters.select_for_update().filter(user=user).first()
    if rater is None:
        raise AnnotationError("You are not a rater of this study.")
    if rater.released_at:
        raise AnnotationError(RELEASED)
    return rater


def _rating(study: Study, user: User, episode: Episode) -> EpisodeRating:
    """Return and lock this user's rating of an episode, which may still change."""
    found = _rater(study, user).ratings.filter(episode=episode).first()
    if found is None:
        raise AnnotationError("This episode is not yours to rate.")
    return found


@transaction.atomic
def rating_take(*, study: Study, user: User, episode: Episode) -> None:
    """Let a rater rate an episode that was not dealt to them."""
    EpisodeRating.objects.get_or_create(rater=_rater(study, user), episode=episode)


@transaction.atomic
def rating_done(*, study: Study, user: User, episode: Episode, done: bool) -> None:
    """Store whether the rater is done with an episode. Only episodes that are done count."""
    rating = _rating(study, user, episode)
    EpisodeRating.objects.filter(pk=rating.pk).update(done_at=timezone.now() if done else None)


@transaction.atomic
def mark_make(
    *, study: Study, user: User, episode: Episode, code_id: int, first: int, last: int
) -> Annotation:
    """Mark the steps from `first` to `last` with a code, and return the mark. The same mark is stored
    once."""
    rating, code = _rating(study, user, episode), _code(study, code_id)
    first, last = min(first, last), max(first, last)
    if not 1 <= first <= last <= episode.step:
        raise AnnotationError("The episode has no such step.")
    if code.retired_at:
        raise AnnotationError(f"“{code.name}” is retired.")
    if rating.marks.count() >= MOST_MARKS:
        raise AnnotationError(f"An episode has at most {MOST_MARKS} marks of one rater.")
    mark, _ = Annotation.objects.get_or_create(rating=rating, code=code, first=first, last=last)
    return mark


@transaction.atomic
def mark_remove(*, study: Study, user: User, episode: Episode, mark_id: int | None = None) -> str:
    """Remove a mark of this user, or the newest one if `mark_id` is None. Return what it was, or an empty
    string if there is none."""
    marks = _rating(study, user, episode).marks.select_related("code")
    mark = marks.filter(pk=mark_id).first() if mark_id is not None else marks.order_by("-id").first()
    if mark is None:
        return ""
    told = str(mark)
    mark.delete()
    return told


@transaction.atomic
def mark_note(*, study: Study, user: User, episode: Episode, mark_id: int, note: str) -> bool:
    """Store the note of a mark. Return False if there is no such mark."""
    note = storable_text(note.strip())
    if len(note) > LONGEST_NOTE:
        raise AnnotationError(f"A note has at most {LONGEST_NOTE} characters.")
    rating = _rating(study, user, episode)
    return bool(rating.marks.filter(pk=mark_id).update(note=note))


def visible_marks(study: Study, user: Any, episode_id: int, *, revealed: bool) -> list[Annotation]:
    """Return the marks on an episode that this user may see: their own and, if all are `revealed`, those of
    all raters."""
    marks = Annotation.objects.filter(rating__rater__study=study, rating__episode=episode_id)
    if not revealed:
        marks = marks.filter(rating__rater__user=user)
    related = marks.select_related("code", "rating__rater").annotate(number=F("rating__rater__number"))
    return list(related)
