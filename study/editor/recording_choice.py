"""Let the condition form choose the game of the co-player `recorded` among imported and own finished games.

The form stores the whole game as a text. So a version of the study has it, and needs no other episode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from django import forms
from django.db.models import Q, QuerySet
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from kitchen.agents.recorded import RecordedAgent, recording_unfit
from kitchen.contract.canonical_json import canonical_json
from kitchen.contract.recorded_trial import RecordedTrial, recording_from_text
from kitchen.contract.world import Json
from kitchen.contract.world_errors import SettingsError, WorldError
from kitchen.play.models import Episode
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import get_world
from kitchen.replay.episode_record import read_episode_records
from kitchen.replay.import_trials import trial_of_record
from study.design.condition_choices import world_kinds
from study.design.models import Study

FIELD = f"__{RecordedAgent.kind}__recording"
"""How the names of form fields for a recording end."""
CHOSEN = "{name}__game"
"""The name of the select element beside a field."""
NEWEST = 200
"""Number of games that are looked at, the newest first."""
OFFERED = 40
"""Maximum number of games in the select element."""

Choices = list[tuple[str, str]]


def use_recording_selects(form: Any, study: Study) -> None:
    """Let the form's fields for a recorded game offer those that fit the world and its settings."""
    for name, field in form.fields.items():
        if name.endswith(FIELD):
            field.widget = RecordingWidget(partial(_choices, form, study), partial(_games, study))


class RecordingWidget(forms.Textarea):
    """A select element with games, and the text of the chosen one below it."""

    def __init__(self, choices: Callable[[], Choices], games: Callable[[], QuerySet[Episode]]) -> None:
        super().__init__({"rows": 3, "spellcheck": "false", "class": "vLargeTextField"})
        self.choices, self.games = choices, games

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> str | None:
        """Return the text of the game that was chosen, or else the text that was sent."""
        chosen = str(data.get(CHOSEN.format(name=name), ""))
        for record in read_episode_records(self.games().filter(pk=chosen)) if chosen.isdecimal() else ():
            return trial_of_record(record).to_text(get_world(record.episode.world).idle)
        text: str | None = data.get(name)
        return text

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """Return the HTML of the select element and of the text."""
        text = str(value or "")
        context = {
            "id": (attrs or {}).get("id", f"id_{name}"),
            "select": CHOSEN.format(name=name),
            "choices": self.choices(),
            "text": super().render(name, value, attrs, renderer),
            "now": _described(text),
        }
        return render_to_string("study/editor/recording.html", context)


def _described(text: str) -> str:
    """Return what a stored recording is, in words; empty if there is none."""
    with suppress(SettingsError):
        trial = recording_from_text(text)
        layout = trial.settings.get("layout") or trial.settings.get("level") or ""
        return f"{trial.world} {layout}, {len(trial.turns)} steps, {trial.seats} seats".replace(" ,", ",")
    return ""


def _games(study: Study) -> QuerySet[Episode]:
    """Return imported games, and games that people or programs have finished in this study."""
    own = Q(rounds__participant__study=study, status__in=("over", "cut_off", "reached"))
    offered = Q(imported__isnull=False) if study.conceals_allocation else own | Q(imported__isnull=False)
    ids = Episode.objects.filter(offered).values("pk")
    return Episode.objects.filter(pk__in=ids).order_by("-pk")


def _choices(form: Any, study: Study) -> Choices:
    return list(_fitting(form, study))[:OFFERED]


def _fitting(form: Any, study: Study) -> Iterator[tuple[str, str]]:
    world, settings = form._world(), _world_settings(form)
    known: dict[str, bool] = {}
    games = _games(study).filter(world=world).select_related("imported")[:NEWEST]
    for game in games.prefetch_related("seats"):
        seats = sum(seat.acts for seat in game.seats.all())
        key = canonical_json([game.settings, seats, game.world_version])
        if key not in known:
            trial = RecordedTrial(world, game.world_version, game.settings, seats, game.seed, ())
            known[key] = _fits(trial, settings)
        if known[key]:
            yield str(game.pk), game_label(game)


def _fits(trial: RecordedTrial, settings: Mapping[str, Json]) -> bool:
    try:
        world = get_world(trial.world).create(seats=trial.seats, settings=settings)
    except (WorldError, UnknownNameError):
        return False
    return not recording_unfit(trial, world)


def game_label(game: Episode) -> str:
    """Return a game in words, for lists: where it comes from, how long it was, and its first figure."""
    imported = getattr(game, "imported", None)
    source = f"{imported.file_name}, {imported.trial}" if imported else game.label or "a game of this study"
    metric = get_world(game.world).figures[0]
    marked = " (synthetic)" if game.synthetic else ""
    value = metric.shown(game.score.get(metric.name) or 0)
    return f"{source}{marked}: {game.step} steps, {metric.label.lower()} {value}"


def _world_settings(form: Any) -> dict[str, Json]:
    """Return the settings of the chosen world as the form has them now."""
    found: dict[str, Json] = {}
    for kind in world_kinds():
        if kind.name == form._world():
            for name, setting in kind.named_settings():
                with suppress(SettingsError):
                    found[setting.name] = setting.clean(form[name].value())
    return found
