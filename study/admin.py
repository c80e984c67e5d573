"""Define the read-only Django admin pages of studies and participants.

Researchers edit studies in the console (the staff's part of the website), to which these pages link. No page
shows the secret key in a participant's personal link.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.db.models import Count, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from kitchen.admin import ReadOnly
from kitchen.forms.setting_fields import readable_name
from kitchen.llm.call_costs import format_dollars
from kitchen.money.budget_ledger import spent_or_reserved
from study.design.models import Condition, Study, SurveyItem
from study.design.questions.item_fields import DOES_NOT_APPLY
from study.design.questions.item_kinds import answer_words
from study.editor.describe_design import coplayer_words
from study.participants.models import Answer, Participant, Round
from study.researchers.permissions import studies_for

admin.site.unregister([StaticDevice, TOTPDevice])

PAGES = {
    "staff-design": "Design: edit it in the console",
    "staff-study": "Participants",
    "staff-data": "Data",
    "staff-analysis": "Analysis",
}
"""The researcher's pages of one study, with the labels of their links."""


class MembersOnlyAdmin(ReadOnly, admin.ModelAdmin):  # type: ignore[type-arg]
    """A read-only admin for rows that belong to studies. Users see only the rows of studies that they may
    see."""

    study_path = "study"
    """The lookup path from a row to its study."""
    right = "view"
    """The right in a study that a user needs to see its rows."""
    view_on_site = False

    class Media:
        css = {"all": ["css/admin-study.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the model's rows that belong to studies that this user may see."""
        seen = {f"{self.study_path}__in": studies_for(request.user, self.right).values("pk")}
        return super().get_queryset(request).filter(**seen)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Show the list with the plural name of the model as its title."""
        title = str(self.opts.verbose_name_plural).capitalize()
        return super().changelist_view(request, {"title": title, **(extra_context or {})})


class ConditionInline(ReadOnly, admin.TabularInline):  # type: ignore[type-arg]
    """The table of the study's conditions on the study's admin page."""

    model = Condition
    fields = ("position", "name", "key", "label", "world_name", "coplayer_name", "teammates")
    readonly_fields = ("world_name", "coplayer_name")

    @admin.display(description="World")
    def world_name(self, condition: Condition) -> str:
        """Return the readable name of the world."""
        return readable_name(condition.world)

    @admin.display(description="Co-player")
    def coplayer_name(self, condition: Condition) -> str:
        """Return the readable name of the co-player."""
        return coplayer_words(condition.coplayer)


def count_rows(rows: QuerySet[Any]) -> Coalesce:
    """Return a query expression that counts these rows for each study in a list, by a subquery."""
    per_study = rows.order_by().filter(study=OuterRef("pk")).values("study").annotate(n=Count("pk"))
    return Coalesce(Subquery(per_study.values("n"), output_field=IntegerField()), 0)


@admin.register(Study)
class StudyAdmin(MembersOnlyAdmin):
    """The admin pages of studies."""

    study_path = "pk"
    list_display = ("title", "slug", "status", "has_conditions", "has_items", "people", "programs", "pages")
    list_filter = ("status",)
    search_fields = ("title", "slug")
    inlines = (ConditionInline,)
    change_list_template = "admin/study/study_list.html"
    fields = ("title", "participant_link", "pages", "status", "recruitment", "orders", "seed", "spent")
    readonly_fields = ("participant_link", "pages", "spent")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Study]:
        """Return the studies with the numbers of their conditions, items and participants, which the list of
        studies shows."""
        people = Participant.objects.filter(synthetic=False)
        counts = {
            "conditions_count": Condition.objects.all(),
            "items_count": SurveyItem.objects.all(),
            "people_count": people,
            "people_complete": people.filter(status=Participant.Status.COMPLETE),
            "programs_count": Participant.objects.filter(synthetic=True),
        }
        studies: QuerySet[Study] = super().get_queryset(request)
        return studies.annotate(**{name: count_rows(rows) for name, rows in counts.items()})

    @admin.display(description="Conditions", ordering="conditions_count")
    def has_conditions(self, study: Any) -> int:
        """Return the number of conditions in this study."""
        return int(study.conditions_count)

    @admin.display(description="Survey items", ordering="items_count")
    def has_items(self, study: Any) -> int:
        """Return the number of survey items in this study."""
        return int(study.items_count)

    @admin.display(description="People", ordering="people_count")
    def people(self, study: Any) -> str:
        """Return the number of human participants, and how many of them have completed the study."""
        return f"{study.people_count} ({study.people_complete} complete)"

    @admin.display(description="Synthetic", ordering="programs_count")
    def programs(self, study: Any) -> int:
        """Return the number of synthetic participants."""
        return int(study.programs_count)

    @admin.display(description="Researcher's pages")
    def pages(self, study: Study) -> str:
        """Return HTML links to the study's pages in the console."""
        rows = ((reverse(f"study:{name}", args=[study.slug]), words) for name, words in PAGES.items())
        return format_html_join(" · ", '<a href="{}">{}</a>', rows)

    @admin.display(description="Participants' link")
    def participant_link(self, study: Study) -> str:
        """Return the full address at which participants enter the study."""
        there = study.get_absolute_url()
        return format_html('<a href="{}" class="participant-link">{}</a>', there, settings.PUBLIC_URL + there)

    @admin.display(description="Spent")
    def spent(self, study: Study) -> str:
        """Return the cost of language models in this study so far. The sum includes the amounts reserved
        for calls in progress."""
        return format_dollars(spent_or_reserved(study.budget_id) if study.budget_id else 0)


SECRET = ("key", "entry")
"""Fields whose values give access to a participant's pages."""


class RoundInline(ReadOnly, admin.TabularInline):  # type: ignore[type-arg]
    """The table of a participant's rounds and answers on the participant's admin page."""

    model = Round
    fields = ("position", "condition", "played", "given", "answered_at")
    readonly_fields = fields
    can_delete = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Round]:
        """Return the rounds with their episodes, conditions and answers, loaded together."""
        rounds = super().get_queryset(request).select_related("participant", "condition", "episode")
        return rounds.prefetch_related("answers__item")

    @admin.display(description="Episode")
    def played(self, one: Round) -> str:
        """Return the episode's status and step, with a link to its log."""
        if one.episode is None:
            return "not yet"
        address = reverse("admin:kitchen_episode_change", args=[one.episode.pk])
        words = f"{one.episode.get_status_display()}, step {one.episode.step}"
        return format_html('<a href="{}">{}</a>', address, words)

    @admin.display(description="Answers")
    def given(self, one: Round) -> str:
        """Return all answers of the round as HTML lines such as `Trust: 4 of 5`."""
        rows = ((answer.item.measure, describe_answer(answer)) for answer in one.answers.all())
        return format_html_join("", "{}: {}<br>", rows) or "none"


def describe_answer(answer: Answer) -> str:
    """Return the answer as text: `4 of 5` for a Likert item, else the chosen options or the written text."""
    if answer.item.kind == SurveyItem.Kind.LIKERT and answer.value != DOES_NOT_APPLY:
        return f"{answer.value} of {answer.item.points}"
    return answer_words(answer.value)


class OwnStudiesFilter(admin.RelatedFieldListFilter):
    """A filter by study that lists only the studies that this user may see."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        """Return (id, title) pairs of the studies that this user may see."""
        return [(str(study.pk), str(study)) for study in studies_for(request.user)]


@admin.register(Participant)
class ParticipantAdmin(MembersOnlyAdmin):
    """The admin of participants. Those who withdrew are erased, so they are not listed."""

    right = "results"
    list_display = ("code", "study", "number", "status", "who", "rounds", "entered_at")
    list_filter = (("study", OwnStudiesFilter), "status", "synthetic")
    list_select_related = ("study",)
    search_fields = ("code", "given_code")
    search_help_text = "A participant's code, or a completion code that somebody handed in."
    ordering = ("study__title", "-number")
    inlines = (RoundInline,)
    change_list_template = "admin/study/participant_list.html"
    fieldsets = (
        (None, {"fields": ["code", "study", "number", "who", "status", "given_code"]}),
        ("From", {"fields": ["source", "label", "referral", "version", "sequence"]}),
        ("When", {"fields": ["entered_at", "consented_at", "active_at", "ended_at", "end_reason"]}),
        ("Consent", {"fields": ["consent_hash"]}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Participant]:
        """Return the participants with the numbers of their answered and planned rounds."""
        participants: QuerySet[Participant] = super().get_queryset(request)
        done = Count("rounds", filter=Q(rounds__answered_at__isnull=False))
        return participants.annotate(rounds_done=done, rounds_total=Count("rounds"))

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """Return whether the list may be filtered by this field. Return False for secret fields, because
        filters would reveal a secret letter by letter."""
        return lookup.split("__")[0] not in SECRET and super().lookup_allowed(lookup, value, request)

    @admin.display(description="Who", ordering="synthetic")
    def who(self, participant: Participant) -> SafeString:
        """Return an HTML badge that distinguishes people, programs and previews."""
        kind = "preview" if participant.preview else "synthetic" if participant.synthetic else "person"
        return format_html('<span class="badge {}">{}</span>', kind, kind)

    @admin.display(description="Rounds", ordering="rounds_done")
    def rounds(self, participant: Any) -> str:
        """Return the numbers of answered and planned rounds."""
        return f"{participant.rounds_done} of {participant.rounds_total}"
