"""Experiments in the admin: set up, started, watched, and two of them side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse

from kitchen import experimenting
from kitchen.coplayers.registry import COPLAYERS
from kitchen.experiments import tables
from kitchen.experiments.arguments import read_setup
from kitchen.experiments.forecast import forecast
from kitchen.experiments.plan import jobs_of
from kitchen.experiments.results import CellResult, results_of
from kitchen.experiments.setup import AGENTS, ALPHAS, PRESETS, Setup, SetupError
from kitchen.experiments.summary import last_line, score
from kitchen.llm.prices import PriceFileError, load_prices
from kitchen.models import Budget, Experiment

ARGUMENTS: tuple[str, ...] = (
    "co_player",
    "model",
    "preset",
    "levels",
    "agents",
    "alphas",
    "demo",
    "no_feedback",
    "no_hints",
)
ARGUMENTS += ("episodes", "seed")


def _listed(values: Sequence[object]) -> str:
    return ",".join(str(value) for value in values)


class ExperimentForm(forms.ModelForm):  # type: ignore[type-arg]
    """The arguments of `manage.py experiment` as fields; they become `Experiment.setup`."""

    co_player = forms.ChoiceField(choices=[(kind, kind) for kind in sorted(COPLAYERS)], initial="planner")
    model = forms.CharField(required=False, help_text="provider:model; several with commas for table 6.")
    preset = forms.ChoiceField(
        required=False,
        choices=[("", "none"), *((name, name) for name in PRESETS)],
        help_text="A table of the paper, with its own level and numbers of agents.",
    )
    levels = forms.CharField(required=False, help_text="Such as 0,1,3. Empty: the paper's 12.")
    agents = forms.CharField(required=False, help_text=f"Empty: {_listed(AGENTS)}.")
    alphas = forms.CharField(
        required=False, label="Intervals (alpha)", help_text=f"Empty: {_listed(ALPHAS)}."
    )
    demo = forms.CharField(
        required=False, label="Demonstration", help_text="few, none, or a number of agents; empty: full."
    )
    no_feedback = forms.BooleanField(required=False, label="Without feedback")
    no_hints = forms.BooleanField(required=False, label="Without inference knowledge")
    episodes = forms.IntegerField(initial=3, min_value=1, help_text="For each cell and interval.")
    seed = forms.IntegerField(initial=1, min_value=0)

    class Meta:
        model = Experiment
        fields = ("name", "at_once", "limit")

    def clean(self) -> dict[str, Any]:
        """All arguments together are an experiment that can be played."""
        found: dict[str, Any] = super().clean() or {}
        if not self.errors:
            try:
                self.setup = read_setup({name: found[name] or None for name in ARGUMENTS} | _numbers(found))
            except SetupError as error:
                raise ValidationError(str(error)) from error
        return found


def _numbers(found: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(found[name]) for name in ("episodes", "seed")}


@admin.register(Experiment)
class ExperimentAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """What is played is fixed once it is saved; how many at once and the money are not."""

    list_display = ("__str__", "what", "progress", "state", "created_at")
    ordering = ("-created_at",)
    actions = ("start", "stop", "compare")
    readonly_fields = ("what", "progress", "state", "created_at")
    change_form_template = "admin/kitchen/experiment.html"

    class Media:
        css = {"all": ["css/admin-study.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Experiment]:
        """Experiments with how many episodes they have, and how many are played."""
        found: QuerySet[Experiment] = super().get_queryset(request)
        played = Count("episodes", filter=Q(episodes__row__isnull=False))
        return found.annotate(all_episodes=Count("episodes"), played_episodes=played)

    def get_form(self, request: Any, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """All arguments for a new one; for one that there is, what may change."""
        if obj is None:
            return super().get_form(request, obj, change, **{**kwargs, "form": ExperimentForm})
        return super().get_form(request, obj, change, **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """As `get_form`."""
        if obj is None:
            return [(None, {"fields": ["name"]}), ("What is played", {"fields": list(ARGUMENTS)}), _HOW]
        shown = {"fields": ["name", "what", "progress", "state", "created_at"]}
        return [(None, shown), _HOW]

    def save_model(self, request: HttpRequest, obj: Experiment, form: Any, change: bool) -> None:
        """A new experiment comes with all its episodes, waiting to be started."""
        if change:
            obj.save(update_fields=["name", "at_once", "limit"])
            Budget.objects.filter(experiment=obj).update(limit=obj.limit)
            return
        made = experimenting.experiment_create(
            setup=form.setup, name=obj.name, at_once=obj.at_once, limit=obj.limit
        )
        obj.pk, obj.key, obj.setup = made.pk, made.key, made.setup
        obj._state.adding = False

    @admin.display(description="What is played")
    def what(self, experiment: Experiment) -> str:
        """The arguments in one line."""
        setup = Setup.from_json(experiment.setup)
        where = setup.preset or f"{_listed(setup.levels)} with {_listed(setup.agents)} agents"
        return f"{setup.coplayer}: {where}; alpha {_listed(setup.alphas)}; {setup.episodes} episodes each"

    @admin.display(description="Played")
    def progress(self, experiment: Any) -> str:
        """Episodes played, of all."""
        return f"{experiment.played_episodes} of {experiment.all_episodes} episodes"

    @admin.display(description="State")
    def state(self, experiment: Any) -> str:
        """Whether it runs, and why not."""
        if experiment.played_episodes == experiment.all_episodes:
            return "complete"
        if experiment.running:
            return "running"
        return f"stopped: {experiment.stopped_because}" if experiment.stopped_because else "not started"

    @admin.action(description="Start (or go on with) the selected experiments", permissions=["change"])
    def start(self, request: HttpRequest, found: QuerySet[Experiment]) -> None:
        """Queue them; one that costs money needs a limit first."""
        for experiment in found:
            try:
                refused = self._why_not_started(experiment)
            except PriceFileError as error:
                refused = str(error)
            if refused:
                self.message_user(request, f"{experiment}: {refused}", messages.ERROR)
            else:
                experimenting.experiment_start(experiment=experiment)
                self.message_user(request, f"{experiment} was started.")

    def _why_not_started(self, experiment: Experiment) -> str:
        if experiment.limit:
            return ""
        setup, played = Setup.from_json(experiment.setup), experimenting.rows_of(experiment)
        left = [job for job in jobs_of(setup) if job.key not in played]
        ahead = forecast(setup, left, load_prices())
        return "" if ahead.is_free else f"{ahead}. Set its limit of money, then start it."

    @admin.action(description="Stop the selected experiments", permissions=["change"])
    def stop(self, request: HttpRequest, found: QuerySet[Experiment]) -> None:
        """Episodes that are being played come to their end."""
        for experiment in found:
            experimenting.experiment_stop(experiment_id=experiment.pk, because="stopped by hand")

    @admin.action(description="Compare two experiments", permissions=["view"])
    def compare(self, request: HttpRequest, found: QuerySet[Experiment]) -> HttpResponse | None:
        """CoS of every cell of both, side by side."""
        if len(found) != 2:
            self.message_user(request, "Select two experiments.", messages.ERROR)
            return None
        both = [(experiment, results(experiment)) for experiment in found.order_by("created_at")]
        context = {
            **self.admin_site.each_context(request),
            "title": "Two experiments side by side",
            "opts": self.opts,
            "experiments": [
                (experiment, self.what(experiment), last_line(cells)) for experiment, cells in both
            ],
            "rows": side_by_side(*(cells for _, cells in both)),
            "back": reverse("admin:kitchen_experiment_changelist"),
        }
        return TemplateResponse(request, "admin/kitchen/experiments_compared.html", context)

    def render_change_form(self, request: Any, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        """The page, with the tables below it."""
        if experiment := kwargs.get("obj"):
            found = results(experiment)
            context["grids"] = tables.grids(Setup.from_json(experiment.setup), found)
            context["line"], context["explained"] = last_line(found), tables.EXPLAINED
            context["reload"] = experiment.running
        return super().render_change_form(request, context, *args, **kwargs)


_HOW = ("How", {"fields": ["at_once", "limit"]})


def results(experiment: Experiment) -> tuple[CellResult, ...]:
    """What an experiment has come to so far."""
    setup = Setup.from_json(experiment.setup)
    return results_of(setup, experimenting.rows_of(experiment).values())


def side_by_side(first: Sequence[CellResult], second: Sequence[CellResult]) -> list[tuple[str, ...]]:
    """Cell, CoS of the first, of the second, their difference, the paper's; cells of either."""
    ones, others = ({each.column.key: each for each in found} for found in (first, second))
    lines: list[tuple[str, ...]] = []
    for key in dict.fromkeys([*ones, *others]):
        pair = [found[key].cos if key in found else None for found in (ones, others)]
        known = None not in pair
        difference = f"{(pair[1] or 0) - (pair[0] or 0):+.3f}" if known else ""
        variant, level, agents = key
        name = f"{variant or level}, {agents} agents"
        papers = (ones.get(key) or others[key]).paper_cos
        lines.append((name, score(pair[0]), score(pair[1]), difference, score(papers)))
    return lines
