"""Every file of the export: one line each, in the order of the list on the page."""

from __future__ import annotations

from kitchen.registry.names import load, look_up
from study.exports.base import Document, ExportTable
from study.exports.tables.dictionary import codebook
from study.exports.tables.documents import readme

TABLES: dict[str, str] = {
    "participants": "study.exports.tables.participants:TABLE",
    "episodes": "study.exports.tables.episodes:TABLE",
    "steps": "study.exports.tables.steps:STEPS",
    "commands": "study.exports.tables.steps:COMMANDS",
    "answers": "study.exports.tables.answers:TABLE",
    "page_times": "study.exports.tables.page_times:TABLE",
    "decisions": "study.exports.tables.decisions:DECISIONS",
    "prompts": "study.exports.tables.decisions:PROMPTS",
    "staff_actions": "study.exports.tables.staff_actions:TABLE",
    "outages": "study.exports.tables.outages:TABLE",
    "asked": "study.exports.tables.asked:TABLE",
    "messages": "study.exports.tables.messages:TABLE",
    "jobs": "study.exports.tables.jobs:TABLE",
    "predictions": "study.exports.tables.predictions:TABLE",
    "measures": "study.exports.tables.measures:TABLE",
    "codebook": "study.exports.registry:CODEBOOK",
    "dictionary": "study.exports.registry:DICTIONARY",
}

DOCUMENTS: dict[str, str] = {
    "design.json": "study.exports.tables.documents:DESIGN",
    "README.md": "study.exports.registry:README",
}
"""Files that are no tables, by their whole name."""


def tables() -> list[ExportTable]:
    """All of them."""
    return [load(path) for path in TABLES.values()]


def get_table(name: str) -> ExportTable:
    """One of them; UnknownNameError if there is none of this name."""
    table: ExportTable = look_up(TABLES, name)
    return table


def documents() -> list[Document]:
    """All files that are no tables."""
    return [load(path) for path in DOCUMENTS.values()]


def get_document(name: str) -> Document:
    """One of them; UnknownNameError if there is none of this name."""
    document: Document = look_up(DOCUMENTS, name)
    return document


CODEBOOK = codebook("codebook", "What every column of every file means.", tables)
DICTIONARY = codebook("dictionary", "The same as codebook, by its older name.", tables)
README = readme(tables, documents)
"""Made from the lists that they stand in."""
