"""An item of a questionnaire's file: it keeps to more than one in a form, as nobody looks at it there. Plain
Python."""

from __future__ import annotations

from collections.abc import Iterator

from kitchen.contract.data_files import Source
from study.design.names import item_key_problem, measure_problem
from study.design.questions.fields import LONGEST, ItemPlan
from study.design.questions.kinds import KIND_FIELDS, KINDS, kind_of
from study.design.questions.rules import item_problems


class FileItem(ItemPlan):
    """As it stands in the file: the questionnaire says where all of it is asked."""

    @classmethod
    def known_keys(cls) -> tuple[str, ...]:
        """All but the place."""
        return tuple(name for name in ItemPlan.known_keys() if name != "place")


def item_of(told: FileItem, source: Source, place: str) -> ItemPlan:
    """The item that stands there; DataError for whatever cannot be asked at this place."""
    item = ItemPlan(**told.model_dump() | {"place": place})
    for field, words in (*_written_wrong(told), *item_problems(item).items()):
        raise source.error(field, words)
    return item


def _written_wrong(told: FileItem) -> Iterator[tuple[str, str]]:
    """What only a file can have wrong: forms and rows refuse it by themselves."""
    for name, value in told.model_dump(exclude_unset=True).items():
        if isinstance(value, str) and not value.strip():
            yield name, "must be a text that is not empty"
    for name, longest in LONGEST.items():
        if len(getattr(told, name)) > longest:
            yield name, f"has more than {longest} characters"
    named = {"key": item_key_problem(told.key), "measure": measure_problem(told.measure)}
    yield from ((name, problem) for name, problem in named.items() if problem)
    yield from _meaningless(told)


def _meaningless(told: FileItem) -> Iterator[tuple[str, str]]:
    """Keys that say something, but nothing of an item of this kind."""
    meaningless = KIND_FIELDS - set(kind_of(told).uses)
    for name in FileItem.known_keys():
        if name in told.model_fields_set & meaningless and told.kind in KINDS:
            kinds = [kind for kind, one in KINDS.items() if name in one.uses]
            yield name, f"means nothing for the kind {told.kind}, only for {', '.join(kinds)}"
