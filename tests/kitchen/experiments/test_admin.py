"""Experiments from the admin."""

from __future__ import annotations

import io
from decimal import Decimal
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from asgiref.sync import async_to_sync
from django.core.management import call_command
from django.test import Client

from kitchen.agents.random_agent import RandomAgent
from kitchen.experiments import admin, experiment_services, tasks
from kitchen.experiments.episode_rows import read_rows_csv
from kitchen.experiments.models import Experiment
from kitchen.money.models import Budget
from kitchen.worlds.cuisine.dispatcher.settings import SETTINGS

pytestmark = pytest.mark.django_db

FORM = {"name": "mine", "coplayer": "random", "levels": "0", "agents": "2", "alphas": "1.0", "episodes": "1"}
FORM |= {"seed": "1", "at_once": "2", "limit": "0", "model": "", "preset": ""}
FORM |= {f"coplayer__dispatcher__{each.name}": str(each.default or "") for each in SETTINGS}
FORM |= {name: value or "0" for name, value in FORM.items() if "stand_in" in name or "agents" in name}
FORM |= {"coplayer__dispatcher__repair": "0"}
MODEL, MEMORY = "coplayer__dispatcher__model", "coplayer__dispatcher__memory"
TABLE6 = {"preset": "table6", "coplayer": "dispatcher", "levels": ""}
CLAUDE = {"coplayer": "dispatcher", MODEL: "anthropic:claude-sonnet-5-5"}
LIST, ADD = "/admin/kitchen/experiment/", "/admin/kitchen/experiment/add/"


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Experiments for which workers were asked, instead of asking them."""
    found: list[int] = []

    def ask(pk: int, number: int = 1) -> bool:
        found.append(pk)
        return True

    monkeypatch.setattr(tasks, "queue_episodes", ask)
    monkeypatch.setattr(experiment_services, "queue_episodes", ask)
    return found


def add(client: Client, **changes: str) -> Any:
    return client.post(ADD, {**FORM, **changes}, follow=True)


def act(client: Client, action: str, *experiments: Experiment) -> Any:
    chosen = [each.pk for each in experiments]
    return client.post(LIST, {"action": action, "_selected_action": chosen}, follow=True)


def test_one_is_set_up_started_played_and_read(admin_client: Client, queued: list[int]) -> None:
    assert add(admin_client).status_code == 200
    experiment = Experiment.objects.get()
    there = f"{LIST}{experiment.pk}/start/"
    assert there in act(admin_client, "start", experiment).content.decode()
    assert "1 episode, 60 steps, less than a minute of computing" in admin_client.get(there).content.decode()
    assert not queued
    admin_client.post(there)
    assert queued == [experiment.pk]
    tasks.experiment_lane(experiment.pk)
    page = admin_client.get(f"{LIST}{experiment.pk}/change/").content.decode()
    assert "1 of 1 episodes" in page
    assert "complete" in page
    assert "mean CoS 2 agents" in page


def test_wrong_arguments_get_an_error_and_create_nothing(admin_client: Client) -> None:
    page = add(admin_client, levels="99")
    assert "level_99" in error_at(page, "levels")
    assert not Experiment.objects.exists()


def error_at(page: Any, field: str) -> str:
    """What stands at a field of the form."""
    return " ".join(page.context["adminform"].form.errors.get(field, []))


@pytest.mark.parametrize(
    ("wrong", "field", "says"),
    [
        ({"agents": "two"}, "agents", "not a list"),
        (
            {"episodes": "1000", "agents": "2,3,4,5,6,7,8", "alphas": "1,2,3"},
            "episodes",
            "are 21000, more than",
        ),
        ({"alphas": "-1"}, "alphas", "not from"),
        ({"at_once": "0"}, "at_once", "greater"),
        ({"limit": "-1"}, "limit", "greater"),
        ({"preset": "table7", "levels": ""}, "coplayer", "no such setting"),
        ({"preset": "table7", "coplayer": "dispatcher", "levels": "0"}, "levels", "say 3"),
        ({"model": "stand-in"}, "model", "table 6"),
        ({"coplayer": "dispatcher", MODEL: "a:b"}, MODEL, "no provider"),
        (CLAUDE, MODEL, "ANTHROPIC_API_KEY"),
        ({**TABLE6, "model": "anthropic"}, "model", "ANTHROPIC_API_KEY"),
        (
            {"coplayer": "dispatcher", "coplayer__dispatcher__memory": "0"},
            "coplayer__dispatcher__memory",
            "1",
        ),
    ],
)
def test_an_error_is_shown_at_its_field(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, str], field: str, says: str
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    assert says in error_at(add(admin_client, **(wrong | {"agents": wrong.get("agents", "")})), field)
    assert not Experiment.objects.exists()


def test_settings_of_the_co_player_are_fields_and_those_of_others_do_not_count(admin_client: Client) -> None:
    add(admin_client, coplayer__dispatcher__memory="nonsense")
    assert Experiment.objects.get().setup["settings"] == {}
    add(admin_client, coplayer="dispatcher", **{MODEL: "stand-in", "coplayer__dispatcher__memory": "3"})
    settings = Experiment.objects.order_by("-pk")[0].setup["settings"]
    assert (settings["model"], settings["memory"], settings["hints"]) == ("stand-in:stand-in-1", 3, True)


def test_it_is_saved_and_started_and_stopped_on_its_page(admin_client: Client, queued: list[int]) -> None:
    page = add(admin_client, _start="1")
    experiment = Experiment.objects.get()
    page = admin_client.post(page.redirect_chain[-1][0], follow=True)
    assert queued == [experiment.pk]
    assert page.redirect_chain[-1][0] == f"{LIST}{experiment.pk}/change/"
    assert 'name="_stop"' in page.content.decode()
    there = f"{LIST}{experiment.pk}/change/"
    page = admin_client.post(there, {"name": "", "at_once": "2", "limit": "0", "_stop": "1"}, follow=True)
    assert "stopped by hand" in page.content.decode()
    assert 'name="_start"' in page.content.decode()
    assert not Experiment.objects.get().running


def test_permitted_users_can_download_every_file(admin_client: Client) -> None:
    add(admin_client)
    experiment = Experiment.objects.get()
    experiment_services.experiment_start(experiment=experiment)
    tasks.experiment_lane(experiment.pk)
    page = admin_client.get(f"{LIST}{experiment.pk}/change/").content.decode()
    for name in admin.DOWNLOAD_TYPES:
        there = f"{LIST}{experiment.pk}/file/{name}"
        assert there in page
        found = admin_client.get(there)
        assert found.status_code == 200
        assert whole(found)
        assert name in found["Content-Disposition"]
        assert Client().get(there).status_code == 302
    rows = admin_client.get(f"{LIST}{experiment.pk}/file/episodes.csv").content
    assert len(read_rows_csv(rows)) == 1
    assert admin_client.get(f"{LIST}{experiment.pk}/file/settings.py").status_code == 404


def whole(response: Any) -> bytes:
    """What is downloaded, streamed or not."""
    if not response.streaming:
        return bytes(response.content)

    async def joined() -> bytes:
        return b"".join([piece async for piece in response.streaming_content])

    return async_to_sync(joined)()


def test_the_page_shows_the_spent_amount(admin_client: Client) -> None:
    add(admin_client)
    Experiment.objects.update(spent_elsewhere=Decimal("1.25"))
    page = admin_client.get(f"{LIST}{Experiment.objects.get().pk}/change/")
    assert "1.25 USD" in page.content.decode()


def test_downloaded_logs_can_be_replayed(admin_client: Client, tmp_path: Path) -> None:
    add(admin_client)
    experiment = Experiment.objects.get()
    experiment_services.experiment_start(experiment=experiment)
    tasks.experiment_lane(experiment.pk)
    there = f"{LIST}{experiment.pk}/file/"
    with ZipFile(io.BytesIO(whole(admin_client.get(f"{there}log.zip")))) as archive:
        archive.extractall(tmp_path)
    output = io.StringIO()
    call_command("experiment_replay", str(tmp_path), stdout=output)
    assert output.getvalue().startswith("1 episode, 60 steps, from 0 stored calls, at no cost")
    steps = whole(admin_client.get(f"{there}steps.csv")).decode().splitlines()
    (row,) = experiment_services.rows_of(experiment).values()
    assert len(steps) == 1 + 60
    assert steps[-1].endswith(row.state_hash)


def test_the_stand_in_is_named_and_its_fallbacks_are_counted(admin_client: Client, no_waits: None) -> None:
    failing = {MODEL: "stand-in", "coplayer__dispatcher__stand_in_failures": "1"}
    add(admin_client, coplayer="dispatcher", **failing)
    experiment = Experiment.objects.get()
    experiment_services.experiment_start(experiment=experiment)
    tasks.experiment_lane(experiment.pk)
    page = admin_client.get(f"{LIST}{experiment.pk}/change/").content.decode()
    assert page.count("Played by (decisions): the planner 60; fallbacks: 60 of 60 decisions") == 1


def test_the_page_names_failed_episodes(admin_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    add(admin_client)
    experiment = Experiment.objects.get()
    experiment_services.experiment_start(experiment=experiment)
    monkeypatch.setattr(RandomAgent, "decide", lambda *_: 1 / 0)
    tasks.experiment_lane(experiment.pk)
    page = admin_client.get(f"{LIST}{experiment.pk}/change/").content.decode()
    assert "1 episodes failed (ZeroDivisionError in " in page


def test_a_paid_experiment_starts_only_after_its_forecast(
    admin_client: Client, queued: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a limit already set, too."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    page = add(admin_client, _start="1", **CLAUDE, limit="3")
    experiment = Experiment.objects.get()
    there = f"{LIST}{experiment.pk}/start/"
    assert page.redirect_chain[-1][0] == there
    assert "60 calls of anthropic/claude-sonnet-5-5: about" in page.content.decode()
    assert there in act(admin_client, "start", experiment).content.decode()
    assert not queued
    assert "greater" in admin_client.post(there, {"limit": "0"}).content.decode()
    assert not queued
    admin_client.post(there, {"limit": "2.5"})
    started = Experiment.objects.get()
    assert queued == [experiment.pk]
    assert started.running and started.budget and started.budget.limit == Decimal("2.5")
    assert Client().get(there).status_code == 302


def test_without_a_limit_the_worst_is_suggested_and_without_a_key_it_is_not_started(
    admin_client: Client, queued: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    add(admin_client, **CLAUDE)
    there = f"{LIST}{Experiment.objects.get().pk}/start/"
    assert admin_client.get(there).context["form"].initial["limit"] > 0
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert "ANTHROPIC_API_KEY" in admin_client.post(there, {"limit": "2"}, follow=True).content.decode()
    assert not queued


@pytest.mark.parametrize("limit", ["0.004300", "0.123456", "12.500000", "7"])
def test_a_new_name_leaves_the_money_as_it_is(admin_client: Client, limit: str) -> None:
    add(admin_client)
    budget = Budget.objects.create(name="mine", limit=99)
    Experiment.objects.update(limit=Decimal(limit), budget=budget)
    there = f"{LIST}{Experiment.objects.get().pk}/change/"
    shown = admin_client.get(there).context["adminform"].form.initial
    admin_client.post(there, {"name": "another", "at_once": shown["at_once"], "limit": shown["limit"]})
    found = Experiment.objects.get()
    assert (found.name, found.limit) == ("another", Decimal(limit))
    budget.refresh_from_db()
    assert budget.limit == 99
    admin_client.post(there, {"name": "another", "at_once": "2", "limit": "1.000001"})
    budget.refresh_from_db()
    assert Experiment.objects.get().limit == budget.limit == Decimal("1.000001")


def test_two_are_shown_side_by_side(admin_client: Client) -> None:
    for seed in ("1", "2"):
        add(admin_client, seed=seed)
    both = list(Experiment.objects.all())
    for experiment in both:
        experiment_services.experiment_start(experiment=experiment)
        tasks.experiment_lane(experiment.pk)
    page = act(admin_client, "compare", *both).content.decode()
    assert "level_0, 2 agents" in page
    assert "Second minus first" in page
    assert "Select two" in act(admin_client, "compare", both[0]).content.decode()
