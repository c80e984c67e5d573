"""Base class for append-only rows, and database triggers that refuse changes to them.

Rows can be deleted, because a withdrawal erases a participant's data. A `SET_NULL` foreign key may be set to
NULL when its target is deleted. Every other change is refused, by the model and by the triggers.

SQLite's REPLACE deletes a row and inserts another without firing update triggers. On SQLite an insert is
therefore refused if another row has the same id or the same unique columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Never

from django.apps import apps
from django.db import connection, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


class AppendOnlyError(TypeError):
    """Somebody tried to change a row of the log."""


class AppendOnlyQuerySet(models.QuerySet[Any]):
    """Rows that can be written and erased (a withdrawal), and never changed."""

    def update(self, **fresh: Any) -> int:
        """Refused, but for what Django does when a row is deleted that others name: it is forgotten."""
        if fresh and all(value is None and self._may_be_emptied(name) for name, value in fresh.items()):
            return super().update(**fresh)
        raise self._refusal()

    def _may_be_emptied(self, name: str) -> bool:
        return getattr(self.model._meta.get_field(name).remote_field, "on_delete", None) is models.SET_NULL

    def _refusal(self) -> AppendOnlyError:
        return AppendOnlyError(f"{self.model.__name__} is append-only")

    def bulk_create(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Insert; AppendOnlyError if rows that are there would be changed."""
        if kwargs.get("update_conflicts"):
            raise self._refusal()
        return super().bulk_create(*args, **kwargs)

    def bulk_update(self, *_: Any, **__: Any) -> Never:
        """Refused."""
        raise self._refusal()


class AppendOnly(models.Model):
    """A row of the log: written once."""

    objects: ClassVar[models.Manager[Any]] = AppendOnlyQuerySet.as_manager()

    class Meta:
        abstract = True
        base_manager_name = "objects"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert; AppendOnlyError if the row is there already."""
        if not self._state.adding:
            raise AppendOnlyError(f"{type(self).__name__} is append-only")
        super().save(*args, **{**kwargs, "force_insert": True})


REFUSE = "brigade_append_only"
"""PostgreSQL's function that all triggers call; it stays where it is, others may use it."""
_BODY = """
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END """
_FUNCTION = f"CREATE OR REPLACE FUNCTION {REFUSE}() RETURNS trigger LANGUAGE plpgsql AS $${_BODY}$$"

Unique = Sequence[Sequence[str]]
"""Columns that no two rows have the same, group by group."""


def add_guard_triggers(
    editor: BaseDatabaseSchemaEditor, table: str, names: Sequence[str], emptied: str = "", unique: Unique = ()
) -> None:
    """Refuse every change of these columns of the table, and of `emptied` unless it is set to NULL; and rows
    that would take the place of others, by their id or by these groups of `unique` columns."""
    if editor.connection.vendor == "postgresql":
        editor.execute(_FUNCTION, None)  # no values: its % is PostgreSQL's
    for statement in guard_triggers(editor.connection, table, names, emptied, unique).values():
        editor.execute(statement, None)


def remove_guard_triggers(editor: BaseDatabaseSchemaEditor, table: str, emptied: str = "") -> None:
    """Let the rows of the table be changed: a migration that must, and that guards it again afterwards."""
    on = f" ON {editor.quote_name(table)}" if editor.connection.vendor == "postgresql" else ""
    for name in (trigger_name(table), f"{trigger_name(table)}_{emptied}", _insert_name(table)):
        editor.execute(f"DROP TRIGGER IF EXISTS {name}{on}")


def trigger_name(table: str) -> str:
    """The trigger of a table that every change meets."""
    return f"{table}_append_only"


def _insert_name(table: str) -> str:
    return f"{table}_no_replacing"


def guard_triggers(
    there: BaseDatabaseWrapper, table: str, names: Sequence[str], emptied: str = "", unique: Unique = ()
) -> dict[str, str]:
    """The triggers of a guarded table, by name, as this database has them made."""
    quoted, name = there.ops.quote_name(table), trigger_name(table)
    does = f"EXECUTE FUNCTION {REFUSE}()"
    if there.vendor == "sqlite":
        does = f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
    columns = ", ".join(there.ops.quote_name(each) for each in sorted(names))
    every = f"ON {quoted} FOR EACH ROW"
    made = {name: f"CREATE TRIGGER {name} BEFORE UPDATE OF {columns} {every} {does}"}
    if emptied:
        column, name = there.ops.quote_name(emptied), f"{name}_{emptied}"
        when = f"WHEN (NEW.{column} IS NOT NULL)"
        made[name] = f"CREATE TRIGGER {name} BEFORE UPDATE OF {column} {every} {when} {does}"
    if there.vendor == "sqlite":
        name, taken = _insert_name(table), _taken(there, quoted, [["id"], *unique])
        made[name] = f"CREATE TRIGGER {name} BEFORE INSERT {every} WHEN {taken} {does}"
    return made


def _taken(there: BaseDatabaseWrapper, quoted: str, unique: Unique) -> str:
    """Whether a row is there that has one of these groups of columns in common with the new one."""
    groups = ([there.ops.quote_name(name) for name in group] for group in unique)
    same = (" AND ".join(f"{name} = NEW.{name}" for name in group) for group in groups)
    return " OR ".join(f"EXISTS (SELECT 1 FROM {quoted} WHERE {each})" for each in same)  # noqa: S608 - ours


def unguarded_tables() -> list[str]:
    """Tables of rows that are only added which the database would let somebody change: a trigger is not
    there, is off, or is not the one that we make."""
    there = _triggers()
    return sorted(
        model._meta.db_table
        for model in append_only_models()
        if any(there.get(name) != _plainly(text) for name, text in _wanted(model).items())
    )


def append_only_models() -> list[type[models.Model]]:
    """All models whose rows are only added."""
    return [model for model in apps.get_models() if issubclass(model, AppendOnly)]


def append_only_tables() -> list[str]:
    """Their tables."""
    return [model._meta.db_table for model in append_only_models()]


def _wanted(model: type[models.Model]) -> dict[str, str]:
    """The triggers that the table of this model is to have."""
    fields = model._meta.concrete_fields
    emptied = [str(field.column) for field in fields if _may_be_emptied(field)]
    names = [str(field.column) for field in fields if field.column not in emptied]
    return guard_triggers(connection, model._meta.db_table, names, "".join(emptied), unique_columns(model))


def _may_be_emptied(field: models.Field) -> bool:  # type: ignore[type-arg]
    return getattr(field.remote_field, "on_delete", None) is models.SET_NULL


def unique_columns(model: type[models.Model]) -> list[list[str]]:
    """The columns of a model's rows that no two rows have the same, beside the id."""
    fields = model._meta.concrete_fields
    column = {field.name: str(field.column) for field in fields}
    alone = [[column[field.name]] for field in fields if field.unique and not field.primary_key]
    together = [each for each in model._meta.constraints if isinstance(each, models.UniqueConstraint)]
    return alone + [[column[name] for name in each.fields] for each in together]


def _triggers() -> dict[str, str]:
    """The triggers that are on, by name."""
    if connection.vendor == "sqlite":
        statement = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        return {name: _plainly(text) for name, text in _rows(statement)}
    if (_BODY,) not in _rows(f"SELECT prosrc FROM pg_proc WHERE proname = '{REFUSE}'"):  # noqa: S608 - ours
        return {}
    on = "NOT tgisinternal AND tgenabled IN ('O', 'A')"
    statement = f"SELECT tgname, pg_get_triggerdef(oid, true) FROM pg_trigger WHERE {on}"  # noqa: S608 - ours
    return {name: _plainly(text) for name, text in _rows(statement)}


def _rows(statement: str) -> Iterator[tuple[str, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        yield from cursor.fetchall()


def _plainly(text: str) -> str:
    """A trigger without what each database spells as it likes."""
    for mark in '"()':
        text = text.replace(mark, " " if mark == "(" else "")
    return " ".join(text.lower().split())
