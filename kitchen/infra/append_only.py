"""Define database models whose rows can be added but never changed, and erased only on purpose.

Database triggers enforce this. Participants can withdraw their data: within `erasure_allowed`, rows can be
deleted, and the columns `erasable` of a model can be emptied. A foreign key with `SET_NULL` may become NULL.
All other changes are refused. On SQLite, this includes inserts that would replace a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Never

from django.apps import apps
from django.db import connection, models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.signals import connection_created


class AppendOnlyError(TypeError):
    """Raised if code tries to change a row of an append-only table, such as the log, or to delete one
    outside of `erasure_allowed`."""


ERASES = "brigade_erases"
"""Attribute of a database connection: True while it may erase rows. SQLite has a function of this name."""
_SETTING = "brigade.erases"
"""PostgreSQL's setting of the same meaning. It ends with the transaction."""


@contextmanager
def erasure_allowed() -> Iterator[None]:
    """Context manager: let the block erase rows of append-only tables, in one transaction. Other connections
    may still not."""
    with transaction.atomic():
        if is_erasing():
            yield
            return
        _set_erasing(True)
        try:
            yield
        except BaseException:
            setattr(connection, ERASES, False)  # the rollback resets PostgreSQL's setting
            raise
        _set_erasing(False)


def is_erasing() -> bool:
    """Return whether this connection may erase rows of append-only tables now."""
    return bool(getattr(connection, ERASES, False))


def _set_erasing(on: bool) -> None:
    setattr(connection, ERASES, on)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config(%s, %s, true)", [_SETTING, "on" if on else ""])


def add_erasure_function(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Let SQLite's triggers call `brigade_erases()` on a new connection. On connections of other programs
    there is no such function, so they can erase nothing."""
    if connection.vendor == "sqlite":
        connection.connection.create_function(ERASES, 0, lambda: bool(getattr(connection, ERASES, False)))


connection_created.connect(add_erasure_function, dispatch_uid=ERASES)


class AppendOnlyQuerySet(models.QuerySet[Any]):
    """A query set whose rows can be inserted, but never changed, and deleted only in `erasure_allowed`."""

    def update(self, **fresh: Any) -> int:
        """Set columns to NULL as Django does when the target of a `SET_NULL` key is deleted, or erase values
        in `erasure_allowed`. Raises AppendOnlyError for any other change."""
        field_of = self.model._meta.get_field
        emptied = all(value is None and _may_be_emptied(field_of(name)) for name, value in fresh.items())
        erased = is_erasing() and set(fresh) <= set(self.model.erasable)
        if fresh and (emptied or erased):
            return super().update(**fresh)
        raise self._refusal()

    def delete(self) -> tuple[int, dict[str, int]]:
        """Delete the rows. Raises AppendOnlyError outside of `erasure_allowed`."""
        if not is_erasing():
            raise self._refusal()
        return super().delete()

    delete.alters_data = True  # type: ignore[attr-defined]
    delete.queryset_only = True  # type: ignore[attr-defined]

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
    erasable: ClassVar[tuple[str, ...]] = ()
    """Fields whose value may be replaced in `erasure_allowed`, because it may identify a person."""

    class Meta:
        abstract = True
        base_manager_name = "objects"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert the row. Raises AppendOnlyError if it is already stored."""
        if not self._state.adding:
            raise AppendOnlyError(f"{type(self).__name__} is append-only")
        super().save(*args, **{**kwargs, "force_insert": True})

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Delete the row. Raises AppendOnlyError outside of `erasure_allowed`."""
        if not is_erasing():
            raise AppendOnlyError(f"{type(self).__name__} is append-only")
        return super().delete(*args, **kwargs)


REFUSE = "brigade_append_only"
"""Name of the PostgreSQL function that all triggers call. It is never removed, because others may use it."""
_BODY = """
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END """
_FUNCTION = f"CREATE OR REPLACE FUNCTION {REFUSE}() RETURNS trigger LANGUAGE plpgsql AS $${_BODY}$$"

Unique = Sequence[tuple[Sequence[str], Sequence[str]]]
"""Groups of columns whose values no two rows share; each with the columns that are NULL in such rows."""


def add_guard_triggers(
    editor: BaseDatabaseSchemaEditor, model: type[models.Model], erasable: Sequence[str] = ()
) -> None:
    """Create the triggers that make the table of this model append-only, in place of existing ones. Call this
    in the migration that creates the table or adds a column. `erasable` is that of the model, which models
    in migrations do not have."""
    on = ""
    if editor.connection.vendor == "postgresql":
        editor.execute(_FUNCTION, None)  # without parameters, so that % reaches PostgreSQL
        on = f" ON {editor.quote_name(model._meta.db_table)}"
    for name, statement in _wanted(editor.connection, model, erasable).items():
        editor.execute(f"DROP TRIGGER IF EXISTS {name}{on}")
        editor.execute(statement, None)


def trigger_name(table: str) -> str:
    """Return the name of the trigger that refuses updates in this table."""
    return f"{table}_append_only"


def _insert_name(table: str) -> str:
    return f"{table}_no_replacing"


def erasure_trigger_name(table: str) -> str:
    """Return the name of the trigger that refuses to delete rows of this table."""
    return f"{table}_no_erasing"


def guard_triggers(
    there: BaseDatabaseWrapper,
    table: str,
    names: Sequence[str],
    emptied: str = "",
    unique: Unique = (),
    erasable: Sequence[str] = (),
) -> dict[str, str]:
    """Return the SQL statements that create the triggers of an append-only table, by trigger name. `there` is
    the database connection.

    The triggers refuse updates of the columns `names`. They allow setting the column `emptied` to NULL, but
    to no other value. Outside of `erasure_allowed`, they refuse deletes and updates of the columns
    `erasable`. On SQLite they also refuse inserts with an existing id, or with existing values in a group of
    `unique` columns.
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
    unless, name = _unless_erasing(there), erasure_trigger_name(table)
    made[name] = f"CREATE TRIGGER {name} BEFORE DELETE {every} {unless} {does}"
    for each in erasable:
        column, name = there.ops.quote_name(each), f"{trigger_name(table)}_{each}"
        made[name] = f"CREATE TRIGGER {name} BEFORE UPDATE OF {column} {every} {unless} {does}"
    if there.vendor == "postgresql":
        name = f"{table}_no_truncating"
        made[name] = f"CREATE TRIGGER {name} BEFORE TRUNCATE ON {quoted} FOR EACH STATEMENT {unless} {does}"
    if there.vendor == "sqlite":
        name, taken = _insert_name(table), _taken(there, quoted, [(["id"], []), *unique])
        made[name] = f"CREATE TRIGGER {name} BEFORE INSERT {every} WHEN {taken} {does}"
    return made


def _unless_erasing(there: BaseDatabaseWrapper) -> str:
    """Return the condition of triggers that do nothing in `erasure_allowed`."""
    if there.vendor == "sqlite":
        return f"WHEN (NOT {ERASES}())"
    return f"WHEN (current_setting('{_SETTING}'::text, true) IS DISTINCT FROM 'on'::text)"


def _taken(there: BaseDatabaseWrapper, quoted: str, unique: Unique) -> str:
    """Return an SQL condition for inserts. It is true if the table already has the new row's values in one of
    these groups of unique columns."""
    quote = there.ops.quote_name
    same = (
        " AND ".join(
            [f"{quote(name)} = NEW.{quote(name)}" for name in group]
            + [f"{quote(name)} IS NULL AND NEW.{quote(name)} IS NULL" for name in empty]
        )
        for group, empty in unique
    )
    return " OR ".join(f"EXISTS (SELECT 1 FROM {quoted} WHERE {each})" for each in same)  # noqa: S608 - ours


def unguarded_tables() -> list[str]:
    """Return the names of append-only tables whose triggers are missing, switched off or changed in the
    database."""
    there = _triggers()
    return sorted(
        model._meta.db_table
        for model in append_only_models()
        if any(
            there.get(name) != _plainly(text)
            for name, text in _wanted(connection, model, model.erasable).items()
        )
    )


def append_only_models() -> list[type[AppendOnly]]:
    """Return all installed models that derive from `AppendOnly`."""
    return [model for model in apps.get_models() if issubclass(model, AppendOnly)]


def _wanted(there: BaseDatabaseWrapper, model: type[models.Model], erasable: Sequence[str]) -> dict[str, str]:
    """Return the triggers that the table of this model must have, as SQL by name. `there` is the database
    connection."""
    fields = model._meta.concrete_fields
    emptied = [str(field.column) for field in fields if _may_be_emptied(field)]
    erased = [str(field.column) for field in fields if field.name in erasable]
    names = [str(field.column) for field in fields if field.column not in {*emptied, *erased}]
    return guard_triggers(there, model._meta.db_table, names, "".join(emptied), unique_columns(model), erased)


def _may_be_emptied(field: Any) -> bool:
    return getattr(field.remote_field, "on_delete", None) is models.SET_NULL


def unique_columns(model: type[models.Model]) -> list[tuple[list[str], list[str]]]:
    """Return the groups of columns whose values must be unique in this model, without the primary key. Each
    has the columns that must be NULL for that (`Unique`). Raises TypeError for other conditions."""
    fields = model._meta.concrete_fields
    column = {field.name: str(field.column) for field in fields}
    alone = [
        ([column[field.name]], list[str]()) for field in fields if field.unique and not field.primary_key
    ]
    together = [each for each in model._meta.constraints if isinstance(each, models.UniqueConstraint)]
    return alone + [
        ([column[name] for name in each.fields], [column[name] for name in _empty_fields(each)])
        for each in together
    ]


def _empty_fields(constraint: models.UniqueConstraint) -> list[str]:
    """Return the fields that must be empty for this constraint to hold. Fields that must not be empty need
    no condition, because NULL equals nothing."""
    children: Any = constraint.condition.children if constraint.condition else ()
    asked = dict[str, bool](children)
    if any(not lookup.endswith("__isnull") for lookup in asked):
        raise TypeError(f"{constraint.name}: only conditions with isnull are known here")
    return [lookup.removesuffix("__isnull") for lookup, empty in asked.items() if empty]


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
