"""Define read-only Django admin pages on which staff view episodes and their logs.

The pages never show a player's secret key. `kitchen.play.episode.play_monitoring` decides who may see which
episode.
"""

from __future__ import annotations

import json
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.core.paginator import Page, Paginator
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from kitchen.contract.world import Json
from kitchen.experiments.admin import ExperimentAdmin as ExperimentAdmin
from kitchen.money.models import Spending
from kitchen.play.episode.play_monitoring import visible_episodes
from kitchen.play.models import Decision, Episode, Seat, Step
from kitchen.replay.episode_record import CommandLine, command_lines, other_events

STEPS_SHOWN = 25
"""Number of steps on one page of the log."""


class ReadOnly:
    """Mixin for admin pages on which nothing can be added, changed or deleted."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: nothing can be added."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: nothing can be changed."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: nothing can be deleted."""
        return False


@dataclass(frozen=True, slots=True)
class StepLine:
    """One step of an episode's log, for the admin page."""

    step: Step
    commands: tuple[CommandLine, ...]
    happened: tuple[str, ...]
    """Events that no seat's command caused."""
    decisions: tuple[Decision, ...]
    ledger: tuple[Spending, ...]
    """Amounts booked for the step's calls, including calls whose decision was lost with its worker."""


def log_page(episode: Episode, number: str | None) -> tuple[Page[Step], list[StepLine]]:
    """Return one page of an episode's log, and its steps, oldest first. `number` is the page number from the
    address.

    An invalid number gives the first or the last page.
    """
    steps = Step.objects.filter(episode=episode).order_by("number")
    page = Paginator(steps, STEPS_SHOWN).get_page(number)
    shown = list(page.object_list)
    numbers = [step.number for step in shown]
    decisions, ledger = _decisions(episode, numbers), _ledger(episode, numbers)
    return page, [_line(step, decisions[step.number], ledger[step.number]) for step in shown]


def _decisions(episode: Episode, numbers: list[int]) -> Mapping[int, list[Decision]]:
    by_step: dict[int, list[Decision]] = defaultdict(list)
    rows = Decision.objects.filter(mind__episode=episode, step__in=numbers)
    seen = (
        rows.order_by("step", "mind__number", "number")
        .defer("memory")
        .prefetch_related("calls__messages__prompt")
    )
    for row in seen:
        by_step[row.step].append(row)
    return by_step


def _ledger(episode: Episode, numbers: list[int]) -> Mapping[int, list[Spending]]:
    by_step: dict[int, list[Spending]] = defaultdict(list)
    rows = Spending.objects.filter(mind__episode=episode, step__in=numbers)
    for row in rows.select_related("mind").order_by("opened_at", "pk"):
        by_step[row.step or 0].append(row)
    return by_step


def _line(step: Step, decisions: Iterable[Decision], ledger: Iterable[Spending]) -> StepLine:
    return StepLine(
        step=step,
        commands=command_lines(step),
        happened=other_events(step),
        decisions=tuple(decisions),
        ledger=tuple(ledger),
    )


def _as_text(value: Json) -> SafeString:
    return format_html('<pre class="json">{}</pre>', json.dumps(value, indent=2, ensure_ascii=False))


class SeatInline(ReadOnly, admin.TabularInline):  # type: ignore[type-arg]
    """The seats of an episode and who plays them. The secret keys of seats are left out."""

    model = Seat
    fields = ("number", "name", "player")
    readonly_fields = fields
    can_delete = False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return True: everybody who may see the episode may see its seats."""
        return True

    def get_queryset(self, request: HttpRequest) -> QuerySet[Seat]:
        """Return the seats together with their agents, in one query."""
        return super().get_queryset(request).select_related("mind")

    @admin.display(description="Played by")
    def player(self, seat: Seat) -> str:
        """Return who plays this seat, as text: a person, or the kind of agent with its settings."""
        if seat.mind is None:
            return "a person" if seat.acts else "a person who leads, without a seat in the game"
        settings = json.dumps(seat.mind.settings, ensure_ascii=False) if seat.mind.settings else ""
        return format_html("{} <code>{}</code>", seat.mind, settings)


@admin.register(Episode)
class EpisodeAdmin(ReadOnly, admin.ModelAdmin):  # type: ignore[type-arg]
    """The admin pages of episodes: a list, and a page for each with its log."""

    list_display = ("key", "world", "label", "status", "step", "seat_count", "synthetic", "created_at")
    list_filter = ("status", "synthetic", "world")
    search_fields = ("label",)
    search_help_text = "A team label, or the whole key of an episode as in the data."
    ordering = ("-created_at",)
    inlines = (SeatInline,)
    change_form_template = "admin/kitchen/episode.html"
    fieldsets = (
        (None, {"fields": ["key", "status", "step", "label", "synthetic", "score_text"]}),
        ("Set-up", {"fields": ["world", "world_version", "settings_text", "seed", "decision_seconds"]}),
        ("Times and state hash", {"fields": ["created_at", "ended_at", "state_hash"]}),
    )
    readonly_fields = ("settings_text", "score_text")

    class Media:
        css = {"all": ["css/admin-study.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Episode]:
        """Return the episodes that this user may see, with the number of seats. The large column `state`
        is not loaded."""
        episodes: QuerySet[Episode] = super().get_queryset(request)
        if not request.user.is_superuser:
            episodes = episodes.filter(pk__in=visible_episodes(request.user).values("pk"))
        return episodes.defer("state").annotate(seats_found=Count("seats", filter=Q(seats__acts=True)))

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return whether the user may see the list of episodes or, with `obj`, this episode."""
        if obj is None:
            return super().has_view_permission(request)
        return visible_episodes(request.user).filter(pk=obj.pk).exists()

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Return the page with the list of episodes, titled “Episodes”."""
        return super().changelist_view(request, {"title": "Episodes", **(extra_context or {})})

    def get_search_results(self, request: Any, queryset: Any, search_term: str) -> tuple[Any, bool]:
        """Return the episode whose key is the search term. If the term is not a key, search the labels."""
        try:
            return queryset.filter(key=uuid.UUID(search_term.strip())), False
        except ValueError:
            return super().get_search_results(request, queryset, search_term)

    @admin.display(description="Seats", ordering="seats_found")
    def seat_count(self, episode: Any) -> int:
        """Return the number of seats, for a column of the list."""
        return int(episode.seats_found)

    @admin.display(description="Settings")
    def settings_text(self, episode: Episode) -> SafeString:
        """Return the world's settings in this episode as HTML."""
        return _as_text(episode.settings)

    @admin.display(description="Score")
    def score_text(self, episode: Episode) -> SafeString:
        """Return the episode's metrics so far as HTML."""
        return _as_text(episode.score)

    def render_change_form(self, request: Any, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        """Return the page of an episode, with one page of its log."""
        if episode := kwargs.get("obj"):
            page, lines = log_page(episode, request.GET.get("log"))
            context |= {"log": page, "lines": lines}
        return super().render_change_form(request, context, *args, **kwargs)
