"""Define shared base classes of the study's admin pages.

They cover access by study membership, columns, filters, and explanations why a row cannot be deleted.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse

from kitchen.forms.setting_fields import readable_name
from kitchen.infra.database_writes import BatchedDeleteMixin
from study.design.condition_plan import NOBODY
from study.design.models import Condition, Study
from study.researchers.permissions import has_right, studies_for


class PlayedColumns:
    """Columns that show a condition's world and co-player in words."""

    @admin.display(description="World", ordering="world")
    def world_name(self, condition: Condition) -> str:
        """Return the world in words."""
        return readable_name(condition.world)

    @admin.display(description="Co-player", ordering="coplayer")
    def coplayer_name(self, condition: Condition) -> str:
        """Return the co-player in words."""
        return "nobody" if condition.coplayer == NOBODY else readable_name(condition.coplayer)


def count_rows(rows: QuerySet[Any], by: str = "study") -> Coalesce:
    """Return an expression that counts these rows for each study of a list. It takes one subquery."""
    per_study = rows.order_by().filter(**{by: OuterRef("pk")}).values(by).annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(per_study, output_field=IntegerField()), 0)


class MembersOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """An admin for rows of studies. A user needs the admin's permission and a right in the row's study."""

    study_path = "study"
    """The lookup path from a row to its study."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return rows of the studies that this user may see."""
        rows: QuerySet[Any] = super().get_queryset(request)
        if request.user.is_superuser:
            return rows
        return rows.filter(**{f"{self.study_path}__in": studies_for(request.user).values("pk")})

    def study_of(self, obj: Any) -> Study:
        """Return the study of a row."""
        return obj if isinstance(obj, Study) else obj.study

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return whether the user may edit the row's study."""
        return super().has_change_permission(request, obj) and self._may(request, obj, "edit")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return whether the user may edit the row's study. Only an owner may delete a whole study."""
        right = "own" if isinstance(obj, Study) else "edit"
        return super().has_delete_permission(request, obj) and self._may(request, obj, right)

    def _may(self, request: HttpRequest, obj: Any, right: str) -> bool:
        return obj is None or obj.pk is None or has_right(request.user, self.study_of(obj), right)


class OwnStudiesFilter(admin.RelatedFieldListFilter):
    """A filter by study that lists only the studies that this user may see."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        """Return the studies by title."""
        return [(str(study.pk), str(study)) for study in studies_for(request.user)]


class ExplainedDeletion(BatchedDeleteMixin, MembersOnlyAdmin):
    """An admin that explains why a row cannot be deleted while participants depend on it."""

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Show the list with the plural name of the model as its title."""
        title = str(self.opts.verbose_name_plural).capitalize()
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    def why_not_deleted(self, obj: Any) -> str:
        """Return why this row cannot be deleted, or an empty string."""
        raise NotImplementedError

    def erase(self, obj: Any) -> None:
        """Delete the row as the console does, with its previews.

        Raises DesignError if it cannot be deleted.
        """
        raise NotImplementedError

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> tuple[Any, Any, Any, Any]:
        """Return what Django's confirmation page shows: what is deleted, previews included, or why nothing
        is."""
        reasons = [f"{obj}: {reason}" for obj in objs if (reason := self.why_not_deleted(obj))]
        whole = [] if reasons else [f"{obj}, with all that belongs to it, and its previews" for obj in objs]
        lacking = {
            str(self.opts.verbose_name) for obj in objs if not self.has_delete_permission(request, obj)
        }
        return whole, {}, lacking, reasons

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        """Delete one row."""
        self.erase(obj)
