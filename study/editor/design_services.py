"""Change a study's design in the database: save, copy, move or delete studies, conditions, items and parts.

The module also stores the outcomes and the members of a study. An outcome is what a participant gets at the
end, such as a completion code. Members are the staff who may see or edit the study.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import chain, count, product
from string import ascii_uppercase
from typing import Any, TypeVar

from django.db import models, transaction

from kitchen.infra.append_only import erasure_allowed
from kitchen.words.english_text import counted_noun
from study.design.demo_study_files import DEMO_FILE, READY_STUDIES
from study.design.models import Condition, Outcome, Study, StudyPart, SurveyItem, new_seed
from study.design.naming_rules import dependent_participants, describe_dependents
from study.design.questions.questionnaires import Instrument
from study.design.readiness_checks import blocking_problems
from study.design.study_errors import DesignError
from study.design.study_files import study_from_file
from study.pilot.previews import previews_erase
from study.researchers.models import Membership, SecurityEvent
from study.researchers.security_events import log_security_event


def study_save(*, study: Study, fields: Collection[str]) -> None:
    """Save only the study's fields in `fields`. Other fields may have changed in the database since the
    page was read."""
    study.save(update_fields=fields)


@transaction.atomic
def texts_save(*, study_id: int, language: str, texts: Mapping[str, str]) -> None:
    """Store translations of the study's texts in one language.

    `texts` has the translation by original text. An empty translation is removed. Texts that are not in
    `texts` keep their translations.
    """
    study = Study.objects.select_for_update().get(pk=study_id)
    known = {**study.texts.get(language, {}), **texts}
    study.texts = {**study.texts, language: {text: there for text, there in known.items() if there}}
    study.save(update_fields=["texts"])


def part_save(*, part: StudyPart) -> None:
    """Save a part of the study, such as the guide."""
    part.save()


@transaction.atomic
def condition_save(*, condition: Condition, renamed: bool = False) -> None:
    """Save a condition. A new condition is placed last.

    If its key changed (`renamed`), previews that use the old key are erased.
    """
    if condition.pk is None:
        condition.position = after_last(condition.study.conditions.values_list("position", flat=True))
    elif renamed:
        previews_erase(study_id=condition.study_id)
    condition.save()


def item_save(*, item: SurveyItem) -> None:
    """Save a survey item. A new item is placed last."""
    if item.pk is None:
        item.position = after_last(item.study.items.values_list("position", flat=True))
    item.save()


def item_switch(*, item: SurveyItem) -> bool:
    """Enable a disabled item, or disable an enabled one. Return whether it is now enabled."""
    SurveyItem.objects.filter(pk=item.pk).update(enabled=not item.enabled)
    return not item.enabled


def after_last(positions: Collection[int]) -> int:
    """Return the highest position plus 1, or 1 if there is none."""
    return max(positions, default=0) + 1


def unused_name(name: str, suffix: str, longest: int, taken: Callable[[str], bool]) -> str:
    """Return a name that is not taken: `name` plus `suffix`, shortened to `longest` characters.

    A number is added if that name is taken.
    """
    ends = chain([suffix], (f"{suffix}{number}" for number in count(2)))
    candidates = (f"{name[: longest - len(end)]}{end}" for end in ends)
    return next(one for one in candidates if not taken(one))


def is_name_of_copy(name: str, original: str) -> bool:
    """Return whether `condition_copy` could have made this name from a condition named `original`."""
    end = COPY_NUMBER.search(name)
    return end is not None and name == f"{original[: 80 - len(end[0])]}{end[0]}"


COPY_NUMBER = re.compile(r" copy\d*$")
"""Finds the suffix of a copied condition's name."""


def unused_label(study: Study) -> str:
    """Return the first of “Team A”, “Team B” … that no condition of the study uses.

    Participants see this label, so it does not say who plays.
    """
    taken = set(study.conditions.values_list("label", flat=True))
    return next(label for label in _labels() if label not in taken)


def _labels() -> Iterator[str]:
    """Yield the labels `Team A` to `Team Z`, then `Team AA`, `Team AB` and so on."""
    for length in count(1):
        yield from (f"Team {''.join(letters)}" for letters in product(ascii_uppercase, repeat=length))


@transaction.atomic
def study_ready(*, name: str, owner: Any) -> Study:
    """Create a study with a ready-made design (`READY_STUDIES`). If its name is taken, the next free name is
    used.

    The study is closed, and `owner` is its only member.
    """
    slug = unused_name(name.replace("_", "-"), "-study", 50, is_slug_taken)
    return study_create(slug=slug, owner=owner, begins_as=name)


@transaction.atomic
def study_create(*, slug: str, owner: Any, title: str = "", begins_as: str = "") -> Study:
    """Create a study without conditions, or with the ready-made design `begins_as` (a name in
    `READY_STUDIES`).

    Without a title, the ready-made study's title is used. The study is closed, and `owner` is its only
    member.
    """
    own: dict[str, Any] = {"slug": slug, "status": Study.Status.CLOSED, "seed": new_seed()}
    if title:
        own["title"] = title
    if begins_as:
        study = study_from_file(DEMO_FILE.with_name(READY_STUDIES[begins_as][1]), **own)
    else:
        study = Study.objects.create(**own)
    study.memberships.create(user=owner, role=Membership.Role.OWNER)
    return study


@transaction.atomic
def study_open(*, study_id: int, by: Any = None) -> None:
    """Open the study for participants. `by` is the user for the security log.

    Raises DesignError if a problem blocks the study.
    """
    study = Study.objects.select_for_update().get(pk=study_id)
    if missing := blocking_problems(study):
        raise DesignError(f"Not yet: {missing[0].words}")
    Study.objects.filter(pk=study_id).update(status=Study.Status.OPEN)
    log_security_event(SecurityEvent.Kind.STUDY_OPENED, user=by, study=study)


@transaction.atomic
def study_close(*, study_id: int, by: Any = None) -> None:
    """Close the study for new participants. Current participants can finish. `by` is the user for the
    security log."""
    Study.objects.filter(pk=study_id).update(status=Study.Status.CLOSED)
    log_security_event(SecurityEvent.Kind.STUDY_CLOSED, user=by, study=Study.objects.get(pk=study_id))


def study_delete(*, study_id: int) -> None:
    """Delete the study and its design. Raises DesignError if the study holds participants' data.

    Previews are erased first, one by one. If somebody enters meanwhile, the study is kept, but the erased
    previews are lost.
    """
    if why := study_deletion_problem(Study.objects.get(pk=study_id)):
        raise DesignError(why)
    previews_erase(study_id=study_id)
    _delete_without_previews(study_id)


@transaction.atomic
def _delete_without_previews(study_id: int) -> None:
    study = Study.objects.select_for_update().get(pk=study_id)
    if why := study_deletion_problem(study):
        raise DesignError(why)
    previews_erase(study_id=study_id)  # previews that began meanwhile
    with erasure_allowed():
        study.delete()


def study_deletion_problem(study: Study) -> str:
    """Return why a study cannot be deleted. Return an empty string if it can be deleted. Previews do not
    prevent a deletion."""
    people = study.participants.filter(synthetic=False, preview=False).count()
    if people:
        return (
            f"The study holds the data of {counted_noun(people, 'participant')}. Take the data and "
            "close it instead."
        )
    programs = study.participants.filter(synthetic=True, preview=False).count()
    return f"{_first_erase(programs)} of this study." if programs else ""


def _first_erase(programs: int) -> str:
    """Return the beginning of a message that asks the user to erase this number of synthetic participants
    first."""
    return f"First erase the {counted_noun(programs, 'synthetic participant')}"


@transaction.atomic
def member_set(*, study_id: int, user: Any, role: str) -> None:
    """Give a user this role in the study. Raises DesignError if the study would have no owner."""
    study = Study.objects.select_for_update().get(pk=study_id)
    if role != Membership.Role.OWNER:
        _keep_an_owner(study, user)
    Membership.objects.update_or_create(study=study, user=user, defaults={"role": role})


@transaction.atomic
def member_remove(*, study_id: int, user: Any) -> None:
    """Remove a user from the study's members. Raises DesignError if the study would have no owner."""
    study = Study.objects.select_for_update().get(pk=study_id)
    _keep_an_owner(study, user)
    study.memberships.filter(user=user).delete()


def _keep_an_owner(study: Study, leaving: Any) -> None:
    owners = study.memberships.filter(role=Membership.Role.OWNER)
    if owners.filter(user=leaving).exists() and not owners.exclude(user=leaving).exists():
        raise DesignError("A study needs an owner. Make somebody else an owner first.")


@transaction.atomic
def row_move(row: Condition | SurveyItem, *, by: int) -> None:
    """Move a condition or survey item one position up (`by=-1`) or down (`by=1`). An item moves among the
    items that are asked at the same point of the study."""
    Study.objects.select_for_update().get(pk=row.study_id)
    rows = _rows_beside(row)
    here = next(index for index, one in enumerate(rows) if one.pk == row.pk)
    there = min(max(here + by, 0), len(rows) - 1)
    places = _positions(rows)
    rows.insert(there, rows.pop(here))
    for place, one in zip(places, rows, strict=True):
        if one.position != place:
            type(row).objects.filter(pk=one.pk).update(position=place)


def _rows_beside(row: Condition | SurveyItem) -> list[Any]:
    if isinstance(row, SurveyItem):
        return list(SurveyItem.objects.filter(study=row.study_id, place=row.place))
    return list(Condition.objects.filter(study=row.study_id))


def _positions(rows: list[Any]) -> list[int]:
    """Return the positions of the rows. If some are equal, return 1, 2, 3, … instead."""
    positions = [one.position for one in rows]
    return positions if len(set(positions)) == len(positions) else list(range(1, len(positions) + 1))


@transaction.atomic
def condition_delete(*, condition: Condition) -> None:
    """Delete the condition and the previews that use it.

    Raises DesignError if a participant is planned to play the condition. Also raises it if active
    participants entered under a version of the study that has the condition.
    """
    _delete_row(condition, condition_deletion_problem, condition.rounds)


def _delete_row(row: Any, problem: Callable[[Any], str], uses: Any) -> None:
    Study.objects.select_for_update().get(pk=row.study_id)
    if why := problem(row):
        raise DesignError(why)
    if uses.exists():
        previews_erase(study_id=row.study_id)
    row.delete()


def condition_deletion_problem(condition: Condition) -> str:
    """Return why a condition cannot be deleted. Return an empty string if it can be deleted."""
    planned = condition.rounds.filter(participant__preview=False)
    if people := planned.filter(participant__synthetic=False).count():
        has = "has" if people == 1 else "have"
        return (
            f"{counted_noun(people, 'participant')} {has} {condition.name} in the plan, played or "
            f"still to come."
        )
    if programs := planned.count():
        return f"{_first_erase(programs)} who have {condition.name} in their plan."
    if number := dependent_participants(condition):
        return (
            f"{condition.name} stays: {describe_dependents(number)} and could not continue without it. "
            "Wait until nobody is taking part, or copy the study and remove it from the copy."
        )
    return ""


@transaction.atomic
def item_delete(*, item: SurveyItem) -> None:
    """Delete the survey item.

    Raises DesignError if participants answered the item, or if active participants may still answer it.
    Such an item can only be disabled.
    """
    _delete_row(item, item_deletion_problem, item.answers)


def item_deletion_problem(item: SurveyItem) -> str:
    """Return why a survey item cannot be deleted. Return an empty string if it can be deleted."""
    given = item.answers.filter(participant__preview=False)
    if given.filter(participant__synthetic=False).exists():
        return f"There are answers to “{item.measure}”. Switch it off instead."
    if programs := given.values("participant").distinct().count():
        return f"{_first_erase(programs)} who answered “{item.measure}”. Or switch it off."
    if number := dependent_participants(item):
        return (
            f"“{item.measure}” stays: {describe_dependents(number)} and could not continue without it. "
            "Switch it off instead: participants who enter from now on are not asked it. Or copy the "
            "study and delete it there."
        )
    return ""


@transaction.atomic
def instrument_add(*, study_id: int, instrument: Instrument, place: str = "") -> int:
    """Add a questionnaire's items after the study's last item. Return how many were added. `place` is the own
    page on which they are asked, or empty for their usual place.

    Raises DesignError if the study already has an item with the same key or measure.
    """
    study = Study.objects.select_for_update().get(pk=study_id)
    keys, measures = (set(study.items.values_list(name, flat=True)) for name in ("key", "measure"))
    doubled = [one.measure for one in instrument.items if one.key in keys or one.measure in measures]
    if doubled:
        raise DesignError(
            f"{instrument.title} has already been added, or the study has items of the same name: "
            f"{doubled[0]}."
        )
    last = study.items.aggregate(last=models.Max("position"))["last"] or 0
    for position, one in enumerate(instrument.items, start=last + 1):
        made = SurveyItem(study=study, position=position, **one.model_dump())
        if place:
            made.place, made.needs_teammates = place, False
        made.full_clean()
        made.save()
    return len(instrument.items)


@transaction.atomic
def outcomes_set(*, study_id: int, rows: Mapping[str, Mapping[str, str]]) -> None:
    """Store the code, address and text of each kind of end. `rows` has these values by kind. A kind with
    only empty values is deleted."""
    Study.objects.select_for_update().get(pk=study_id)
    for kind, said in rows.items():
        if any(said.values()):
            Outcome.objects.update_or_create(study_id=study_id, kind=kind, defaults=dict(said))
        else:
            Outcome.objects.filter(study_id=study_id, kind=kind).delete()


Row = TypeVar("Row", bound=models.Model)


def condition_copy(condition: Condition) -> Condition:
    """Copy a condition under an unused key, name and label, and return the copy. The copy is placed last."""
    others = list(condition.study.conditions.values_list("key", "name"))
    keys, names = {key for key, _ in others}, {name for _, name in others}
    return _copy_row(
        condition,
        key=unused_name(condition.key, "_copy", 50, keys.__contains__),
        name=unused_name(condition.name, " copy", 80, names.__contains__),
        label=unused_label(condition.study),
        position=after_last(condition.study.conditions.values_list("position", flat=True)),
    )


@transaction.atomic
def study_copy(study: Study, *, owner: Any, title: str = "", slug: str = "") -> Study:
    """Copy a study's design under another link, with a new seed, and return the copy.

    The copy is closed and has `owner` as its only member. Completion codes and the closing date are not
    copied, because they belong to the first study.
    """
    made = _copy_row(
        study,
        **FRESH,
        slug=slug or unused_name(study.slug, "-copy", 50, is_slug_taken),
        title=title or f"{study.title[:113]} (copy)",
        seed=new_seed(),
    )
    made.memberships.create(user=owner, role=Membership.Role.OWNER)
    for row in (*study.conditions.all(), *study.items.all(), *study.parts.all(), *_outcomes(study)):
        _copy_row(row, study=made)
    for row in (*study.own_pages.all(), *study.media.filter(replaced_at=None)):
        _copy_row(row, study=made)
    return made


FRESH: dict[str, Any] = {
    "status": Study.Status.CLOSED,
    "closes_at": None,
    "entered": 0,
    "withdrawn": 0,
    "withdrawn_synthetic": 0,
    "budget_id": None,
    "shared": False,
}
"""The fields that a copy does not take over."""


def _outcomes(study: Study) -> Iterator[Outcome]:
    """Yield the outcomes of a study for its copy. Completion codes are left out, and so are addresses that
    may contain a code."""
    for row in study.outcomes.all():
        row.code, row.url = "", row.url if "{code}" in row.url else ""
        if row.url or row.text:
            yield row


def _copy_row(row: Row, **changes: object) -> Row:
    names = [field.attname for field in row._meta.concrete_fields if not field.primary_key]
    made = type(row)(**{name: getattr(row, name) for name in names})
    for name, value in changes.items():
        setattr(made, name, value)
    made.save()
    return made


def is_slug_taken(slug: str) -> bool:
    """Return whether a study has this name in the link."""
    return Study.objects.filter(slug=slug).exists()
