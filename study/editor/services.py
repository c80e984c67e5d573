"""What researchers do to a design beside filling in a form: members, orders of rows, states, deleting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import models, transaction

from kitchen.words.counting import counted
from study.design.bound import bound, bound_words
from study.design.demo import DEMO, READY
from study.design.errors import DesignError
from study.design.files import study_from_file
from study.design.free_names import free_name
from study.design.models import Condition, Outcome, Study, SurveyItem, new_seed
from study.design.questions.instruments import Instrument
from study.design.readiness import hindrances
from study.researchers.models import Membership, SecurityEvent
from study.researchers.security import security_note
from study.trying_out.previews import previews_erase


@transaction.atomic
def study_ready(*, name: str, owner: Any) -> Study:
    """A ready one (`READY`) as it is, under its own name or the next that is free: closed, its owner the only
    member."""

    def is_taken(slug: str) -> bool:
        return Study.objects.filter(slug=slug).exists()

    slug = free_name(name.replace("_", "-"), "-study", 50, is_taken)
    return study_create(slug=slug, owner=owner, begins_as=name)


@transaction.atomic
def study_create(*, slug: str, owner: Any, title: str = "", begins_as: str = "") -> Study:
    """A study without conditions, or with the design of a ready one (`READY`), and with its title where none
    is given: closed, its owner the only member."""
    own: dict[str, Any] = {"slug": slug, "status": Study.Status.CLOSED, "seed": new_seed()}
    if title:
        own["title"] = title
    if begins_as:
        study = study_from_file(DEMO.with_name(READY[begins_as][1]), **own)
    else:
        study = Study.objects.create(**own)
    study.memberships.create(user=owner, role=Membership.Role.OWNER)
    return study


@transaction.atomic
def study_open(*, study_id: int, by: Any = None) -> None:
    """The link takes participants from now on, as this user wants. DesignError if they would meet something
    unfinished."""
    study = Study.objects.select_for_update().get(pk=study_id)
    if missing := hindrances(study):
        raise DesignError(f"Not yet: {missing[0].words}")
    Study.objects.filter(pk=study_id).update(status=Study.Status.OPEN)
    security_note(SecurityEvent.Kind.STUDY_OPENED, user=by, study=study)


@transaction.atomic
def study_close(*, study_id: int, by: Any = None) -> None:
    """Nobody new from now on, as this user wants; those who play can finish."""
    Study.objects.filter(pk=study_id).update(status=Study.Status.CLOSED)
    security_note(SecurityEvent.Kind.STUDY_CLOSED, user=by, study=Study.objects.get(pk=study_id))


def study_delete(*, study_id: int) -> None:
    """The study and all that was designed. DesignError while it holds participants' data.

    Previews go first, one after another; they are gone also if somebody enters meanwhile and the study stays.
    """
    if why := why_study_stays(Study.objects.get(pk=study_id)):
        raise DesignError(why)
    previews_erase(study_id=study_id)
    _delete_without_previews(study_id)


@transaction.atomic
def _delete_without_previews(study_id: int) -> None:
    study = Study.objects.select_for_update().get(pk=study_id)
    if why := why_study_stays(study):
        raise DesignError(why)
    previews_erase(study_id=study_id)  # those that were begun meanwhile
    study.delete()


def why_study_stays(study: Study) -> str:
    """What stands against deleting a study; empty if nothing does. Previews are erased with it."""
    people = study.participants.filter(synthetic=False, preview=False).count()
    if people:
        return f"It holds the data of {counted(people, 'participant')}. Take the data and close it instead."
    programs = study.participants.filter(synthetic=True, preview=False).count()
    return f"{_first_erase(programs)} of this study." if programs else ""


def _first_erase(programs: int) -> str:
    """Begins a sentence; owners find the button in the design."""
    return f"First erase the {counted(programs, 'synthetic participant')}"


@transaction.atomic
def member_set(*, study_id: int, user: Any, role: str) -> None:
    """This person has this role from now on. DesignError if nobody would own the study."""
    study = Study.objects.select_for_update().get(pk=study_id)
    if role != Membership.Role.OWNER:
        _keep_an_owner(study, user)
    Membership.objects.update_or_create(study=study, user=user, defaults={"role": role})


@transaction.atomic
def member_remove(*, study_id: int, user: Any) -> None:
    """This person has no role any more. DesignError if nobody would own the study."""
    study = Study.objects.select_for_update().get(pk=study_id)
    _keep_an_owner(study, user)
    study.memberships.filter(user=user).delete()


def _keep_an_owner(study: Study, leaving: Any) -> None:
    owners = study.memberships.filter(role=Membership.Role.OWNER)
    if owners.filter(user=leaving).exists() and not owners.exclude(user=leaving).exists():
        raise DesignError("A study needs an owner. Make somebody else one first.")


@transaction.atomic
def row_move(row: Condition | SurveyItem, *, by: int) -> None:
    """One place up (-1) or down (1) among its like: a study's conditions, or its items at one place."""
    Study.objects.select_for_update().get(pk=row.study_id)
    rows = _like(row)
    here = next(index for index, one in enumerate(rows) if one.pk == row.pk)
    there = min(max(here + by, 0), len(rows) - 1)
    places = _places(rows)
    rows.insert(there, rows.pop(here))
    for place, one in zip(places, rows, strict=True):
        if one.position != place:
            type(row).objects.filter(pk=one.pk).update(position=place)


def _like(row: Condition | SurveyItem) -> list[Any]:
    if isinstance(row, SurveyItem):
        return list(SurveyItem.objects.filter(study=row.study_id, place=row.place))
    return list(Condition.objects.filter(study=row.study_id))


def _places(rows: list[Any]) -> list[int]:
    """The positions that the rows have, or 1, 2, 3 … where two share one."""
    positions = [one.position for one in rows]
    return positions if len(set(positions)) == len(positions) else list(range(1, len(positions) + 1))


@transaction.atomic
def condition_delete(*, condition: Condition) -> None:
    """The condition, and whatever staff left by trying it. DesignError if participants have it in their
    plan, or will have: they entered under a version that names it."""
    Study.objects.select_for_update().get(pk=condition.study_id)
    if why := why_condition_stays(condition):
        raise DesignError(why)
    if condition.rounds.exists():
        previews_erase(study_id=condition.study_id)
    condition.delete()


def why_condition_stays(condition: Condition) -> str:
    """What stands against deleting a condition; empty if nothing does."""
    planned = condition.rounds.filter(participant__preview=False)
    if people := planned.filter(participant__synthetic=False).count():
        has = "has" if people == 1 else "have"
        return (
            f"{counted(people, 'participant')} {has} {condition.name} in the plan, played or still to come."
        )
    if programs := planned.count():
        return f"{_first_erase(programs)} who have {condition.name} in their plan."
    if number := bound(condition):
        return (
            f"{condition.name} stays: {bound_words(number)} and could not go on without it. Wait until "
            "nobody is on the way, or copy the study and take it out of the copy."
        )
    return ""


@transaction.atomic
def item_delete(*, item: SurveyItem) -> None:
    """The item. DesignError if it was answered, or will be by those on the way: then it can only be switched
    off."""
    Study.objects.select_for_update().get(pk=item.study_id)
    if why := why_item_stays(item):
        raise DesignError(why)
    if item.answers.exists():
        previews_erase(study_id=item.study_id)
    item.delete()


def why_item_stays(item: SurveyItem) -> str:
    """What stands against deleting an item; empty if nothing does."""
    given = item.answers.filter(participant__preview=False)
    if given.filter(participant__synthetic=False).exists():
        return f"There are answers to “{item.measure}”. Switch it off instead."
    if programs := given.values("participant").distinct().count():
        return f"{_first_erase(programs)} who answered “{item.measure}”. Or switch it off."
    if number := bound(item):
        return (
            f"“{item.measure}” stays: {bound_words(number)} and could not go on without it. Switch it off "
            "instead: who comes from now on is not asked it. Or copy the study and delete it there."
        )
    return ""


@transaction.atomic
def instrument_add(*, study_id: int, instrument: Instrument) -> int:
    """Its items come last where they are asked. DesignError if one is there already; how many were added."""
    study = Study.objects.select_for_update().get(pk=study_id)
    keys, measures = (set(study.items.values_list(name, flat=True)) for name in ("key", "measure"))
    doubled = [one.measure for one in instrument.items if one.key in keys or one.measure in measures]
    if doubled:
        raise DesignError(f"{instrument.title} is there already, or items of the same name: {doubled[0]}.")
    last = study.items.aggregate(last=models.Max("position"))["last"] or 0
    for position, one in enumerate(instrument.items, start=last + 1):
        made = SurveyItem(study=study, position=position, **one.model_dump())
        made.full_clean()
        made.save()
    return len(instrument.items)


@transaction.atomic
def outcomes_set(*, study_id: int, rows: Mapping[str, Mapping[str, str]]) -> None:
    """What each kind of end gives; a kind of which nothing is said has no row."""
    Study.objects.select_for_update().get(pk=study_id)
    for kind, said in rows.items():
        if any(said.values()):
            Outcome.objects.update_or_create(study_id=study_id, kind=kind, defaults=dict(said))
        else:
            Outcome.objects.filter(study_id=study_id, kind=kind).delete()
