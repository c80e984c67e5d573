"""The list of all export files, the codebook of their columns, and the files that are not tables.

The latter are README.md and design.json.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Protocol

from kitchen.registry.dotted_paths import load_named, load_path
from kitchen.words.english_text import counted_noun
from study.design.models import Study
from study.exports.export_table import KINDS, Column, Document, ExportSelection, ExportTable, file_columns
from study.exports.row_groups import RowGroup
from study.exports.tables.played_episodes import changed_versions, design_document, touched_count

CODEBOOK_COLUMNS = file_columns("codebook")


Tables = Callable[[], Iterable[ExportTable]]


def codebook(name: str, meaning: str, tables: Tables, ending: str = "csv") -> ExportTable:
    """Return a table of this name with the meaning of every column of the given tables.

    `ending` is that of their files. The codebook may be one of the tables.
    """
    among = partial(codebook, name, meaning, tables)
    return ExportTable(name, meaning, CODEBOOK_COLUMNS, partial(_rows, tables, ending), among=among)


def _rows(tables: Tables, ending: str, study: Study, chosen: ExportSelection) -> Iterator[RowGroup]:
    """Yield one row per column, in the order of the files."""
    files = {f"{table.name}.csv": f"{table.name}.{ending}" for table in tables()}
    named = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in files))
    for table in tables():
        told = [_cells(column) for column in table.columns_of(study)]
        rows = [[cell and named.sub(lambda found: files[found[0]], cell) for cell in row] for row in told]
        yield RowGroup([f"{table.name}.{ending}"], rows)


def _cells(column: Column) -> tuple[str | None, ...]:
    return column.name, column.kind, column.unit or None, column.meaning, column.levels or None


class Named(Protocol):
    """A file of the export, table or not."""

    @property
    def name(self) -> str:
        """The name in the list on the page."""

    @property
    def meaning(self) -> str:
        """What the file is, in one sentence."""


Files = Callable[[], Iterable[Named]]
"""Returns files lazily, because the list of all files contains files that are made from the list."""


def design(study: Study, chosen: ExportSelection) -> str:
    """Return the study's versions, including frozen ones, as JSON."""
    return json.dumps(design_document(study), indent=2, ensure_ascii=False) + "\n"


HOW = Path(__file__).with_name("how_to_read.md").read_text(encoding="utf-8")
"""Part of README.md that is the same for every study."""


def readme(tables: Files, documents: Files) -> Document:
    """Return README.md, which lists these files and itself."""

    def text(study: Study, chosen: ExportSelection) -> str:
        return _readme(study, chosen, [*tables(), *documents()])

    meaning = "What each file is and how to read it."
    return Document("README.md", meaning, "text/markdown; charset=utf-8", text)


def _readme(study: Study, chosen: ExportSelection, files: Iterable[Named]) -> str:
    return "\n".join(
        [
            f"# Data of the study {study.slug}: {study.title}",
            "",
            *_whose(study, chosen),
            "",
            "## Files",
            "",
            *(f"- `{one.name}`: {one.meaning}" for one in files),
            "",
            HOW.rstrip(),
            "",
        ]
    )


def _whose(study: Study, chosen: ExportSelection) -> list[str]:
    people = chosen.participants(study)
    left_out = ", ".join(KINDS[kind] for kind in chosen.left_out if kind in KINDS) or "nobody"
    changed = ", ".join(map(str, sorted(changed_versions(study)))) or "none"
    frozen = study.versions.filter(frozen_at__isnull=False).values_list("number", flat=True)
    paid = study.left_complete.exclude(code="").count()
    return [
        f"{people.count()} participants, "
        f"{people.filter(synthetic=True).count()} of them synthetic (programs), "
        f"{people.filter(preview=True).count()} previews by staff, "
        f"{people.exclude(excluded_at=None).count()} excluded. "
        f"{study.withdrawn} people ({paid} of them after they were complete) and "
        f"{study.withdrawn_synthetic} programs withdrew; their data are erased, "
        "so nobody can tell whether one who left before the end came back.",
        "",
        f"Left out of these files: {left_out}.",
        *_outages(study, chosen),
        "",
        f"Versions of the study: {study.versions.count()}; preregistered: "
        f"{', '.join(map(str, frozen)) or 'none'}; changed since a preregistration: {changed}.",
    ]


def _outages(study: Study, chosen: ExportSelection) -> list[str]:
    """Return text about outages and rows left out for them; empty if no outage touched the study."""
    count = touched_count(study, chosen)
    if not count.episodes:
        return []
    said = count.left_out(chosen)
    held = (
        f"Left out: {said} (participants has everybody's scores)." if said else "All of it is here, marked."
    )
    return [
        "",
        f"Outages touched {counted_noun(count.episodes, 'episode')} and "
        f"{counted_noun(count.steps, 'step')}. {held}",
    ]


DESIGN = Document(
    "design.json",
    "Every version of the study's design with its hash, the preregistered ones marked.",
    "application/json",
    design,
)

TABLES: dict[str, str] = {
    "participants": "study.exports.tables.participants_table:TABLE",
    "episodes": "study.exports.tables.episodes_table:TABLE",
    "steps": "study.exports.tables.steps_tables:STEPS",
    "commands": "study.exports.tables.steps_tables:COMMANDS",
    "answers": "study.exports.tables.answers_tables:ANSWERS",
    "page_times": "study.exports.tables.page_times_and_outages_tables:PAGE_TIMES",
    "decisions": "study.exports.tables.decisions_tables:DECISIONS",
    "prompts": "study.exports.tables.decisions_tables:PROMPTS",
    "staff_actions": "study.exports.tables.page_times_and_outages_tables:STAFF_ACTIONS",
    "outages": "study.exports.tables.page_times_and_outages_tables:OUTAGES",
    "asked": "study.exports.tables.answers_tables:ASKED",
    "messages": "study.exports.tables.messages_tables:MESSAGES",
    "jobs": "study.exports.tables.messages_tables:JOBS",
    "predictions": "study.exports.tables.decisions_tables:PREDICTIONS",
    "measures": "study.exports.tables.measures_table:TABLE",
    "codebook": "study.exports.export_registry:CODEBOOK",
    "dictionary": "study.exports.export_registry:DICTIONARY",
}

DOCUMENTS: dict[str, str] = {
    "design.json": "study.exports.export_registry:DESIGN",
    "README.md": "study.exports.export_registry:README",
}
"""Files that are no tables, by file name."""


def tables() -> list[ExportTable]:
    """Return all tables."""
    return [load_path(path) for path in TABLES.values()]


def get_table(name: str) -> ExportTable:
    """Return the table with this name. Raises UnknownNameError."""
    table: ExportTable = load_named(TABLES, name)
    return table


def documents() -> list[Document]:
    """Return all files that are no tables."""
    return [load_path(path) for path in DOCUMENTS.values()]


def get_document(name: str) -> Document:
    """Return the document with this name. Raises UnknownNameError."""
    document: Document = load_named(DOCUMENTS, name)
    return document


CODEBOOK = codebook("codebook", "What every column of every file means.", tables)
DICTIONARY = codebook("dictionary", "The same as codebook, by its older name.", tables)
README = readme(tables, documents)
"""Made from the lists of which it is a part."""
