"""Define the admin page of studies: texts, link, survey items and conditions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.db.models import JSONField, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from kitchen.admin import ReadOnly
from kitchen.contract.data_files import DepthLimitedDecoder
from kitchen.llm.call_costs import format_dollars
from kitchen.money.budget_ledger import spent_or_reserved
from kitchen.words.english_text import counted_noun
from study.admin.admin_mixins import ExplainedDeletion, PlayedColumns, count_rows
from study.analysis.pre_launch_warnings import unmeasurable_warnings
from study.design.models import Condition, Outcome, Study, StudyPart, SurveyItem
from study.design.study_errors import DesignError
from study.editor.condition_and_item_forms import (
    StudyForm,
    SurveyItemForm,
    SurveyItemFormSet,
    with_answer_counts,
)
from study.editor.design_services import study_copy, study_delete, study_deletion_problem, study_open
from study.participants.models import Participant
from study.participants.participant_counts import describe_begun, has_begun, people_of
from study.pilot.previews import previews_erase
from study.planning.study_cost_forecast import forecast_costs
from study.researchers.models import Membership, SecurityEvent
from study.researchers.permissions import has_right
from study.researchers.security_events import log_security_event

PAGES = {"staff-study": "Participants", "staff-data": "Data", "staff-analysis": "Analysis"}
"""The researcher's pages of one study, with the labels of their links."""


class ConditionInline(PlayedColumns, ReadOnly, admin.TabularInline):  # type: ignore[type-arg]
    """A read-only list of a study's conditions. Each links to its own admin page."""

    model = Condition
    fields = ("position", "named", "key", "label", "world_name", "coplayer_name", "teammates")
    readonly_fields = fields
    can_delete = False
    template = "admin/study/condition_inline.html"

    @admin.display(description="Name")
    def named(self, condition: Condition) -> SafeString:
        """Return the condition's name as a link to its admin page."""
        address = reverse("admin:study_condition_change", args=[condition.pk])
        return format_html('<a href="{}">{}</a>', address, condition.name)


class StudyPartInline(admin.StackedInline):  # type: ignore[type-arg]
    """The parts beside the rounds. A part without a row has its default texts."""

    model = StudyPart
    extra = 0
    formfield_overrides = {JSONField: {"decoder": DepthLimitedDecoder}}


class MembershipInline(admin.TabularInline):  # type: ignore[type-arg]
    """Members of the study and their roles."""

    model = Membership
    extra = 0

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return whether the user owns the study."""
        return obj is not None and has_right(request.user, obj, "own")

    has_add_permission = has_change_permission = has_delete_permission = has_view_permission


class OutcomeInline(admin.TabularInline):  # type: ignore[type-arg]
    """Codes and addresses at the end."""

    model = Outcome
    extra = 0


class SurveyItemInline(admin.TabularInline):  # type: ignore[type-arg]
    """The study's survey items."""

    model = SurveyItem
    form = SurveyItemForm
    formset = SurveyItemFormSet
    extra = 1
    verbose_name_plural = "questions"

    def get_queryset(self, request: HttpRequest) -> QuerySet[SurveyItem]:
        """Annotate items with their numbers of answers."""
        return with_answer_counts(super().get_queryset(request))


@admin.register(Study)
class StudyAdmin(ExplainedDeletion):
    """The admin of studies. Link and seed are fixed once somebody has entered."""

    form = StudyForm
    study_path = "pk"
    list_display = ("title", "slug", "status", "has_conditions", "has_items", "people", "programs", "pages")
    list_filter = ("status",)
    search_fields = ("title", "slug")
    actions = ("duplicate",)
    inlines = (ConditionInline, SurveyItemInline, StudyPartInline, OutcomeInline, MembershipInline)
    change_form_template = "admin/study/change_form.html"
    change_list_template = "admin/study/study_list.html"
    fieldsets = (
        (
            "What participants read",
            {
                "fields": [
                    "title",
                    "shuffle_items",
                    "scores_above_surveys",
                    "remind_teams",
                    "shown",
                    "asks_first",
                    "blocked_words",
                ]
            },
        ),
        ("Link", {"fields": ["slug", "status", "participant_link", "pages"]}),
        (
            "Participants",
            {
                "fields": [
                    "recruitment",
                    "signed_only",
                    "prolific_workspace",
                    "max_participants",
                    "closes_at",
                    "entries_per_address",
                    "entries_per_minute",
                    "idle_warning_minutes",
                    "idle_minutes",
                    "keeps_devices",
                ]
            },
        ),
        ("Design", {"fields": ["orders", "same_dishes"]}),
        (
            "Preregistration",
            {
                "fields": [
                    "planned_participants",
                    "hypotheses",
                    "exclusions",
                    "failed_checks_allowed",
                    "planned_tests",
                    "main_test",
                    "measures_correction",
                    "planned_contrasts",
                ]
            },
        ),
        (
            "Teammates",
            {"fields": ["thinking_seconds", "budget_limit", "pauses_when_spent", "spent", "forecast"]},
        ),
        ("Chance", {"fields": ["seed"]}),
    )

    class Media:
        css = {"all": ["css/admin-study.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Study]:
        """Annotate studies with the counts that the list shows."""
        studies: QuerySet[Study] = super().get_queryset(request)
        complete = Participant.objects.filter(status=Participant.Status.COMPLETE)
        return studies.annotate(
            conditions_count=count_rows(Condition.objects.all()),
            items_count=count_rows(SurveyItem.objects.all()),
            people_count=count_rows(Participant.objects.filter(synthetic=False)),
            people_complete=count_rows(complete.filter(synthetic=False)),
            programs_count=count_rows(Participant.objects.filter(synthetic=True)),
        )

    @admin.display(description="Conditions", ordering="conditions_count")
    def has_conditions(self, study: Any) -> int:
        """Return the number of conditions."""
        return int(study.conditions_count)

    @admin.display(description="Survey items", ordering="items_count")
    def has_items(self, study: Any) -> int:
        """Return the number of survey items."""
        return int(study.items_count)

    @admin.display(description="People", ordering="people_count")
    def people(self, study: Any) -> str:
        """Return the number of people, and how many of them are complete."""
        return f"{study.people_count} ({study.people_complete} complete)"

    @admin.display(description="Synthetic", ordering="programs_count")
    def programs(self, study: Any) -> int:
        """Return the number of synthetic participants."""
        return int(study.programs_count)

    @admin.display(description="Researcher's pages")
    def pages(self, study: Study) -> str:
        """Return links to the study's pages for researchers."""
        rows = ((reverse(f"study:{name}", args=[study.slug]), words) for name, words in PAGES.items())
        return format_html_join(" · ", '<a href="{}">{}</a>', rows) if study.slug else "-"

    @admin.display(description="Participants' link")
    def participant_link(self, study: Study) -> str:
        """Return the full address of the participants' link."""
        if not study.slug:
            return "Shown here once the study is saved."
        whole = f"{settings.PUBLIC_URL}{study.get_absolute_url()}"
        return format_html('<a href="{}" class="participant-link">{}</a>', study.get_absolute_url(), whole)

    @admin.display(description="Spent")
    def spent(self, study: Study) -> str:
        """Return the costs of language models, including calls that are still running."""
        return format_dollars(spent_or_reserved(study.budget_id) if study.budget_id else 0)

    @admin.display(description="Forecast")
    def forecast(self, study: Study) -> str:
        """Return the forecast of costs, with a link to the details."""
        if not study.pk:
            return "Shown here once the study has conditions."
        costs = forecast_costs(study)
        words = f"{costs.each:.2f} USD a participant, for {costs.participants} to come. {costs.verdict}"
        address = reverse("study:staff-study", args=[study.slug])
        return format_html(
            '{} <a href="{}#money-title">For another number of participants</a>', words, address
        )

    def view_on_site(self, obj: Study) -> str:
        """Return the page of the participants' link."""
        return obj.get_absolute_url()

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Return the read-only fields. Link and seed are among them once somebody has entered."""
        return (
            "participant_link",
            "pages",
            "spent",
            "forecast",
            *(("slug", "seed") if has_begun(obj) else ()),
        )

    def save_model(self, request: HttpRequest, obj: Study, form: Any, change: bool) -> None:
        """Save only the changed fields, because somebody may have entered since the page was read.

        A study that is to be open is stored as closed. `save_related` opens it after all rows are stored.
        """
        opens = obj.status == Study.Status.OPEN and (not change or "status" in form.changed_data)
        if opens:
            obj.status = Study.Status.CLOSED
        form.opens = opens
        obj.save(update_fields=form.changed_data if change else None)
        if change and "status" in form.changed_data and not opens:
            log_security_event(SecurityEvent.Kind.STUDY_CLOSED, user=request.user, study=obj)
        if not change:
            user: Any = request.user  # only staff users have access to the admin
            obj.memberships.create(user=user, role=Membership.Role.OWNER)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Save the related rows, then open the study, or show why it stays closed."""
        super().save_related(request, form, formsets, change)
        if not form.opens:
            return
        try:
            study_open(study_id=form.instance.pk, by=request.user)
        except DesignError as error:
            messages.warning(request, f"Still closed. {error}")
        else:
            for words in unmeasurable_warnings(form.instance):
                messages.warning(request, words)

    def get_prepopulated_fields(self, request: HttpRequest, obj: Any = None) -> dict[str, Sequence[str]]:
        """Derive the link from the title while a study is new."""
        return {} if obj else {"slug": ("title",)}

    def get_inlines(self, request: HttpRequest, obj: Any) -> Any:
        """Return the inlines. Conditions and members need a saved study."""
        return self.inlines if obj else (SurveyItemInline, StudyPartInline, OutcomeInline)

    def render_change_form(self, request: Any, context: Any, *args: Any, **kwargs: Any) -> Any:
        """Show the page with a banner about fixed fields or about the next step."""
        study = kwargs.get("obj")
        if study is None:
            context["banner_quiet"] = "Begin with the words and the survey. Its conditions come after saving."
        elif people_of(study).exists():
            context["banner"] = f"{describe_begun(study)}: the name in the link and the seed are fixed."
        return super().render_change_form(request, context, *args, **kwargs)

    def response_post_save_add(self, request: HttpRequest, obj: Study) -> HttpResponseRedirect:
        """Continue with the conditions of the new study."""
        messages.info(request, "Next: add its conditions, below. Until then its link takes nobody.")
        return HttpResponseRedirect(reverse("admin:study_study_change", args=[obj.pk]))

    def why_not_deleted(self, obj: Study) -> str:
        """Return why the study cannot be deleted, or an empty string. The console has the same rules."""
        return study_deletion_problem(obj)

    def erase(self, obj: Study) -> None:
        """Delete the study as the console does."""
        study_delete(study_id=obj.pk)

    def clear(self, obj: Study) -> None:
        """Erase the study's previews if the study can be deleted."""
        if not self.why_not_deleted(obj):
            previews_erase(study_id=obj.pk)

    @admin.action(description="Duplicate the selected studies", permissions=["add"])
    def duplicate(self, request: HttpRequest, queryset: QuerySet[Study]) -> HttpResponse | None:
        """Copy each study, closed and without participants. A single copy is opened."""
        made = [study_copy(study, owner=request.user) for study in queryset]
        messages.success(
            request, f"{counted_noun(len(made), 'study', 'studies')} duplicated; copies begin closed."
        )
        if len(made) != 1:
            return None
        return HttpResponseRedirect(reverse("admin:study_study_change", args=[made[0].pk]))
