"""Define database models whose rows can be added and deleted but never changed.

Database triggers enforce this. Deletion is allowed because participants can withdraw their data. A foreign
key with `SET_NULL` may become NULL. All other changes are refused. On SQLite, this includes inserts that
would replace a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Never

from django.apps import apps
from django.db import connection, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


class AppendOnlyError(TypeError):
    """Raised if code tries to change a row of an append-only table, such as the log."""


class AppendOnlyQuerySet(models.QuerySet[Any]):
    """A query set whose rows can be inserted and deleted, but never changed."""

    def update(self, **fresh: Any) -> int:
        """Set columns to NULL as Django does when the target of a `SET_NULL` key is deleted. Raises
        AppendOnlyError for any other change."""
        field_of = self.model._meta.get_field
        if fresh and all(value is None and _may_be_emptied(field_of(name)) for name, value in fresh.items()):
            return super().update(**fresh)
        raise self._refusal()

    def _refusal(self) -> AppendOnlyError:
        return AppendOnlyError(f"{self.model.__name__} is append-only")

    def bulk_create(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Insert rows. Raises AppendOnlyError if the option `update_conflicts` is set, which would change
        existing rows."""
        if kwargs.get("update_conflicts"):
            raise self._refusal()
        return super().bulk_create(*args, **kwargs)

    def bulk_update(self, *_: Any, **__: Any) -> Never:
        """Refuse to change rows: raise AppendOnlyError."""
        raise self._refusal()


class AppendOnly(models.Model):
    """Abstract base class of models whose rows are never changed after they are stored."""

    objects: ClassVar[models.Manager[Any]] = AppendOnlyQuerySet.as_manager()

    class Meta:
        abstract = True
        base_manager_name = "objects"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert the row. Raises AppendOnlyError if it is already stored."""
        if not self._state.adding:
            raise AppendOnlyError(f"{type(self).__name__} is append-only")
        super().save(*args, **{**kwargs, "force_insert": True})


REFUSE = "brigade_append_only"
"""Name of the PostgreSQL function that all triggers call. It is never removed, because others may use it."""
_BODY = """
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END """
_FUNCTION = f"CREATE OR REPLACE FUNCTION {REFUSE}() RETURNS trigger LANGUAGE plpgsql AS $${_BODY}$$"

Unique = Sequence[Sequence[str]]
"""Groups of columns whose values no two rows share."""


def add_guard_triggers(editor: BaseDatabaseSchemaEditor, model: type[models.Model]) -> None:
    """Create the triggers that make the table of this model append-only, in place of existing ones. Call this
    in the migration that creates the table or adds a column."""
    on = ""
    if editor.connection.vendor == "postgresql":
        editor.execute(_FUNCTION, None)  # without parameters, so that % reaches PostgreSQL
        on = f" ON {editor.quote_name(model._meta.db_table)}"
    for name, statement in _wanted(editor.connection, model).items():
        editor.execute(f"DROP TRIGGER IF EXISTS {name}{on}")
        editor.execute(statement, None)


def trigger_name(table: str) -> str:
    """Return the name of the trigger that refuses updates in this table."""
    return f"{table}_append_only"


def _insert_name(table: str) -> str:
    return f"{table}_no_replacing"


def guard_triggers(
    there: BaseDatabaseWrapper, table: str, names: Sequence[str], emptied: str = "", unique: Unique = ()
) -> dict[str, str]:
    """Return the SQL statements that create the triggers of an append-only table, by trigger name. `there` is
    the database connection.

    The triggers refuse updates of the columns `names`. They allow setting the column `emptied` to NULL, but
    to no other value. On SQLite they also refuse inserts with an existing id, or with existing values in a
    group of `unique` columns.
    """
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
    """Return an SQL condition for inserts. It is true if the table already has the new row's values in one of
    these groups of unique columns."""
    groups = ([there.ops.quote_name(name) for name in group] for group in unique)
    same = (" AND ".join(f"{name} = NEW.{name}" for name in group) for group in groups)
    return " OR ".join(f"EXISTS (SELECT 1 FROM {quoted} WHERE {each})" for each in same)  # noqa: S608 - ours


def unguarded_tables() -> list[str]:
    """Return the names of append-only tables whose triggers are missing, switched off or changed in the
    database."""
    there = _triggers()
    return sorted(
        model._meta.db_table
        for model in append_only_models()
        if any(there.get(name) != _plainly(text) for name, text in _wanted(connection, model).items())
    )


def append_only_models() -> list[type[models.Model]]:
    """Return all installed models that derive from `AppendOnly`."""
    return [model for model in apps.get_models() if issubclass(model, AppendOnly)]


def _wanted(there: BaseDatabaseWrapper, model: type[models.Model]) -> dict[str, str]:
    """Return the triggers that the table of this model must have, as SQL by name. `there` is the database
    connection."""
    fields = model._meta.concrete_fields
    emptied = [str(field.column) for field in fields if _may_be_emptied(field)]
    names = [str(field.column) for field in fields if field.column not in emptied]
    return guard_triggers(there, model._meta.db_table, names, "".join(emptied), unique_columns(model))


def _may_be_emptied(field: Any) -> bool:
    return getattr(field.remote_field, "on_delete", None) is models.SET_NULL


def unique_columns(model: type[models.Model]) -> list[list[str]]:
    """Return the groups of columns whose values must be unique in this model, without the primary key."""
    fields = model._meta.concrete_fields
    column = {field.name: str(field.column) for field in fields}
    alone = [[column[field.name]] for field in fields if field.unique and not field.primary_key]
    together = [each for each in model._meta.constraints if isinstance(each, models.UniqueConstraint)]
    return alone + [[column[name] for name in each.fields] for each in together]


def _triggers() -> dict[str, str]:
    """Return the active triggers, by name."""
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
    """Return the SQL of a trigger in a standard form. Databases write it differently, and these differences
    do not matter."""
    for mark in '"()':
        text = text.replace(mark, " " if mark == "(" else "")
    return " ".join(text.lower().split())
