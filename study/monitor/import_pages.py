"""Serve the staff pages of imported games: the list, the form that imports a file, and the replay of a game.

A file is read and checked in a child process, within limits of time and memory. It is not stored. Its games
come from outside, so they are replayed and drawn in such a process, too.
"""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from kitchen.contract.data_limits import DataLimitError, replay_foreign
from kitchen.contract.recorded_trial import TrialError, TrialOptions, TrialRule
from kitchen.contract.world_errors import SettingsError
from kitchen.forms.setting_fields import error_without_name
from kitchen.infra.calls_with_django import call_with_django
from kitchen.opened.trial_files import ReadTrial, TrialFileError, file_digest
from kitchen.play.models import Episode, ImportedEpisode
from kitchen.registry.world_registry import get_world, trial_formats
from kitchen.replay.episode_content import EpisodeFileError
from kitchen.replay.episode_file import export_episode, replay_content
from kitchen.replay.episode_record import read_episode_records
from kitchen.replay.import_trials import erase_imported_file, store_if_new
from kitchen.words.english_text import counted_noun
from study.monitor.replay_page import IMPORTED_CONTEXT, render_replay
from study.researchers.form_and_button_pages import CONFIRM_FIELD, NOT_CONFIRMED
from study.researchers.permissions import FORM_METHODS, staff_page

log = logging.getLogger(__name__)
DIGEST_LENGTH = 64
READ = "kitchen.replay.import_trials.read_some_games"
"""Path of the function that a child process runs."""
MOST_GAMES = 20
"""Maximum number of games of one uploaded file; the command has no such limit."""
NOT_REPLAYED = "This game was not replayed: {why}."
LISTED = 200
"""Number of games on the page, the newest first."""


class ImportForm(forms.Form):
    """The form with a file, and with the rules that it does not name."""

    file: Any = forms.FileField(
        label="File with games",
        help_text="A CSV table in the form of Overcooked-AI, a JSON object of lists, or an episode "
        f"of this program. At most 2.5 MB, packed with gzip (.gz) or not, and {MOST_GAMES} games. For more, "
        "use the command import_episodes. Pickles are not read.",
        widget=forms.ClearableFileInput({"accept": ".csv,.json,.gz", "data-most-bytes": 2_500_000}),
    )
    preset = forms.ChoiceField(
        label="Collection", required=False, help_text="Its rules are found by trying if you do not know it."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = [each for form in trial_formats().values() for each in form.presets.items()]
        field: Any = self.fields["preset"]
        field.choices = [("", "find out"), *((name, f"{name}: {words}") for name, words in known)]
        for form in trial_formats().values():
            self.fields |= {name: _rule_field(rule) for name, rule in form.rules.items()}

    def clean(self) -> dict[str, Any]:
        """Return the cleaned data. A rule that is not understood is reported at its field."""
        cleaned = super().clean() or self.cleaned_data
        for form in trial_formats().values():
            try:
                form.check(self.options())
            except SettingsError as error:
                name = str(error).partition(": ")[0]
                self.add_error(name if name in self.fields else None, error_without_name(str(error)))
        return cleaned

    def options(self) -> TrialOptions:
        """Return what the user said about the file."""
        given = {name: each for name, each in self.cleaned_data.items() if each}
        rules = {name: str(each) for name, each in given.items() if name not in ("file", "preset")}
        return TrialOptions(given.get("preset", ""), rules)


def _rule_field(rule: TrialRule) -> forms.Field:
    words = f"{rule.help} Empty: as found."
    if not rule.choices:
        return forms.CharField(label=rule.label, required=False, max_length=60, help_text=words)
    choices = [("", "as found"), *rule.choices.items()]
    return forms.ChoiceField(label=rule.label, required=False, choices=choices, help_text=rule.help)


@staff_page(FORM_METHODS)
def imports(request: HttpRequest) -> HttpResponse:
    """List imported games, and import those of an uploaded file, or delete those of a file. Refused games are
    listed with the first difference."""
    if "delete" in request.POST:
        return _delete(request)
    form = ImportForm(request.POST or None, request.FILES or None)
    refused: list[ReadTrial] = []
    if request.method == "POST" and form.is_valid():
        try:
            refused, words = _imported(form)
        except (TrialFileError, SettingsError, DataLimitError) as error:
            form.add_error("file", f"This file was not read: {error}.")
        else:
            (messages.warning if refused else messages.success)(request, words)
            if not refused:
                return redirect("study:imports")
    games = ImportedEpisode.objects.select_related("episode")[:LISTED]
    context = {
        "form": form,
        "refused": refused,
        "games": [(each, _figure(each.episode)) for each in games],
        "count": ImportedEpisode.objects.count(),
    }
    return render(request, "study/monitor/imports.html", context, status=422 if form.errors else 200)


def _delete(request: HttpRequest) -> HttpResponse:
    """Erase the games of one file for a superuser. Conditions keep the games that they have chosen."""
    if not request.user.is_superuser:
        raise PermissionDenied
    digest = request.POST["delete"]
    if CONFIRM_FIELD not in request.POST or len(digest) != DIGEST_LENGTH:
        messages.error(request, NOT_CONFIRMED)
    else:
        games = counted_noun(erase_imported_file(digest), "game")
        log.info("%s deleted %s of the imported file %s", request.user, games, digest)
        messages.success(request, f"Deleted: {games}.")
    return redirect("study:imports")


def _figure(episode: Episode) -> str:
    metric = get_world(episode.world).figures[0]
    return f"{metric.label}: {metric.shown(episode.score.get(metric.name) or 0)}"


def _imported(form: ImportForm) -> tuple[list[ReadTrial], str]:
    """Store the games of the uploaded file. Return the refused ones, and a summary."""
    file = form.cleaned_data["file"]
    with tempfile.NamedTemporaryFile(suffix=Path(file.name).suffix[:8]) as stored:
        for piece in file.chunks():
            stored.write(piece)
        stored.flush()
        path = Path(stored.name)
        digest = file_digest(path)
        arguments = (str(path), form.options(), MOST_GAMES)
        read: Sequence[ReadTrial] = replay_foreign(call_with_django, READ, *arguments)
    new = known = 0
    refused = [each for each in read if each.found is None]
    for each in read:
        if each.found is None:
            continue
        try:
            is_new = store_if_new(each.found, each.name, digest, file.name)
            new, known = new + is_new, known + (not is_new)
        except TrialError as error:
            refused.append(ReadTrial(each.name, None, str(error)))
    return refused, f"{counted_noun(new, 'game')} imported, {known} known before, {len(refused)} refused."


@staff_page()
def imported_replay(request: HttpRequest, imported: UUID) -> HttpResponse:
    """Show the replay of an imported game, which a child process plays and draws."""
    found = get_object_or_404(Episode, key=imported, imported__isnull=False)
    for record in read_episode_records(Episode.objects.filter(pk=found.pk)):
        try:
            content = json.loads(export_episode(record))
            context = replay_content(IMPORTED_CONTEXT, content, request.GET.dict())
        except EpisodeFileError as error:
            problem = {"problem": NOT_REPLAYED.format(why=error)}
            return render(request, "study/monitor/replay_open.html", problem, status=422)
        return render_replay(request, {**context, "record": record, "imported": found.imported})
    raise Http404
