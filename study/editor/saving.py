"""Storing what the forms of the design were filled in with, and the switch of an item."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from django.db import transaction

from study.design.models import Condition, Study, StudyPart, SurveyItem
from study.trying_out.previews import previews_erase


def study_save(*, study: Study, fields: Collection[str]) -> None:
    """These fields and nothing else: somebody may have entered since the page was read."""
    study.save(update_fields=fields)


@transaction.atomic
def texts_save(*, study_id: int, language: str, texts: Mapping[str, str]) -> None:
    """Of these texts of the study what they are in another language; one that is empty is not translated.
    Other texts keep what they have, also those that nobody meets now."""
    study = Study.objects.select_for_update().get(pk=study_id)
    known = {**study.texts.get(language, {}), **texts}
    study.texts = {**study.texts, language: {text: there for text, there in known.items() if there}}
    study.save(update_fields=["texts"])


def part_save(*, part: StudyPart) -> None:
    """As it is."""
    part.save()


@transaction.atomic
def condition_save(*, condition: Condition, renamed: bool = False) -> None:
    """A new one comes last. Where its key is another one, previews that know the old one are erased."""
    if condition.pk is None:
        condition.position = after_last(condition.study.conditions.values_list("position", flat=True))
    elif renamed:
        previews_erase(study_id=condition.study_id)
    condition.save()


def item_save(*, item: SurveyItem) -> None:
    """A new one comes last."""
    if item.pk is None:
        item.position = after_last(item.study.items.values_list("position", flat=True))
    item.save()


def item_switch(*, item: SurveyItem) -> bool:
    """Off if it was on, and the other way round; whether it is on now."""
    SurveyItem.objects.filter(pk=item.pk).update(enabled=not item.enabled)
    return not item.enabled


def after_last(positions: Collection[int]) -> int:
    """1 where there is nothing yet."""
    return max(positions, default=0) + 1
