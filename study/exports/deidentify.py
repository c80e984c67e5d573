"""Make a copy of the export tables that says less about people.

- Participants, episodes and groups have new random names. Nothing leads back to the old ones.
- Texts that are not known to be harmless, device records and seeds are left out.
- Times become minutes since the participant's start.
- Values of demographics that fewer than `k` people share are merged. Programs and previews do not count.

The copy has a list of everything that was left out or made coarser. `k` holds for each column alone, not for
several columns together.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from tempfile import TemporaryFile
from typing import Any

from django.db.models import Q

from kitchen.contract.world import Json
from study.design.item_places import ABOUT, may_tell_who
from study.design.models import Study
from study.design.own_pages import PREFIX
from study.design.part_rules import names_with_rules
from study.design.questions.item_fields import ItemPlan
from study.design.questions.item_kinds import SCALED, kind_of, numeric_answer
from study.design.questions.item_numbers import format_number
from study.design.study_versions import version_blueprints
from study.exports import csv_encoding
from study.exports.csv_encoding import LINE_END, compact
from study.exports.design_columns import MetricColumn, SettingColumn
from study.exports.export_table import Column, ExportSelection, ExportTable
from study.exports.row_groups import RowBatch, RowGroup
from study.exports.tables.participants_table import ALLOCATION, WideColumn
from study.participants.models import Answer

TABLES_LEFT_OUT: Mapping[str, str] = {
    "prompts": "it has whole texts to language models, with what people wrote",
    "staff_actions": "it has logins and reasons in free words",
    "outages": "it has exact times",
    "payments": "it is about money that people were paid",
}
"""Tables that the copy does not have, and why."""

DEVICES = frozenset(
    ["device", "browser", "browser_version", "system", "window_width", "window_height", "entry_round_trip_ms"]
    + [f"round_trip{end}" for end in ("s", "_min_ms", "_median_ms", "_p95_ms")]
)
SEEDS = frozenset(["seed", "state_hash", "version_digest"])
"""Columns of seeds, and of hashes that tell the seed to somebody who tries all of them."""
OTHERS = frozenset(["number", "epoch_time_completed", "outage_ms", "outage_parts", "marked_at"])
"""Columns that tell the order or the time of participation."""
KEPT_TEXTS = frozenset(
    [
        *("participant", "condition", "episode", "sequence", "consent_hash", "version_digest", "language"),
        *("participant._current_page_name", "known_effects", "between_group"),
        *("condition_name", "coplayer"),
        *("episodes.label", "played_by", "world", "settings", "without_people", "goal", "talk_language"),
        *("star_targets", "chosen_by", "verb", "arguments", "reasons", "to_follow", "item", "measure"),
        *("answer_value", "low_label", "high_label", "answers.text", "scale", "correct", "answer", "unit"),
        *("measure_label", "provider", "model_asked", "model_named", "stop", "because", "code", "foreseen"),
        *(
            "done",
            "steps.events",
            "message_numbers",
            *("probes.asked", "probes.probe", "probes.question", "episodes.probes", "rating_slider"),
            *("item_kind", "missing"),
            "messages_by_kind",
            "messages_by_pair",
            "progress",
            "to",
            "annotation_code",
            "code_description",
        ),
    ]
)
"""Columns of texts that say nothing about a person, as `column` or `table.column`. Every other text without
listed values is left out, so a new column is left out until somebody decides."""
BY_ITEM = frozenset({"answers", "asked"})
"""Tables with a row for each item. They have no rows of demographics: a row by itself can tell a value."""
FREE_KINDS = frozenset(["text", "texts", "date"])
"""Kinds of items whose answers are left out."""
OTHER = "other"
TIME_END = "_minutes"


@dataclass(frozen=True, slots=True)
class CopyOptions:
    """What a de-identified copy is to have."""

    k: int = 5
    """The least number of people that share a value of a demographic."""
    replays: bool = False
    """True if seeds are kept, so that everybody can replay the episodes."""


@dataclass(slots=True)
class ChangeList:
    """What was left out or made coarser."""

    columns: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Names of columns (`table.column`) by what happened to them."""
    merged: Counter[str] = field(default_factory=Counter)
    """Number of cells whose value was merged, by column."""

    def text(self, options: CopyOptions) -> str:
        """Return the list in Markdown."""
        parts = ["# What is left out or made coarser in this copy", "", *_told(options), ""]
        parts += [f"- Table `{name}`: left out, because {why}." for name, why in TABLES_LEFT_OUT.items()]
        for what, names in self.columns.items():
            parts += ["", f"## {what}", "", *(f"- `{name}`" for name in dict.fromkeys(names))]
        parts += ["", "## Merged values", ""]
        merged = [f"- `{name}`: {number} cells" for name, number in sorted(self.merged.items()) if number]
        return "\n".join([*parts, *(merged or ["None."]), ""])


def _told(options: CopyOptions) -> Iterator[str]:
    yield "Participants, episodes and groups have new random names. No list leads back to the old ones."
    yield ""
    yield (
        f"Values of demographics that fewer than {options.k} people share are merged: numbers into ranges, "
        f"options into `{OTHER}`, and blank cells if they are rare. Programs and previews by staff do not "
        "count as people. This holds for each column alone, not for several columns together."
    )
    yield ""
    yield (
        "Demographics are the questions at the place `about` and on the researchers' own pages (`own-`), and "
        "the language. Questions about the person at another place, such as `final`, are not merged."
    )
    yield ""
    yield (
        "`page_times` has no rows of pages and parts that a rule leaves out for somebody. If a rule compares "
        "a demographic, blank answers to what it left out can still tell on which side of it a person is."
    )
    yield ""
    names = " and ".join(f"`{name}`" for name in sorted(BY_ITEM))
    yield f"The tables {names} have no rows of demographics; `participants` has their merged values."
    yield ""
    if options.replays:
        yield "Seeds are kept: with the commands they give every state of an episode again."
        yield ""
        yield (
            "`documentation/design.json` and `preregistration/` have the login of the person who froze a "
            "version: the hashes of these files cover it."
        )
    else:
        yield (
            "Seeds are left out, also the study's in `documentation/design.json` and in `preregistration/`. "
            "The hashes of these files cover the seed, so they are left out, too, and nobody can check the "
            "files against them. Orders and the course of episodes follow from the seed: somebody who tries "
            "all of the two billion seeds may still find it."
        )
        yield ""
        yield (
            "The login of the person who froze a version is left out of `documentation/design.json` and of "
            "`preregistration/`."
        )


class DeidentifiedCopy:
    """One de-identified copy of a study's tables. Its random names hold for the tables of this copy only."""

    def __init__(self, study: Study, chosen: ExportSelection, options: CopyOptions) -> None:
        self.study, self.chosen, self.options = study, chosen, options
        self.changes = ChangeList()
        designs = version_blueprints(study)
        self.items = {item.key: item for design in designs for item in design.items}
        self.ruled = {name for design in designs for name in names_with_rules(design)}
        people = list(chosen.participants(study).values_list("code", "entered_at"))
        self.entered = dict(people)
        self.people = _new_names("p", [code for code, _ in people])
        self.others: dict[str, dict[Any, Any]] = {"episode": {}, "group": {}}
        self.merges = self._merges()

    def _merges(self) -> dict[str, dict[str, Json]]:
        """Return what each value of a demographic becomes: by item (or `language`), then by value as JSON.
        Only people count. An answer “does not apply” and no answer are the same value, None."""
        people = self.chosen.participants(self.study).filter(synthetic=False, preview=False)
        languages = dict(people.values_list("pk", "language"))
        values: dict[str, dict[int, Json]] = defaultdict(lambda: dict.fromkeys(languages))
        told = Q(item__place=ABOUT) | Q(item__place__startswith=PREFIX)
        given = Answer.objects.filter(told, participant__in=people).order_by("attempt", "pk")
        for pk, key, value in given.values_list("participant_id", "item__key", "value"):
            values[key][pk] = numeric_answer(value)
        values["language"] = dict(languages)
        return {
            key: merge_rare(list(found.values()), self.options.k, is_number=_is_number(self.items.get(key)))
            for key, found in values.items()
        }

    def table(self, table: ExportTable) -> ExportTable | None:
        """Return the table of the copy. Return None if the copy does not have it."""
        if table.name in TABLES_LEFT_OUT:
            return None
        columns, _ = table.opened(self.study, self.chosen)
        kept = [self._kept(table.name, column) for column in columns]
        left = tuple(column for column in kept if column)
        return ExportTable(table.name, table.meaning, left, lambda *_: self._groups(table, columns, kept))

    def _kept(self, table: str, column: Column) -> Column | None:
        """Return the column as the copy has it. Return None if it has not, and note why."""
        name, where = column.name, f"{table}.{column.name}"
        if what := self._left_out(table, column):
            self.changes.columns[what].append(where)
            return None
        if column.kind == "time":
            self.changes.columns["Times: minutes since the participant's start"].append(where)
            text = f"{column.meaning} In minutes since the participant's start."
            return replace(column, name=name + TIME_END, kind="integer", meaning=text, unit="min")
        item = self._about_item(column)
        if item or name == "language":
            self.changes.columns["Demographics: rare values merged"].append(where)
            kind = "text" if item and kind_of(item).column != "json" else column.kind
            return replace(
                column, kind=kind, meaning=f"{column.meaning} Rare values are merged.", levels="", codes=()
            )
        return column

    def _left_out(self, table: str, column: Column) -> str:
        """Return why the copy does not have this column. Return an empty string if it has."""
        name = column.name
        if name in DEVICES:
            return "Left out: device records"
        if name in OTHERS:
            return "Left out: columns that tell the order or the time of participation"
        if name == "left_out_by_rules":
            return "Left out: what a rule left out, which can tell the answer that it compares"
        if name in SEEDS:
            return "" if self.options.replays else "Left out: seeds"
        if isinstance(column, MetricColumn | SettingColumn):
            return ""
        if isinstance(column, WideColumn) and column.slot.place != "play":
            slot, item = column.slot, self.items.get(column.slot.what)
            if may_tell_who(slot.place) and (slot.scored or slot.apart or slot.option):
                return "Left out: scores and parts of demographics, and “does not apply” to them"
            is_free = slot == ALLOCATION or (item is not None and item.kind in FREE_KINDS)
            return "Left out: free texts" if is_free and not slot.apart else ""
        is_text = column.kind in {"text", "json"} and not isinstance(column, WideColumn)
        known = column.codes or column.levels or name in KEPT_TEXTS or f"{table}.{name}" in KEPT_TEXTS
        return "Left out: free texts" if is_text and not known else ""

    def _about_item(self, column: Column) -> ItemPlan | None:
        if isinstance(column, WideColumn) and may_tell_who(column.slot.place):
            return self.items.get(column.slot.what)
        return None

    def _groups(
        self, table: ExportTable, columns: Sequence[Column], kept: Sequence[Column | None]
    ) -> Iterator[RowGroup]:
        """Yield the rows of the copy. Rows of participants who entered after the copy began are left out, and
        those of demographics in tables with a row for each item."""
        read, batches = table.opened(self.study, self.chosen)
        places = {column.name: place for place, column in enumerate(read)}
        whose, asked_at = places.get("participant"), places["place"] if table.name in BY_ITEM else None
        page = places["page"] if table.name == "page_times" else None
        takes = [(places.get(column.name), self._reader(table.name, column)) for column in columns]
        wanted = [take for take, column in zip(takes, kept, strict=True) if column]
        for batch in batches:
            for before, rows, after in batch.groups:
                cells = [(*before, *row, *after) for row in rows]
                there = [row for row in cells if whose is None or row[whose] in self.people]
                there = [row for row in there if asked_at is None or not may_tell_who(row[asked_at])]
                there = [row for row in there if page is None or row[page] not in self.ruled]
                yield RowGroup(
                    (),
                    [
                        [None if at is None else convert(row[at], places, row) for at, convert in wanted]
                        for row in there
                    ],
                )

    def _reader(self, table: str, column: Column) -> Callable[[Any, Mapping[str, int], Sequence[Any]], Any]:
        """Return a function from a cell, the places of columns and the whole row to the cell of the copy."""
        name = column.name
        if name == "participant":
            return lambda cell, places, row: self.people[cell]
        if name in self.others:
            return lambda cell, places, row: self._renamed(name, cell)
        if column.kind == "time":
            return lambda cell, places, row: _minutes(self.entered[row[places["participant"]]], cell)
        item = self._about_item(column)
        if item or name == "language":
            key, is_json = item.key if item else name, column.kind == "json"
            where = f"{table}.{name}"
            return lambda cell, places, row: _words(self._merged(where, key, cell), is_json=is_json)
        if table == "answers" and name in {"answer_value", "answer"}:
            return lambda cell, places, row: None if row[places["kind"]] in FREE_KINDS else cell
        return lambda cell, places, row: cell

    def _renamed(self, name: str, cell: Any) -> Any:
        names = self.others[name]
        if cell is not None and cell not in names:
            taken, number = set(names.values()), 0
            while not number or number in taken or f"e{number}" in taken:
                number = random.SystemRandom().randrange(1, 10**9)
            names[cell] = f"e{number}" if name == "episode" else number
        return names.get(cell)

    def _merged(self, column: str, key: str, cell: Json) -> Json:
        unknown = None if cell is None else OTHER
        merged = self.merges.get(key, {}).get(_as_key(cell), unknown)
        self.changes.merged[column] += merged != cell
        return merged

    def csv_pieces(self, table: ExportTable, rows: Counter[str] | None = None) -> Iterator[bytes]:
        """Yield a table of the copy as CSV, in pieces of bytes. Its rows are in the order of the new names,
        so that the order of entering is lost."""
        columns, batches = table.opened(self.study, self.chosen)
        yield _encoded(["text"] * len(columns), [[column.name for column in columns]])
        kinds, runs, size = [column.kind for column in columns], list[tuple[str, int, int]](), 0
        with TemporaryFile() as spool:
            for batch in batches:
                for group in batch.groups:
                    for whose, some in _runs(columns, group.rows):
                        piece = _encoded(kinds, some)
                        spool.write(piece)
                        runs.append((whose, size, len(piece)))
                        size += len(piece)
                        if rows is not None:
                            rows[table.name] += len(some)
            for _, start, length in sorted(runs):
                spool.seek(start)
                yield spool.read(length)


def merge_rare(values: Sequence[Json], k: int, *, is_number: bool) -> dict[str, Json]:
    """Return what each value becomes, by value as JSON, so that each result has at least `k` of the values.
    None is a blank cell.

    Numbers become ranges, such as `18 to 24`. Other values that are rare become `OTHER`, together with the
    next rarest ones if they alone are too few.
    """
    if is_number:
        numbers = [value for value in values if isinstance(value, int | float)]
        return _ranges(numbers, k, blank=len(values) - len(numbers))
    counts = Counter(map(_as_key, values))
    rare, number = list[str](), 0
    for key, count in sorted(counts.items(), key=lambda one: (one[1], one[0])):
        if count >= k and (not number or number >= k):
            break
        rare.append(key)
        number += count
    return {key: OTHER if key in rare else json.loads(key) for key in counts}


def _ranges(numbers: Sequence[float], k: int, *, blank: int) -> dict[str, Json]:
    """Return ranges of neighbouring numbers, each with at least `k` of them. If there are fewer than `k`
    numbers or `blank` cells, they become `OTHER`, together with the blank cells or the rarest range."""
    counts = Counter(numbers)
    ranges, present = list[list[float]](), list[float]()
    for number in sorted(counts):
        present.append(number)
        if sum(map(counts.__getitem__, present)) >= k:
            ranges.append(present)
            present = []
    if present and ranges:
        ranges[-1] += present
    rare = present if not ranges else list[float]()
    if ranges and 0 < blank < k:
        rare = min(ranges, key=lambda one: sum(map(counts.__getitem__, one)))
        ranges.remove(rare)
    merged: dict[str, Json] = {_as_key(number): OTHER for number in rare}
    if blank:
        merged[_as_key(None)] = OTHER if rare or blank < k else None
    for one in ranges:
        words = one[0] if len(one) == 1 else f"{format_number(one[0])} to {format_number(one[-1])}"
        merged |= {_as_key(number): words for number in one}
    return merged


def _is_number(item: ItemPlan | None) -> bool:
    return item is not None and item.kind in SCALED


def _as_key(value: Json) -> str:
    return compact(value)


def _words(value: Json, *, is_json: bool) -> Json:
    return value if is_json or value is None or isinstance(value, str) else compact(value)


def _new_names(letter: str, old: Sequence[str]) -> dict[str, str]:
    """Return a new name for each of these, numbered in random order."""
    mixed = random.SystemRandom().sample(list(old), len(old))
    width = len(str(len(mixed)))
    return {one: f"{letter}{number:0{width}}" for number, one in enumerate(mixed, start=1)}


def _minutes(start: datetime, cell: Any) -> int | None:
    if cell is None:
        return None
    moment = datetime.fromisoformat(cell) if isinstance(cell, str) else cell
    return round((moment - start).total_seconds() / 60)


def _runs(
    columns: Sequence[Column], rows: Sequence[Sequence[Any]]
) -> Iterator[tuple[str, list[Sequence[Any]]]]:
    """Yield neighbouring rows of one participant together, with the participant's name."""
    has_person = bool(columns) and columns[0].name == "participant"
    run, whose = list[Sequence[Any]](), ""
    for row in rows:
        name = row[0] if has_person else ""
        if run and name != whose:
            yield whose, run
            run = []
        run.append(row)
        whose = name
    if run:
        yield whose, run


def _encoded(kinds: Sequence[str], rows: Sequence[Sequence[Any]]) -> bytes:
    lines = csv_encoding.lines(kinds, RowBatch([RowGroup((), rows)]))
    return LINE_END.join([*lines, ""]).encode()
