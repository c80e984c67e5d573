"""Every file of the export: one line each, in the order of the list on the page."""

from __future__ import annotations

from kitchen.registry import load, look_up
from study.exports.base import Table

TABLES: dict[str, str] = {
    "participants": "study.exports.participants:TABLE",
    "episodes": "study.exports.episodes:TABLE",
    "steps": "study.exports.steps:STEPS",
    "commands": "study.exports.steps:COMMANDS",
    "answers": "study.exports.answers:TABLE",
    "decisions": "study.exports.decisions:DECISIONS",
    "prompts": "study.exports.decisions:PROMPTS",
    "dictionary": "study.exports.dictionary:TABLE",
}


def tables() -> list[Table]:
    """All of them."""
    return [load(path) for path in TABLES.values()]


def get_table(name: str) -> Table:
    """One of them; UnknownNameError if there is none of this name."""
    found: Table = look_up(TABLES, name)
    return found
