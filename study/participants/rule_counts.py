"""Count the participants that the rule of a page or part compares: quotas.

People are counted among people and programs among programs. Previews, and the participant whose page it is,
do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.db.models import Q, QuerySet

from study.design.own_pages import OwnPagePlan, ShownByRule, counted_by, screen_out_reason
from study.participants.models import Answer, Participant


def rule_counts(person: Participant, page: ShownByRule, answers: Mapping[str, Any]) -> dict[str, int]:
    """Return the numbers that the page's rule compares, by what it names. `answers` are the participant's
    answers by item key. Without counts in the rule, nothing is read."""
    return {what: _count(person, page, what, answers) for what in counted_by(page)}


def _count(person: Participant, page: ShownByRule, what: str, answers: Mapping[str, Any]) -> int:
    others = Participant.objects.filter(study=person.study_id, preview=False, synthetic=person.synthetic)
    others = others.exclude(pk=person.pk)
    source, _, name = what.partition(":")
    if source == "same":
        return _with_answer(others, name, answers.get(name))
    count: Callable[[], int] = {
        "finished": lambda: _finished(others).count(),
        "group": lambda: _finished(others).filter(between_group=person.between_group).count(),
        "shown": lambda: _shown(others, page).count(),
    }.get(name, lambda: 0)
    return count()


def _finished(people: QuerySet[Participant]) -> QuerySet[Participant]:
    return people.filter(status=Participant.Status.COMPLETE)


def _shown(people: QuerySet[Participant], page: ShownByRule) -> QuerySet[Participant]:
    seen = Q(visits__page=page.page, visits__loads__gt=0)
    if isinstance(page, OwnPagePlan):
        seen |= Q(end_reason=screen_out_reason(page))
    return people.filter(seen).distinct()


def _with_answer(people: QuerySet[Participant], key: str, value: Any) -> int:
    """Return how many people finished with this answer. An answer that is not given is shared by nobody."""
    if value is None:
        return 0
    given = Answer.objects.filter(participant__in=_finished(people), item__key=key, value=value)
    return given.values("participant").distinct().count()
