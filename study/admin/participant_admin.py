"""Define the read-only admin page of participants. It never shows a participant's secret key."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from kitchen.admin import ReadOnly
from study.admin.study_admin import MembersOnlyAdmin
from study.design.models import SurveyItem
from study.design.questions.item_fields import DOES_NOT_APPLY
from study.design.questions.item_kinds import answer_words
from study.participants.models import Answer, Participant, Round
from study.researchers.permissions import studies_for

SECRET = ("key", "entry")
"""Fields whose values give access to a participant's pages."""


class RoundInline(ReadOnly, admin.TabularInline):  # type: ignore[type-arg]
    """The rounds that the participant played, in order, with the answers."""

    model = Round
    fields = ("position", "condition", "played", "given", "answered_at")
    readonly_fields = fields
    can_delete = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Round]:
        """Return rounds with everything that the rows show."""
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
        """Return every answer in the form `Trust: 4 of 5`."""
        rows = ((answer.item.measure, describe_answer(answer)) for answer in one.answers.all())
        return format_html_join("", "{}: {}<br>", rows) or "none"


def describe_answer(answer: Answer) -> str:
    """Return `4 of 5` for a scale, else the chosen or written words."""
    if answer.item.kind == SurveyItem.Kind.LIKERT and answer.value != DOES_NOT_APPLY:
        return f"{answer.value} of {answer.item.points}"
    return answer_words(answer.value)


class OwnStudiesFilter(admin.RelatedFieldListFilter):
    """A filter by study that lists only the studies that this user may see."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        """Return the studies by title."""
        return [(str(study.pk), str(study)) for study in studies_for(request.user)]


@admin.register(Participant)
class ParticipantAdmin(MembersOnlyAdmin):
    """The admin of participants who entered and did not withdraw."""

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
        """Annotate participants with the numbers of answered and planned rounds."""
        participants: QuerySet[Participant] = super().get_queryset(request)
        done = Count("rounds", filter=Q(rounds__answered_at__isnull=False))
        return participants.annotate(rounds_done=done, rounds_total=Count("rounds"))

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """Refuse filters on secret fields, because they would reveal a secret letter by letter."""
        return lookup.split("__")[0] not in SECRET and super().lookup_allowed(lookup, value, request)

    @admin.display(description="Who", ordering="synthetic")
    def who(self, participant: Participant) -> SafeString:
        """Return a badge that tells people, programs and previews apart."""
        kind = "preview" if participant.preview else "synthetic" if participant.synthetic else "person"
        return format_html('<span class="badge {}">{}</span>', kind, kind)

    @admin.display(description="Rounds", ordering="rounds_done")
    def rounds(self, participant: Any) -> str:
        """Return the numbers of answered and planned rounds."""
        return f"{participant.rounds_done} of {participant.rounds_total}"
