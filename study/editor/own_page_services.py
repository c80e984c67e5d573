"""Save, move, copy and delete the pages that researchers wrote, and move parts."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction

from kitchen.words.english_text import counted_noun
from study.design.blueprint import blueprint_of
from study.design.models import OwnPage, Study
from study.design.own_pages import PREFIX
from study.design.part_order import (
    FIXED,
    order_problem,
    parts_before_rounds,
    places_of_part,
    stored_order,
    with_part_before,
)
from study.design.study_errors import DesignError
from study.editor.design_services import after_last
from study.editor.item_list import item_copy
from study.editor.own_page_form import occupied_places, page_places, unused_key


@transaction.atomic
def own_page_save(*, page: OwnPage) -> None:
    """Save a page. A new page comes last at its place. The questions of a page stay on it if it gets another
    key."""
    if page.pk is None:
        page.position = after_last(page.study.own_pages.values_list("position", flat=True))
    elif former := OwnPage.objects.filter(pk=page.pk).values_list("key", flat=True).first():
        page.study.items.filter(place=f"{PREFIX}{former}").update(place=page.plan.page)
    page.save()


@transaction.atomic
def own_page_copy(*, page: OwnPage) -> OwnPage:
    """Copy a page and its questions under unused keys, and return the copy. It comes last at the same place.
    Raises DesignError if somebody deleted the page meanwhile."""
    study = Study.objects.select_for_update().get(pk=page.study_id)
    copy = _current(page, study.own_pages.all())
    asked = list(study.items.filter(place=copy.plan.page))
    copy.pk, copy.key = None, unused_key(copy)
    copy._state.adding = True
    own_page_save(page=copy)
    for item in asked:
        item_copy(item, copy.plan.page)
    return copy


@transaction.atomic
def own_page_delete(*, page: OwnPage) -> None:
    """Delete a page. Participants who entered before still see it. Raises DesignError if it has questions
    that are on."""
    if number := page.study.items.filter(place=page.plan.page, enabled=True).count():
        asks = f"“{page.title}” asks {counted_noun(number, 'question')}"
        raise DesignError(f"{asks}. Delete them, switch them off, or choose another place for them first.")
    page.delete()


@transaction.atomic
def own_page_move(*, page: OwnPage, by: int) -> None:
    """Move a page by one (`by` is -1 or 1): past the next page at its place, or else to the next place.

    Raises DesignError if there is no place further on, or if somebody deleted the page meanwhile.
    """
    study = Study.objects.select_for_update().get(pk=page.study_id)
    rows = list(study.own_pages.all())
    page = _current(page, rows)
    design = blueprint_of(study)
    order, offered = occupied_places(design, {one.before for one in rows}), page_places(design)
    at = {place: [one for one in rows if one.before == place] for place in order}
    here = at[page.before]
    now = here.index(page)
    moved = here.pop(now)
    if 0 <= now + by <= len(here):
        here.insert(now + by, moved)
    else:
        number = order.index(page.before)
        ahead = order[number + 1 :] if by > 0 else order[:number][::-1]
        there = next((place for place in ahead if place in offered), None)
        if there is None:
            raise DesignError(f"{page.title}: it stands {'first' if by < 0 else 'last'} already.")
        moved.before = there
        at[there].insert(len(at[there]) if by < 0 else 0, moved)
    _store_order([one for place in order for one in at[place]])


@transaction.atomic
def own_page_put(*, page: OwnPage, before: str, number: int) -> None:
    """Move a page to the place `before`, as number `number` (from 0) of the pages there. Raises DesignError
    if somebody deleted the page meanwhile."""
    study = Study.objects.select_for_update().get(pk=page.study_id)
    rows = list(study.own_pages.all())
    moved = _current(page, rows)
    moved.before = before
    here = [one for one in rows if one.before == before and one.pk != page.pk]
    here.insert(number, moved)
    order = occupied_places(blueprint_of(study), {one.before for one in rows})
    others = {place: [one for one in rows if one.before == place] for place in order}
    _store_order([one for place in order for one in (here if place == before else others[place])])


@transaction.atomic
def part_put(*, study_id: int, kind: str, before: str) -> None:
    """Move a part of the study before another one, or before the first round. Raises DesignError if it cannot
    be there."""
    study = Study.objects.select_for_update().get(pk=study_id)
    design = blueprint_of(study)
    if before not in places_of_part(design, kind):
        order = with_part_before(design, kind, before) if kind in parts_before_rounds(design) else ()
        why = (order and order_problem(order, design)) or FIXED.get(kind, "It is there already.")
        raise DesignError(f"Nothing was moved. {why}")
    study.part_order = stored_order(with_part_before(design, kind, before))
    study.save(update_fields=["part_order"])


def _current(page: OwnPage, rows: Iterable[OwnPage]) -> OwnPage:
    """Return the page's row as it is now among the study's pages `rows`. Raises DesignError if there is
    none."""
    found = next((one for one in rows if one.pk == page.pk), None)
    if found is None:
        raise DesignError(f"Nothing was done: somebody deleted “{page.title}” meanwhile.")
    return found


def _store_order(rows: list[OwnPage]) -> None:
    """Store the place of each page, and its position in this order."""
    for position, one in enumerate(rows, start=1):
        OwnPage.objects.filter(pk=one.pk).update(position=position, before=one.before)
