"""Rows that are written once and never changed."""

from __future__ import annotations

from typing import Any, ClassVar, Never

from django.db import models


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
