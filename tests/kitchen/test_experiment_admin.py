"""Experiments from the admin."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from kitchen import experiment_tasks, experimenting
from kitchen.models import Experiment

pytestmark = pytest.mark.django_db

FORM = {"name": "mine", "co_player": "random", "levels": "0", "agents": "2", "alphas": "1.0", "episodes": "1"}
FORM |= {"seed": "1", "at_once": "2", "limit": "0", "model": "", "preset": "", "demo": ""}
LIST, ADD = "/admin/kitchen/experiment/", "/admin/kitchen/experiment/add/"


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Experiments for which workers were asked, instead of asking them."""
    found: list[int] = []

    def ask(pk: int, number: int = 1) -> bool:
        found.append(pk)
        return True

    monkeypatch.setattr(experiment_tasks, "ask_lanes", ask)
    return found


def add(client: Client, **changes: str) -> Any:
    return client.post(ADD, {**FORM, **changes}, follow=True)


def act(client: Client, action: str, *experiments: Experiment) -> Any:
    chosen = [each.pk for each in experiments]
    return client.post(LIST, {"action": action, "_selected_action": chosen}, follow=True)


def test_one_is_set_up_started_played_and_read(admin_client: Client, queued: list[int]) -> None:
    assert add(admin_client).status_code == 200
    experiment = Experiment.objects.get()
    assert experiment.episodes.count() == 1
    act(admin_client, "start", experiment)
    assert queued == [experiment.pk]
    experiment_tasks.experiment_lane(experiment.pk)
    page = admin_client.get(f"{LIST}{experiment.pk}/change/").content.decode()
    assert "1 of 1 episodes" in page
    assert "complete" in page
    assert "mean CoS 2 agents" in page


def test_wrong_arguments_are_told_and_make_nothing(admin_client: Client) -> None:
    page = add(admin_client, levels="99").content.decode()
    assert "level_99" in page
    assert not Experiment.objects.exists()


def test_what_costs_money_needs_a_limit(admin_client: Client, queued: list[int]) -> None:
    add(admin_client, co_player="dispatcher", model="anthropic:claude-sonnet-5-5")
    page = act(admin_client, "start", Experiment.objects.get()).content.decode()
    assert "USD" in page
    assert not queued
    Experiment.objects.update(limit=3)
    act(admin_client, "start", Experiment.objects.get())
    started = Experiment.objects.get()
    assert started.running and started.budget and started.budget.limit == 3


def test_two_are_shown_side_by_side(admin_client: Client) -> None:
    for seed in ("1", "2"):
        add(admin_client, seed=seed)
    both = list(Experiment.objects.all())
    for experiment in both:
        experimenting.experiment_start(experiment=experiment)
        experiment_tasks.experiment_lane(experiment.pk)
    page = act(admin_client, "compare", *both).content.decode()
    assert "level_0, 2 agents" in page
    assert "Second minus first" in page
    assert "Select two" in act(admin_client, "compare", both[0]).content.decode()
