"""Manage experiments, in which agents play without people, on Django admin pages.

Staff can create, start and watch experiments, compare two of them, and download files.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.timesince import timesince

from kitchen.contract.line_up import line_up_kinds
from kitchen.experiments import (
    database_logs,
    experiment_folder,
    experiment_services,
    log_tables,
    result_tables,
)
from kitchen.experiments.episode_rows import FAILED
from kitchen.experiments.experiment_form import (
    RUN_SETTINGS_FIELDSET,
    START_FIELD,
    RunSettingsForm,
    SpendingLimitForm,
    comma_list,
    exact_amount,
    experiment_form,
    fieldsets,
)
from kitchen.experiments.experiment_results import CellResult, cell_results_of, decision_makers_of
from kitchen.experiments.experiment_services import failed_episodes
from kitchen.experiments.experiment_setup import ExperimentSetup, SetupError
from kitchen.experiments.log_files import LOG_FOLDER, log_file_name
from kitchen.experiments.models import Experiment
from kitchen.experiments.result_tables import score_text, summary_line
from kitchen.forms.setting_fields import setting_value_text
from kitchen.infra.database_writes import BatchedDeleteMixin
from kitchen.infra.file_downloads import as_attachment, streaming_download
from kitchen.infra.file_writing import StreamBuffer
from kitchen.llm.call_costs import PriceFileError, format_dollars
from kitchen.money.budget_ledger import ledger_amount
from kitchen.registry.agent_registry import get_agent

LOGS_ARCHIVE = "log.zip"
"""The episode logs with the setup needed to replay them. Unpacked, it is a folder for `experiment_replay`."""
CSV_TYPE = "text/csv; charset=utf-8"

DOWNLOAD_TYPES: dict[str, str] = {
    "episodes.csv": CSV_TYPE,
    "table.csv": CSV_TYPE,
    "table.md": "text/markdown; charset=utf-8",
    "table.tex": "application/x-tex; charset=utf-8",
    "figure4.svg": "image/svg+xml",
    "figure4.pdf": "application/pdf",
    "figure4.png": "image/png",
    "experiment.json": "application/json",
    **dict.fromkeys(log_tables.TABLES, CSV_TYPE),
    LOGS_ARCHIVE: "application/zip",
}
"""File name → content type of every file that each experiment offers for download."""
GOAL_TYPES = {
    name.replace("figure4", "figure7"): kind for name, kind in DOWNLOAD_TYPES.items() if "figure4" in name
}
"""Content types of files that only experiments with a goal have."""


def downloadable_files(experiment: Experiment) -> dict[str, str]:
    """Return all files that this experiment offers for download: file name → content type."""
    drawn = GOAL_TYPES if experiment.setup.get("goal") else {}
    return {**DOWNLOAD_TYPES, **drawn, **dict.fromkeys(_tables(experiment), CSV_TYPE)}


def _tables(experiment: Experiment) -> Mapping[str, log_tables.TableRows]:
    return log_tables.log_table_files(ExperimentSetup.from_json(experiment.setup))


def file_response(experiment: Experiment, name: str) -> HttpResponseBase:
    """Return the response that downloads one file; log tables and the archive are streamed. Raises
    KeyError if there is no file of this name."""
    content_type, saved_as = downloadable_files(experiment)[name], f"experiment-{experiment.pk}-{name}"
    if name in (tables := _tables(experiment)):
        return streaming_download(
            log_tables.table_pieces(name, database_logs.readable_logs_of(experiment), tables),
            content_type,
            saved_as,
        )
    if name == LOGS_ARCHIVE:
        return streaming_download(_zip(experiment), content_type, saved_as)
    return as_attachment(HttpResponse(_file(experiment, name), content_type=content_type), saved_as)


def current_results(experiment: Experiment) -> tuple[CellResult, ...]:
    """Return the results of an experiment so far, one for each cell (variant of agents, level and number of
    agents)."""
    setup = ExperimentSetup.from_json(experiment.setup)
    return cell_results_of(setup, experiment_services.rows_of(experiment).values())


def _file(experiment: Experiment, name: str) -> bytes:
    setup = ExperimentSetup.from_json(experiment.setup)
    if name == experiment_folder.EPISODES:
        return experiment_folder.rows_file(setup, experiment_services.rows_of(experiment).values())
    if name == experiment_folder.SETTINGS:
        return experiment_folder.settings_file(setup, str(experiment.key))
    return experiment_folder.result_makers(setup)[name](setup, current_results(experiment))


def _zip(experiment: Experiment) -> Iterator[bytes]:
    pipe, now = StreamBuffer(), timezone.now().timetuple()[:6]
    with zipfile.ZipFile(pipe, "w") as archive:
        for name, data in _packed(experiment):
            entry = zipfile.ZipInfo(name, now)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
            yield pipe.take()
    yield pipe.take()


def _packed(experiment: Experiment) -> Iterator[tuple[str, bytes]]:
    for name in (experiment_folder.SETTINGS, experiment_folder.EPISODES):
        yield name, _file(experiment, name)
    for key, data in database_logs.logs_of(experiment):
        yield f"{LOG_FOLDER}/{log_file_name(key)}", data


def _what_is_played(setup: ExperimentSetup) -> str:
    if setup.pairs:
        teams = f"{comma_list(setup.organisations)}: " if setup.organisations else ""
        where = f"{teams}{comma_list(setup.pairs)}; {comma_list(setup.levels)}"
        return f"{setup.world}: {where}; {setup.episodes} episodes each"
    where = setup.preset or f"{comma_list(setup.levels)} with {comma_list(setup.agents)} agents"
    return f"{setup.coplayer}: {where}; alpha {comma_list(setup.alphas)}; {setup.episodes} episodes each"


@admin.register(Experiment)
class ExperimentAdmin(BatchedDeleteMixin, admin.ModelAdmin):  # type: ignore[type-arg]
    """Manage experiments. Once saved, only the name, `at_once` (parallel episodes) and the spending limit
    can change."""

    list_display = ("__str__", "what", "progress", "state", "created_at")
    ordering = ("-created_at",)
    actions = ("start", "stop", "compare")
    readonly_fields = ("what", "settings", "progress", "spent", "state", "created_at")
    change_form_template = "admin/kitchen/experiment.html"

    class Media:
        css = {"all": ["css/admin-study.css"]}
        js = ["js/admin-experiment.js"]

    def clear(self, obj: Experiment) -> None:
        """Stop an experiment and delete its episodes."""
        experiment_services.experiment_clear(obj)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Experiment]:
        """Return experiments annotated with their numbers of played and failed episodes."""
        experiments: QuerySet[Experiment] = super().get_queryset(request)
        broken = Q(episodes__row__outcome=FAILED)
        return experiments.annotate(
            played_episodes=Count("episodes", filter=Q(episodes__row__isnull=False)),
            failed_episodes=Count("episodes", filter=broken),
        )

    def get_form(self, request: Any, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Return the form class: all arguments for a new experiment; name, parallel episodes and spending
        limit for an existing one."""
        form = experiment_form() if obj is None else RunSettingsForm
        return super().get_form(request, obj, change, **{**kwargs, "form": form})

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return the groups of fields for the form that `get_form` returns."""
        if obj is None:
            return fieldsets()
        shown = {"fields": ["name", "what", "settings", "progress", "spent", "state", "created_at"]}
        return [(None, shown), RUN_SETTINGS_FIELDSET]

    def get_urls(self) -> list[Any]:
        """Return the admin's URL patterns, including those of the downloads and of the start page."""
        wrap = self.admin_site.admin_view
        return [
            path("<int:pk>/file/<str:name>", wrap(self.file), name="kitchen_experiment_file"),
            path("<int:pk>/start/", wrap(self.start_page), name="kitchen_experiment_start"),
            *super().get_urls(),
        ]

    def file(self, request: HttpRequest, pk: int, name: str) -> HttpResponseBase:
        """Return the download of one result file. It is identical to the file that the management command
        writes."""
        experiment = get_object_or_404(Experiment, pk=pk)
        if not self.has_view_permission(request, experiment):
            raise PermissionDenied
        if name not in downloadable_files(experiment):
            raise Http404(name)
        return file_response(experiment, name)

    def save_model(self, request: HttpRequest, obj: Experiment, form: Any, change: bool) -> None:
        """Save an experiment. The episodes of a new one are created when it starts."""
        if change:
            experiment_services.experiment_save(experiment=obj, fields=form.changed_data)
            return
        made = experiment_services.experiment_draft(
            setup=form.setup, name=obj.name, at_once=obj.at_once, limit=obj.limit
        )
        obj.pk = made.pk
        obj.refresh_from_db()

    @admin.display(description="What is played")
    def what(self, experiment: Experiment) -> str:
        """Return one line that says what is played: world, agents, levels and number of episodes."""
        setup = ExperimentSetup.from_json(experiment.setup)
        return f"{_what_is_played(setup)}{'; model calls in batches' if setup.batch else ''}"

    @admin.display(description="Settings of the co-player")
    def settings(self, experiment: Experiment) -> str:
        """Return every setting of the co-players (agents) as HTML, one per line; `none` if they have none."""
        setup = ExperimentSetup.from_json(experiment.setup)
        kinds = dict.fromkeys(kind for pair in setup.pairs for kind in line_up_kinds(pair)) or (
            setup.coplayer,
        )
        declared = {each.name: each for kind in kinds for each in get_agent(kind).settings}.values()
        pairs = [
            (each.label, setting_value_text(each, setup.settings.get(each.name, each.default)))
            for each in declared
        ]
        return format_html_join("", "{}: {}<br>", pairs) if pairs else "none"

    @admin.display(description="Played")
    def progress(self, experiment: Any) -> str:
        """Return a text that says how many of all episodes were played."""
        return f"{experiment.played_episodes} of {ExperimentSetup.from_json(experiment.setup).total} episodes"

    @admin.display(description="Spent")
    def spent(self, experiment: Experiment) -> str:
        """Return a text with the US dollars spent, including those reserved for calls in progress."""
        return format_dollars(database_logs.experiment_cost(experiment))

    @admin.display(description="State")
    def state(self, experiment: Any) -> str:
        """Return a text that says whether the experiment runs and, if not, why."""
        if experiment.running:
            batch = experiment.batches.filter(ended_at=None).exclude(name="").last()
            return f"running; {batch}, sent {timesince(batch.opened_at)} ago" if batch else "running"
        if experiment.failed_episodes:
            reason = failed_episodes(experiment.pk).values_list("row__reason", flat=True)[0]
            return f"{experiment.failed_episodes} episodes failed ({reason}); a new start plays them again"
        if experiment.played_episodes == ExperimentSetup.from_json(experiment.setup).total:
            return "complete"
        if experiment.stopped_because:
            return f"stopped: {experiment.stopped_because}"
        return "not running on workers" if experiment.played_episodes else "not started"

    @admin.action(description="Start or continue the selected experiments", permissions=["change"])
    def start(self, request: HttpRequest, experiments: QuerySet[Experiment]) -> None:
        """Show a link to the forecast page of each selected experiment. The experiment is started on that
        page."""
        for experiment in experiments:
            there = reverse("admin:kitchen_experiment_start", args=[experiment.pk])
            text = '<a href="{}">See the forecast and start {}</a>.'
            self.message_user(request, format_html(text, there, experiment), messages.WARNING)

    def start_page(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Show the forecast and ask for the spending limit; start the experiment on POST."""
        experiment = get_object_or_404(Experiment, pk=pk)
        if not self.has_change_permission(request, experiment):
            raise PermissionDenied
        try:
            work, ahead = experiment_services.forecast_experiment(experiment)
        except (PriceFileError, SetupError) as error:
            self.message_user(request, f"{experiment}: {error}", messages.ERROR)
            return redirect("admin:kitchen_experiment_change", experiment.pk)
        suggested = experiment.limit or (ledger_amount(ahead.worst) if ahead.worst else None)
        form = SpendingLimitForm(
            request.POST if request.method == "POST" else None,
            initial={"limit": suggested and exact_amount(suggested)},
        )
        form.fields["limit"].required = not ahead.is_free
        if request.method == "POST" and form.is_valid():
            experiment.limit = form.cleaned_data["limit"] or experiment.limit
            self._start(request, experiment)
            return redirect("admin:kitchen_experiment_change", experiment.pk)
        context = {
            **self.admin_site.each_context(request),
            "title": f"Start {experiment}?",
            "opts": self.opts,
            "what": self.what(experiment),
            "work": str(work),
            "ahead": str(ahead),
            "is_free": ahead.is_free,
            "form": form,
            "back": reverse("admin:kitchen_experiment_change", args=[experiment.pk]),
        }
        return TemplateResponse(request, "admin/kitchen/experiment_start.html", context)

    def _start(self, request: HttpRequest, experiment: Experiment) -> None:
        if experiment_services.experiment_start(experiment=experiment):
            self.message_user(request, f"{experiment} was started.")
        else:
            waits = (
                f"{experiment} waits because the broker cannot be reached. "
                "It will begin when workers are available again."
            )
            self.message_user(request, waits, messages.WARNING)

    def response_add(
        self, request: HttpRequest, obj: Experiment, post_url_continue: Any = None
    ) -> HttpResponse:
        """Redirect to the forecast page if the researcher pressed the start button; otherwise respond as
        usual."""
        if START_FIELD in request.POST:
            return redirect("admin:kitchen_experiment_start", obj.pk)
        return super().response_add(request, obj, post_url_continue)

    def response_change(self, request: HttpRequest, obj: Experiment) -> HttpResponse:
        """Redirect to the forecast page if the start button was pressed. Stop the experiment if the stop
        button was pressed. Otherwise respond as usual."""
        if "_stop" in request.POST:
            experiment_services.experiment_stop(experiment_id=obj.pk, because="stopped by hand")
            return redirect("admin:kitchen_experiment_change", obj.pk)
        if START_FIELD in request.POST:
            return redirect("admin:kitchen_experiment_start", obj.pk)
        return super().response_change(request, obj)

    @admin.action(description="Stop the selected experiments", permissions=["change"])
    def stop(self, request: HttpRequest, experiments: QuerySet[Experiment]) -> None:
        """Stop the selected experiments. Episodes in progress are played to their end."""
        for experiment in experiments:
            experiment_services.experiment_stop(experiment_id=experiment.pk, because="stopped by hand")

    @admin.action(description="Compare two experiments", permissions=["view"])
    def compare(self, request: HttpRequest, experiments: QuerySet[Experiment]) -> HttpResponse | None:
        """Show the collaboration scores (CoS) of two experiments side by side, for every cell (variant, level
        and number of agents). If not exactly two experiments are selected, show a message and return None."""
        if len(experiments) != 2:
            self.message_user(request, "Select two experiments.", messages.ERROR)
            return None
        both = [
            (experiment, current_results(experiment)) for experiment in experiments.order_by("created_at")
        ]
        context = {
            **self.admin_site.each_context(request),
            "title": "Two experiments side by side",
            "opts": self.opts,
            "experiments": [
                (experiment, self.what(experiment), str(decision_makers_of(cells)), summary_line(cells))
                for experiment, cells in both
            ],
            "rows": side_by_side(*(cells for _, cells in both)),
            "back": reverse("admin:kitchen_experiment_changelist"),
        }
        return TemplateResponse(request, "admin/kitchen/experiments_compared.html", context)

    def render_change_form(self, request: Any, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        """Render the form, and below it who made the decisions, the files and the result tables."""
        if experiment := kwargs.get("obj"):
            cells, setup = current_results(experiment), ExperimentSetup.from_json(experiment.setup)
            context["who"], context["files"] = (
                str(decision_makers_of(cells)),
                list(downloadable_files(experiment)),
            )
            context["experiment_runs"] = experiment.running
            context["grids"] = result_tables.result_text_tables(setup, cells)
            context["line"], context["explained"] = summary_line(cells), result_tables.table_note(setup)
            context["reload"] = experiment.running
        return super().render_change_form(request, context, *args, **kwargs)


def side_by_side(first: Sequence[CellResult], second: Sequence[CellResult]) -> list[tuple[str, ...]]:
    """Return one table row for each cell (variant, level and number of agents) that either experiment has. It
    has the cell's name, both scores (CoS), their difference, and the paper's score."""
    ones, others = ({each.column.key: each for each in cells} for cells in (first, second))
    lines: list[tuple[str, ...]] = []
    for key in dict.fromkeys([*ones, *others]):
        pair = [cells[key].cos if key in cells else None for cells in (ones, others)]
        known = None not in pair
        difference = f"{(pair[1] or 0) - (pair[0] or 0):+.3f}" if known else ""
        variant, level, agents = key
        name = f"{variant or level}, {agents} agents"
        papers = (ones.get(key) or others[key]).paper_cos
        lines.append((name, score_text(pair[0]), score_text(pair[1]), difference, score_text(papers)))
    return lines
