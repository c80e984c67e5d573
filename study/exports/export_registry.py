"""List all tables and files of the data export, and write the files that describe them.

These files are the codebook (a table of all columns), README.md, and design.json with the study's design.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from kitchen.registry.dotted_paths import load_named, load_path
from kitchen.words.english_text import counted_noun
from study.design.blueprint import blueprint_of
from study.design.models import Study
from study.design.preregistration import program, program_differences
from study.exports.column_levels import study_codes, with_levels
from study.exports.export_table import KINDS, Column, Document, ExportSelection, ExportTable, file_columns
from study.exports.labelled_files import LABELLED, LABELLED_FORMS, variable_names
from study.exports.row_groups import RowGroup
from study.exports.tables.played_episodes import changed_versions, touched_count

CODEBOOK_COLUMNS = file_columns("codebook")


def codebook(name: str, meaning: str, ending: str = "csv") -> ExportTable:
    """Return a table that describes every column of every table, itself included.

    `name` and `meaning` are the name and the description of the returned table. `ending` is the ending of
    the files that the table lists, such as `csv` or `parquet`. For labelled files, it has the names of their
    variables.
    """
    in_form = partial(codebook, name, meaning)
    return ExportTable(name, meaning, CODEBOOK_COLUMNS, partial(_rows, ending), in_form=in_form)


def _rows(ending: str, study: Study, chosen: ExportSelection) -> Iterator[RowGroup]:
    """Yield one row of the codebook for each column of each table, in the order of the files. `ending` is
    the file ending of the tables."""
    files = {f"{table.name}.csv": f"{table.name}.{ending}" for table in tables()}
    named, codes = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in files)), study_codes(study)
    for table in map(get_table, LABELLED) if ending in LABELLED_FORMS else tables():
        columns = table.columns_of(study)
        names = {column.name: column.name for column in columns}
        if ending in LABELLED_FORMS:
            names = variable_names(names)
        found = with_levels(columns, codes)
        group = codebook_rows(f"{table.name}.{ending}", [replace(one, name=names[one.name]) for one in found])
        rows = [
            [cell and named.sub(lambda found: files[found[0]], cell) for cell in row] for row in group.rows
        ]
        yield group._replace(rows=rows)


def codebook_rows(file: str, columns: Iterable[Column]) -> RowGroup:
    """Return the rows of the codebook for one file."""
    cells = [
        (column.name, column.kind, column.unit or None, column.meaning, column.levels or None)
        for column in columns
    ]
    return RowGroup([file], cells)


def design(study: Study, chosen: ExportSelection) -> str:
    """Return the content of design.json: all versions of the study's design, and the present design.
    `chosen` is not used."""
    changed, present = changed_versions(study), blueprint_of(study)
    document = {
        "study": study.slug,
        "program": program(),
        "present": {"digest": present.digest, "document": present.to_json()},
        "versions": [
            {
                "number": one.number,
                "digest": one.digest,
                "created_at": one.created_at.isoformat(),
                "frozen_at": one.frozen_at.isoformat() if one.frozen_at else None,
                "changed_since_freeze": one.number in changed,
                "document": one.document,
                "bundle_digest": one.bundle_digest or None,
                "bundle": one.bundle,
                "program_differences": [asdict(each) for each in program_differences(one.bundle)]
                if one.bundle
                else [],
            }
            for one in study.versions.order_by("number")
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


HOW = Path(__file__).with_name("how_to_read.md").read_text(encoding="utf-8")
"""Part of README.md that is the same for every study."""


def readme(form: str, study: Study, chosen: ExportSelection) -> str:
    """Return the content of README.md: whose data the files contain, what each file is, and how to read
    them. `form` is the ending of the tables, such as `csv`."""
    there = tables()
    if form in LABELLED_FORMS:
        there = [*map(get_table, LABELLED), codebook("codebook", CODEBOOK_MEANING)]
    listed: list[ExportTable | Document] = [*there, *documents()]
    files = [f"- `{one.name}`: {one.meaning}" for one in listed]
    if form in LABELLED_FORMS:
        files += ["", "Other tables, such as the steps of episodes, are in the CSV and Parquet files."]
    head = f"# Data of the study {study.slug}: {study.title}"
    return "\n".join([head, "", *_whose(study, chosen), "", "## Files", "", *files, "", HOW])


def readme_of(form: str) -> Document:
    """Return the document README.md for tables with this ending."""
    meaning, text = "What each file is and how to read it.", partial(readme, form)
    return Document("README.md", meaning, "text/markdown; charset=utf-8", text, in_form=readme_of)


def _whose(study: Study, chosen: ExportSelection) -> list[str]:
    people = chosen.participants(study)
    left_out = ", ".join(KINDS[kind] for kind in chosen.left_out if kind in KINDS) or "nobody"
    changed = ", ".join(map(str, sorted(changed_versions(study)))) or "none"
    frozen = study.versions.filter(frozen_at__isnull=False).values_list("number", flat=True)
    paid = study.left_complete.exclude(code="").count()
    return [
        f"{counted_noun(people.count(), 'participant')}, "
        f"{people.filter(synthetic=True).count()} of them synthetic (programs), "
        f"{counted_noun(people.filter(preview=True).count(), 'preview')} by staff, "
        f"{people.exclude(excluded_at=None).count()} excluded. "
        f"{counted_noun(study.withdrawn, 'person', 'people')} ({paid} of them after they were complete) and "
        f"{counted_noun(study.withdrawn_synthetic, 'program')} withdrew; their data are erased, "
        "so nobody can tell whether one who left before the end came back.",
        "",
        f"Left out of these files: {left_out}.",
        *_outages(study, chosen),
        "",
        f"Versions of the study: {study.versions.count()}; preregistered: "
        f"{', '.join(map(str, frozen)) or 'none'}; changed since a preregistration: {changed}.",
    ]


def _outages(study: Study, chosen: ExportSelection) -> list[str]:
    """Return a text about outages of the app, and about rows that are left out because of them. Return an
    empty string if no outage affected the study."""
    count = touched_count(study, chosen)
    if not count.episodes:
        return []
    words = count.left_out(chosen)
    held = (
        f"Left out: {words} (participants has everybody's scores)." if words else "All of it is here, marked."
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

README = readme_of("csv")

TABLES: dict[str, str] = {
    "participants": "study.exports.tables.participants_table:TABLE",
    "episodes": "study.exports.tables.episodes_and_steps_tables:TABLE",
    "steps": "study.exports.tables.episodes_and_steps_tables:STEPS",
    "commands": "study.exports.tables.episodes_and_steps_tables:COMMANDS",
    "answers": "study.exports.tables.answers_tables:ANSWERS",
    "page_times": "study.exports.tables.page_times_and_outages_tables:PAGE_TIMES",
    "decisions": "study.exports.tables.decisions_tables:DECISIONS",
    "prompts": "study.exports.tables.decisions_tables:PROMPTS",
    "staff_actions": "study.exports.tables.page_times_and_outages_tables:STAFF_ACTIONS",
    "payments": "study.exports.tables.payments_table:TABLE",
    "annotations": "study.exports.tables.annotations_table:TABLE",
    "sound": "study.exports.tables.sound_table:TABLE",
    "outages": "study.exports.tables.page_times_and_outages_tables:OUTAGES",
    "asked": "study.exports.tables.answers_tables:ASKED",
    "messages": "study.exports.tables.messages_and_scored_events_tables:MESSAGES",
    "jobs": "study.exports.tables.messages_and_scored_events_tables:JOBS",
    "predictions": "study.exports.tables.decisions_tables:PREDICTIONS",
    "scored_events": "study.exports.tables.messages_and_scored_events_tables:SCORED_EVENTS",
    "probes": "study.exports.tables.probes_table:TABLE",
    "failed_checks": "study.exports.tables.episodes_and_steps_tables:FAILED_CHECKS",
    "plannings": "study.exports.tables.organisation_tables:PLANNINGS",
    "team_measures": "study.exports.tables.organisation_tables:TEAM_MEASURES",
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
    """Return all export tables, in the order of the files."""
    return [load_path(path) for path in TABLES.values()]


def get_table(name: str) -> ExportTable:
    """Return the table with this name. Raises UnknownNameError if there is none."""
    table: ExportTable = load_named(TABLES, name)
    return table


def documents() -> list[Document]:
    """Return all export files that are not tables: design.json and README.md."""
    return [load_path(path) for path in DOCUMENTS.values()]


def get_document(name: str) -> Document:
    """Return the file with this name that is not a table. Raises UnknownNameError if there is none."""
    document: Document = load_named(DOCUMENTS, name)
    return document


CODEBOOK_MEANING = "The meaning of each column in each file."
CODEBOOK = codebook("codebook", CODEBOOK_MEANING)
DICTIONARY = codebook("dictionary", "The same as codebook, by its older name.")
