"""Define the admin page of conditions, with one typed field for each setting of a world or agent."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from kitchen.forms.setting_fields import readable_name
from kitchen.words.english_text import counted_noun
from study.admin.admin_mixins import ExplainedDeletion, OwnStudiesFilter, PlayedColumns
from study.design.condition_choices import (
    COPLAYER,
    WORLD,
    ChoosableKind,
    all_kinds,
    condition_warnings,
    described_settings,
)
from study.design.models import Condition, Study
from study.design.naming_rules import dependent_participants
from study.editor.condition_and_item_forms import (
    SHOW_BUTTON,
    ConditionForm,
    condition_form,
    next_position,
    requested_kind,
)
from study.editor.design_services import (
    condition_copy,
    condition_delete,
    condition_deletion_problem,
    unused_label,
)
from study.participants.participant_counts import describe_begun, people_of
from study.pilot.previews import previews_erase
from study.researchers.permissions import studies_for

MORE = (
    *("step_seconds", "thinking_seconds", "shown", "three_dimensions", "shows_intents", "passes_by"),
    *("knowing", "decision_seconds", "offers_plans"),
)
"""Fields about the condition's clock, its teammates' speed, its display and what its page offers."""
Fieldsets = list[tuple[str | None, dict[str, Any]]]


@admin.register(Condition)
class ConditionAdmin(PlayedColumns, ExplainedDeletion):
    """The admin of conditions.

    Study and key cannot change while participants have the condition in their plan.
    """

    form = ConditionForm
    list_display = ("name", "study", "key", "position", "world_name", "coplayer_name", "teammates")
    list_filter = (("study", OwnStudiesFilter),)
    list_select_related = ("study",)
    ordering = ("study__title", "position", "id")
    actions = ("duplicate",)
    change_form_template = "admin/study/change_form.html"

    class Media:
        css = {"all": ["css/admin-study.css"]}
        js = ["js/admin-condition.js"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Condition]:
        """Annotate conditions with `planned`, the number of participants' rounds in them."""
        conditions: QuerySet[Condition] = super().get_queryset(request)
        return conditions.annotate(planned=Count("rounds"))

    def get_form(self, request: Any, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Return the form with the worlds and co-players that are currently registered."""
        form = super().get_form(request, obj, change, **{**kwargs, "form": condition_form()})
        if study := form.base_fields.get("study"):
            for what in ("add", "change", "delete", "view"):
                setattr(study.widget, f"can_{what}_related", False)
        return form

    def formfield_for_foreignkey(self, db_field: Any, request: Any, **kwargs: Any) -> Any:
        """Offer only studies that this user may edit."""
        if db_field.name == "study":
            kwargs["queryset"] = studies_for(request.user, "edit")
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Put a new condition after the last one of its study, with an unused label."""
        initial: dict[str, Any] = super().get_changeform_initial_data(request)
        study = str(initial.get("study", ""))
        if study.isdecimal():
            asked = Study.objects.filter(pk=int(study)).first()
            initial["position"] = next_position(asked)
            if asked:
                initial.setdefault("label", unused_label(asked))
        return initial

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Return the read-only fields.

        Study and key are among them if participants depend on the condition.
        """
        fixed = ("study", "key") if obj and (obj.planned or dependent_participants(obj)) else ()
        return ("show_settings", "preview", "world_settings", "coplayer_settings", *fixed)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return the fieldsets: names, who plays, then the settings of every kind.

        The page shows the chosen kinds.
        """
        names = {"fields": ["study", "key", "name", "label", "position"]}
        if not self._writes(request, obj):
            told = {"fields": [WORLD, "world_settings", COPLAYER, "teammates", "coplayer_settings", *MORE]}
            return [(None, names), ("What is played, and with whom", told)]
        plays = {"fields": [WORLD, COPLAYER, "teammates", *MORE, "preview", "show_settings"]}
        return [(None, names), ("What is played, and with whom", plays), *self._settings(request, obj)]

    def _writes(self, request: HttpRequest, obj: Any) -> bool:
        allowed = self.has_change_permission(request, obj) if obj else self.has_add_permission(request)
        return bool(allowed)

    def _settings(self, request: HttpRequest, obj: Condition | None) -> Fieldsets:
        asked = {part: requested_kind(request, obj, part) for part in (WORLD, COPLAYER)}
        return [_settings_of(kind, asked[kind.part]) for kind in all_kinds() if kind.settings]

    @admin.display(description="Settings")
    def show_settings(self, condition: Condition) -> SafeString:
        """Return the button that reloads the form for another choice, for browsers without JavaScript."""
        return format_html(
            '<button type="submit" name="{}" value="1" class="button show-settings">'
            "Show the settings of this choice</button>",
            SHOW_BUTTON,
        )

    @admin.display(description="Try it")
    def preview(self, condition: Condition) -> str:
        """Return the link to the console page that previews the condition without counting it."""
        if condition.pk is None:
            return "Once it is saved."
        url = reverse("study:staff-design", args=[condition.study.slug])
        return format_html('<a href="{}">Preview it in the console</a>', url)

    @admin.display(description="World's settings")
    def world_settings(self, condition: Condition) -> str:
        """Return the settings of the world in words."""
        return _told(WORLD, condition.world, condition.settings)

    @admin.display(description="Co-player's settings")
    def coplayer_settings(self, condition: Condition) -> str:
        """Return the settings of the co-player in words."""
        return _told(COPLAYER, condition.coplayer, condition.coplayer_settings)

    def render_change_form(self, request: Any, context: Any, *args: Any, **kwargs: Any) -> Any:
        """Show the page with warnings above it, for example that participants have begun."""
        condition = kwargs.get("obj")
        context["cautions"] = _minded(condition) if condition else ()
        if condition and people_of(condition.study).exists():
            context["banner"] = (
                f"{describe_begun(condition.study)}; changes apply to those who enter from now on; who "
                "is in plays the version they entered. Duplicate the study if the two must not mix."
            )
        return super().render_change_form(request, context, *args, **kwargs)

    def save_model(self, request: HttpRequest, obj: Condition, form: Any, change: bool) -> None:
        """Save the condition and show the warnings of its world and co-player."""
        super().save_model(request, obj, form, change)
        for text in condition_warnings(obj):
            messages.warning(request, f"{obj.name} can be played, but mind: {text}.")
        for text in _minded(obj):
            messages.warning(request, f"{obj.name}: {text}")
        if not change and people_of(obj.study).exists():
            messages.warning(
                request, f"{describe_begun(obj.study)}; only those who come now play {obj.name}."
            )

    def response_post_save_add(self, request: HttpRequest, obj: Condition) -> HttpResponseRedirect:
        """Return to the study's page."""
        return self.response_post_save_change(request, obj)

    def response_post_save_change(self, request: HttpRequest, obj: Condition) -> HttpResponseRedirect:
        """Return to the study's page."""
        return HttpResponseRedirect(reverse("admin:study_study_change", args=[obj.study_id]))

    def why_not_deleted(self, obj: Condition) -> str:
        """Return why the condition cannot be deleted, or an empty string. The console has the same rules."""
        return condition_deletion_problem(obj)

    def erase(self, obj: Condition) -> None:
        """Delete the condition and its previews, as the console does."""
        condition_delete(condition=obj)

    def clear(self, obj: Condition) -> None:
        """Erase the study's previews if one of them plays the condition and the condition can be deleted."""
        if not self.why_not_deleted(obj) and obj.rounds.exists():
            previews_erase(study_id=obj.study_id)

    @admin.action(description="Duplicate the selected conditions", permissions=["add"])
    def duplicate(self, request: HttpRequest, queryset: QuerySet[Condition]) -> HttpResponse | None:
        """Copy each condition within its study. A single copy is opened."""
        mine = queryset.filter(study__in=studies_for(request.user, "edit").values("pk"))
        made = [condition_copy(condition) for condition in mine.select_related("study")]
        messages.success(request, f"{counted_noun(len(made), 'condition')} duplicated.")
        if len(made) != 1:
            return None
        return HttpResponseRedirect(reverse("admin:study_condition_change", args=[made[0].pk]))


def _settings_of(kind: ChoosableKind, chosen: str) -> tuple[str | None, dict[str, Any]]:
    fields = [name for name, _ in kind.named_settings()]
    classes = ["settings-of", f"settings-of-{kind.part}", f"is-{kind.name}"]
    classes += [] if kind.name == chosen else ["not-chosen"]
    return (f"Settings of {readable_name(kind.name)}", {"fields": fields, "classes": classes})


def _minded(condition: Condition) -> tuple[str, ...]:
    """Return warnings and remarks about a condition, in sentences."""
    return (*condition.cautions, *condition.unmeasured, *condition.remarks)


def _told(part: str, name: str, values: dict[str, Any]) -> str:
    told = described_settings(part, name, values)
    return format_html_join("", "{}: {}<br>", told) if told else "none"
