"""Read questionnaires from TOML files, and compute the scores of their sub-scales from answers.

The files are in `study/data/instruments`, and in the folder `instruments` of each world (game). A file has a
title, a source, terms of use, and a list of `[[items]]`. Its key `score` names the function that computes the
score (a key of `SCORES`). `place` names the page with the questions (one of `PLACES`). For an invalid file,
the error names the file, the key and the reason.

A score is None if an answer is missing. Missing answers are never estimated. The module does not import
Django.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import fsum
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import Field, TypeAdapter

from kitchen.contract.data_files import DataError, DataSource, Record, Text, one_of, parse_toml, read_toml
from kitchen.contract.world import Json
from kitchen.registry.world_registry import world_folders
from study.design.naming_rules import item_key_problem, measure_name_problem
from study.design.questions.item_fields import LONGEST, PLACES, ItemPlan
from study.design.questions.item_kinds import KIND_FIELDS, KINDS, SCALED, item_problems, kind_of


class FileItem(ItemPlan):
    """An item of a questionnaire file. It has no `place`, because the file states one `place` (when to
    ask) for all its items."""

    @classmethod
    def known_keys(cls) -> tuple[str, ...]:
        """Return the names of all fields that an item in a file may have: the fields of `ItemPlan` except
        `place`."""
        return tuple(name for name in ItemPlan.known_keys() if name != "place")


def item_from_file(file_item: FileItem, source: DataSource, place: str) -> ItemPlan:
    """Return the item of a file with `place` (the point of the study where it is asked) filled in. Raises
    DataError if it cannot be asked there."""
    item = ItemPlan(**file_item.model_dump() | {"place": place})
    for field, words in (*_file_problems(file_item), *item_problems(item).items()):
        raise source.error(field, words)
    return item


def _file_problems(file_item: FileItem) -> Iterator[tuple[str, str]]:
    """Yield (field, problem) for problems that are possible only in files. Forms and database rows are
    checked earlier."""
    for name, value in file_item.model_dump(exclude_unset=True).items():
        if isinstance(value, str) and not value.strip():
            yield name, "must be a text that is not empty"
    for name, longest in LONGEST.items():
        if len(getattr(file_item, name)) > longest:
            yield name, f"has more than {longest} characters"
    named = {"key": item_key_problem(file_item.key), "measure": measure_name_problem(file_item.measure)}
    yield from ((name, problem) for name, problem in named.items() if problem)
    yield from _unused_keys(file_item)


def _unused_keys(file_item: FileItem) -> Iterator[tuple[str, str]]:
    """Yield a problem for each field in the file that has no meaning for this kind of item."""
    meaningless = KIND_FIELDS - set(kind_of(file_item).uses)
    for name in FileItem.known_keys():
        if name in file_item.model_fields_set & meaningless and file_item.kind in KINDS:
            kinds = [kind for kind, one in KINDS.items() if name in one.uses]
            yield name, f"means nothing for the kind {file_item.kind}, only for {', '.join(kinds)}"


class ScoringError(ValueError):
    """Raised for items or answers from which no score can be computed. The message says why."""


@dataclass(frozen=True, slots=True)
class Score:
    """One person's score on one scale. If answers are missing, `value` is None and `missing` has the
    items' keys."""

    value: float | None
    missing: tuple[str, ...] = ()


def item_range(item: ItemPlan) -> tuple[float, float]:
    """Return the lowest and the highest answer of an item. Raises ScoringError if the item has no such
    bounds."""
    bounds = kind_of(item).ends(item)
    if bounds is None:
        raise ScoringError(f"{item.key}: only Likert items, and numbers with both bounds, can be scored.")
    return bounds


def reversed_answer(item: ItemPlan, value: float) -> float:
    """Return the answer with its direction corrected. For a reversed item this is lowest + highest - `value`,
    for any other item `value`.

    Raises ScoringError if `value` is outside the item's range, or if the item has no range.
    """
    low, high = item_range(item)
    if not low <= value <= high:
        raise ScoringError(f"{item.key}: {value:g} is not from {low:g} to {high:g}.")
    return clamped(low + high - value, (low, high)) if item.reversed else value


def clamped(value: float, between: tuple[float, float]) -> float:
    """Return `value`, limited to the range `between`. Rounding errors can put a score slightly outside its
    range."""
    return min(max(value, between[0]), between[1])


class MeanScore:
    """The mean of the answers, in the items' own unit. Answers of reversed items are reversed first. The
    raw NASA-TLX is such a mean."""

    label = "mean of the items"

    def problem(self, items: Sequence[ItemPlan]) -> str:
        """Return why these items cannot be scored together. Return an empty string if they can be
        scored."""
        return "" if len({item_range(item) for item in items}) < 2 else "its items do not share one range"

    def ends(self, items: Sequence[ItemPlan]) -> tuple[float, float]:
        """Return the lowest and the highest score."""
        return item_range(items[0])

    def of(self, values: Sequence[float]) -> float:
        """Return the mean of one person's answers `values`. Answers to reversed items must already be
        reversed."""
        return fsum(values) / len(values)


class SusScore:
    """The score of the System Usability Scale, 0 to 100 (Brooke 1996).

    Answers of reversed items are reversed first. The score is the sum of the ten answers, each minus 1,
    times 2.5.
    """

    label = "SUS, 0 to 100"

    def problem(self, items: Sequence[ItemPlan]) -> str:
        """Return an empty string if the items are ten Likert items of five points, else a message about
        what is wrong."""
        fits = len(items) == 10 and {item_range(item) for item in items} == {(1, 5)}
        return "" if fits else "the SUS has ten Likert items of five points"

    def ends(self, _: Sequence[ItemPlan]) -> tuple[float, float]:
        """Return the lowest and the highest score, 0 and 100."""
        return 0, 100

    def of(self, values: Sequence[float]) -> float:
        """Return the score of the System Usability Scale (SUS) for one person's answers `values`. Answers
        to reversed items must already be reversed."""
        return fsum(value - 1 for value in values) * 2.5


SCORES: dict[str, MeanScore | SusScore] = {"mean": MeanScore(), "sus": SusScore()}
"""The formulas that make one number of a scale's items, by the names that instruments use."""


def scale_problem(items: Sequence[ItemPlan], score: str = "mean") -> str:
    """Return why no score can be computed from these items, as the end of a sentence. Return an empty
    string if a score can be computed."""
    if not items:
        return "it has no items"
    try:
        return SCORES[score].problem(items)
    except ScoringError as error:
        return str(error).removesuffix(".")


def scale_score(items: Sequence[ItemPlan], values: Mapping[str, float | None], score: str = "mean") -> Score:
    """Return the score of one person on one scale. `values` has the answers by item key; unanswered items are
    missing or None.

    Raises ScoringError if the items cannot be scored, or an answer is outside its item's range.
    """
    formula = SCORES[score]
    if problem := scale_problem(items, score):
        raise ScoringError(f"This scale cannot be scored: {problem}.")
    given = {
        item.key: reversed_answer(item, value)
        for item in items
        if (value := values.get(item.key)) is not None
    }
    missing = tuple(item.key for item in items if item.key not in given)
    if missing:
        return Score(None, missing)
    return Score(clamped(formula.of(list(given.values())), formula.ends(items)))


__all__ = ["DataError", "Instrument", "instrument", "instruments", "parse_instrument"]

FOLDER = Path(__file__).parents[2] / "data" / "instruments"


class InstrumentFile(Record):
    """The content of a questionnaire file."""

    title: Text
    source: Text
    terms: Text
    score: Annotated[Text, one_of(SCORES)] = "mean"
    place: Annotated[Text, one_of(PLACES)] = "survey"
    translations: list[Text] = []
    items: Annotated[list[FileItem], Field(min_length=1)]


_FILE = TypeAdapter(InstrumentFile)


@dataclass(frozen=True, slots=True)
class Instrument:
    """One questionnaire with its items, read from a file."""

    code: str
    """The stem of its file."""
    title: str
    source: str
    terms: str
    score: str
    place: str
    items: tuple[ItemPlan, ...]
    translations: tuple[str, ...] = ()
    """Published translations with their sources. The questions themselves are English."""

    @property
    def score_words(self) -> str:
        """Return the formula of the score as text."""
        return SCORES[self.score].label

    @property
    def scales(self) -> tuple[str, ...]:
        """Return the sub-scales of the questionnaire, in the order of their first items."""
        return tuple(dict.fromkeys(item.scale for item in self.items if item.scale))


def instruments() -> tuple[Instrument, ...]:
    """Return all questionnaires that come with the application and its worlds, sorted by code."""
    shipped = [one for folder in (FOLDER, *world_folders("instruments")) for one in _shipped(folder)]
    return tuple(sorted(shipped, key=lambda one: one.code))


@cache
def _shipped(folder: Path) -> tuple[Instrument, ...]:
    return tuple(_build(path.stem, *read_toml(path)) for path in folder.glob("*.toml"))


def instrument(code: str) -> Instrument:
    """Return the questionnaire with this code among the questionnaires that come with the application.
    Raises DataError if there is none."""
    known = {one.code: one for one in instruments()}
    if code not in known:
        raise DataError(f"{code}: no such instrument; there are {', '.join(known)}")
    return known[code]


def parse_instrument(text: str, file: str) -> Instrument:
    """Return the questionnaire that `text`, the content of a file, describes. Raises DataError if an item
    cannot be asked or scored."""
    return _build(Path(file).stem, *parse_toml(text, file))


def _build(code: str, source: DataSource, values: Mapping[str, Json]) -> Instrument:
    told = source.read(_FILE, values)
    items = tuple(
        item_from_file(one, source.at(f"items[{number}]"), told.place)
        for number, one in enumerate(told.items, 1)
    )
    _check_unique(source, items)
    _check_scales(source, items, told.score)
    texts = (told.title, told.source, told.terms, told.score, told.place)
    return Instrument(code, *texts, items, tuple(told.translations))


def _check_unique(source: DataSource, items: Sequence[ItemPlan]) -> None:
    """Raise DataError if two items have the same key or the same measure. Data and figures use them to
    distinguish items."""
    for name in ("key", "measure"):
        values = [getattr(item, name) for item in items]
        for number, value in enumerate(values):
            if value in values[:number]:
                reason = f"{value!r} is the {name} of another item"
                raise source.error(f"items[{number + 1}].{name}", reason)


def _check_scales(source: DataSource, items: Sequence[ItemPlan], score: str) -> None:
    """Raise DataError if the items of a sub-scale cannot be combined into one score with the formula
    `score`."""
    for scale in dict.fromkeys(item.scale for item in items if item.scale):
        members = [item for item in items if item.scale == scale]
        if problem := scale_problem(members, score):
            raise source.error("items", f"scale {scale!r}: {problem}")


class SubScale(NamedTuple):
    """One sub-scale of a design: its name, its items, and the formula of its score."""

    name: str
    items: tuple[ItemPlan, ...]
    formula: str
    """One of `scoring.SCORES`."""

    @property
    def label(self) -> str:
        """Return the formula of the score as text."""
        return SCORES[self.formula].label

    @property
    def problem(self) -> str:
        """Return the reason why no score can be computed from its items. Return an empty string if a score
        can be computed."""
        return scale_problem(self.items, self.formula)

    @property
    def ends(self) -> tuple[float, float]:
        """Return the lowest and the highest possible score. Raises ScoringError if no score can be computed
        from the items."""
        return SCORES[self.formula].ends(self.items)

    def score(self, values: Mapping[str, Json]) -> float | None:
        """Return one person's score from answers by item key. Return None if an answer is missing or the
        answers cannot be scored."""
        try:
            return scale_score(self.items, values, self.formula).value
        except ScoringError:
            return None


def subscales(items: Sequence[ItemPlan]) -> Iterator[SubScale]:
    """Yield the sub-scales to which these items belong, in the order of their first items."""
    by_name: dict[str, list[ItemPlan]] = defaultdict(list)
    for item in items:
        if item.scale and item.kind in SCALED and item.correct is None:
            by_name[item.scale].append(item)
    for name, members in by_name.items():
        yield SubScale(name, tuple(members), _formula(members))


def _formula(items: Sequence[ItemPlan]) -> str:
    """Return the name of the scoring formula for these items: that of the questionnaire that contains them
    all, or `mean` if there is none."""
    keys = {item.key for item in items}
    known = (one.score for one in instruments() if keys <= {item.key for item in one.items})
    return next(known, "mean")
