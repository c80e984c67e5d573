"""Deleting in Django's admin, which deletes a row with all that belongs to it in one transaction: what may be
much is erased before that, so that nobody who plays waits."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse


class ClearedFirst:
    """A ModelAdmin whose rows may have much that belongs to them; `clear` erases that, in pieces."""

    def clear(self, obj: Any, /) -> None:
        """Erase what belongs to this row, in transactions of its own, if the row may be deleted."""
        raise NotImplementedError

    def delete_view(
        self: Any, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        """One of them: once that is confirmed it is cleared, and then deleted."""
        if request.method == "POST" and "post" in request.POST:
            obj = self.get_object(request, object_id)
            if obj is not None and self.has_delete_permission(request, obj):
                self.clear(obj)
        answer: HttpResponse = super().delete_view(request, object_id, extra_context)  # type: ignore[misc]
        return answer

    def delete_queryset(self: Any, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Those that were ticked, one after another."""
        for obj in queryset:
            self.clear(obj)
            self.delete_model(request, obj)
