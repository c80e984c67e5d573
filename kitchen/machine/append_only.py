"""Rows that are written once and never changed."""

from __future__ import annotations

from typing import Any, ClassVar, Never

from django.db import models


class AppendOnlyError(TypeError):
    """Somebody tried to change a row of the log."""


class AppendOnlyQuerySet(models.QuerySet[Any]):
    """Rows that can be written and erased (a withdrawal), and never changed."""

    def update(self, **_: Any) -> Never:
        """Refused."""
        raise AppendOnlyError(f"{self.model.__name__} is append-only")

    def bulk_create(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Insert; AppendOnlyError if rows that are there would be changed."""
        if kwargs.get("update_conflicts"):
            self.update()
        return super().bulk_create(*args, **kwargs)

    def bulk_update(self, *_: Any, **__: Any) -> Never:
        """Refused."""
        self.update()


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
