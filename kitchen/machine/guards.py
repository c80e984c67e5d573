"""Triggers that have the database itself refuse to change rows that are only added (`append_only`).

Rows can be erased: somebody who leaves leaves nothing behind. A column that is emptied when what it names is
deleted (`SET_NULL`) may be emptied, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.apps import apps
from django.db import connection, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from kitchen.machine.append_only import AppendOnly

REFUSE = "brigade_append_only"
"""PostgreSQL's function that all triggers call; it stays where it is, others may use it."""
_FUNCTION = f"""
CREATE OR REPLACE FUNCTION {REFUSE}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END $$
"""


def guard(editor: BaseDatabaseSchemaEditor, table: str, names: Sequence[str], emptied: str = "") -> None:
    """Refuse every change of these columns of the table, and of `emptied` unless it is set to NULL."""
    if editor.connection.vendor == "postgresql":
        editor.execute(_FUNCTION, None)  # no values: its % is PostgreSQL's
    columns = ", ".join(editor.quote_name(name) for name in names)
    editor.execute(_trigger(editor, table, trigger_name(table), columns, ""))
    if emptied:
        column = editor.quote_name(emptied)
        editor.execute(
            _trigger(editor, table, f"{trigger_name(table)}_{emptied}", column, f"NEW.{column} IS NOT NULL")
        )


def unguard(editor: BaseDatabaseSchemaEditor, table: str, emptied: str = "") -> None:
    """Let the rows of the table be changed: a migration that must, and that guards it again afterwards."""
    on = f" ON {editor.quote_name(table)}" if editor.connection.vendor == "postgresql" else ""
    for name in [trigger_name(table), *([f"{trigger_name(table)}_{emptied}"] if emptied else [])]:
        editor.execute(f"DROP TRIGGER IF EXISTS {name}{on}")


def trigger_name(table: str) -> str:
    """The trigger of a table that every change meets."""
    return f"{table}_append_only"


def tables_unguarded() -> list[str]:
    """Tables of rows that are only added which the database would let anybody change."""
    there = _triggers()
    return sorted(table for table in append_only_tables() if trigger_name(table) not in there)


def append_only_tables() -> list[str]:
    """The tables of all models whose rows are only added."""
    return [_table(model) for model in apps.get_models() if issubclass(model, AppendOnly)]


def _table(model: type[models.Model]) -> str:
    return model._meta.db_table


def _triggers() -> set[str]:
    """Names of the triggers that are on."""
    if connection.vendor == "postgresql":
        statement = "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D'"
    else:
        statement = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return {name for (name,) in cursor.fetchall()}


def _trigger(editor: BaseDatabaseSchemaEditor, table: str, name: str, columns: str, when: str) -> str:
    condition = f"WHEN ({when})" if when else ""
    postgresql = editor.connection.vendor == "postgresql"
    does = f"EXECUTE FUNCTION {REFUSE}()" if postgresql else f"BEGIN {_raise(table)}; END"
    return (
        f"CREATE TRIGGER {name} BEFORE UPDATE OF {columns} ON {editor.quote_name(table)}"
        f" FOR EACH ROW {condition} {does}"
    )


def _raise(table: str) -> str:
    return f"SELECT RAISE(ABORT, '{table} is append-only')"
