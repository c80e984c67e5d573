"""Experiments with teams: members who talk, their logs and files, and one figure compared by who plays."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from kitchen.charts.chart_drawing import draw_chart
from kitchen.contract.kit import WorldKit
from kitchen.experiments import experiment_folder, experiment_services, log_tables, tasks
from kitchen.experiments.admin import downloadable_files
from kitchen.experiments.comparison_tables import Estimate, estimate_text
from kitchen.experiments.database_logs import log_data
from kitchen.experiments.episode_rows import EpisodeRow, read_rows_csv
from kitchen.experiments.experiment_folder import read_setup_file
from kitchen.experiments.experiment_forecast import sample_job_calls
from kitchen.experiments.experiment_setup import EpisodeJob, ExperimentSetup, episode_jobs
from kitchen.experiments.log_files import LogError, PlayedLog, read_log
from kitchen.experiments.models import Experiment
from kitchen.experiments.play_episodes import log_head, play_episode
from kitchen.experiments.setup_arguments import read_setup
from kitchen.experiments.verify_replay import OTHER_COMMANDS, OTHER_MESSAGES, OTHER_STATE, replay_log
from kitchen.registry.world_registry import known_worlds
from tests.kitchen.experiments.test_admin import whole
from tests.nightly import nightly
from tests.worlds import secrets
from tests.worlds.secrets import Secrets, registered

GIVEN: dict[str, Any] = {"world": "secrets", "model": None, "episodes": "2", "seed": "1"}
TELLERS = "teller+teller+teller"


@pytest.fixture(autouse=True)
def _world() -> Iterator[None]:
    with registered():
        yield


def run(out: Path, *arguments: str, world: str = "secrets") -> str:
    """What the command prints."""
    output = io.StringIO()
    where = ["--world", world, "--out", str(out), "--local"]
    call_command("experiment", *where, *arguments, stdout=output, stderr=io.StringIO())
    return output.getvalue()


def recorded_episode(**given: Any) -> tuple[EpisodeJob, ExperimentSetup, PlayedLog, EpisodeRow, bytes]:
    """A short episode: its job, log, row and bytes."""
    setup = read_setup({**GIVEN, "levels": "long", "members": TELLERS, "organisation": "graph", **given})
    job, pieces = episode_jobs(setup)[0], list[bytes]()
    variant = job.column.variant
    row = play_episode(job, setup.coplayer_of(variant), setup.settings_of(variant), sink=pieces.append)
    data = b"".join(pieces)
    return job, setup, read_log(data), row, data


def test_a_log_has_organisation_messages_and_deciding_members() -> None:
    _, _, log, row, _ = recorded_episode()
    assert log.head.organisation["kind"] == "graph"
    first = log.entries[0]
    assert [(output.number, output.step, output.sender, output.to) for output in first.messages] == [
        (1, 1, 0, (1, 2)),
        (2, 1, 1, (0, 2)),
        (3, 1, 2, (0, 1)),
    ]
    assert [(made.member, made.because) for made in log.entries[1].decisions] == [
        (0, "message"),
        (1, "message"),
        (2, "message"),
    ]
    assert first.decisions[0].note["heard"] == 0 and log.entries[1].decisions[0].note["heard"] == 3
    assert (row.figure, row.played_by) == (1.0, "teller x9")


def test_jobs_csv_says_why_a_job_failed_in_the_words_of_a_study() -> None:
    _, _, log, _, _ = recorded_episode()
    first = log.entries[0]
    given = replace(first.messages[0], kind="inform", text="sing", data={})
    refused = replace(given, number=4, sender=1, to=(0,), kind="decline", text="")
    messages = (
        given,
        replace(refused, data={"job": 1, "code": "words"}),
        replace(refused, number=5, sender=2, text="No.", data={"job": 1}),
    )
    played = replace(log, entries=[replace(first, messages=messages)])
    text = b"".join(log_tables.table_pieces("jobs.csv", [played], log_tables.TEAM_TABLES)).decode()
    told = [
        (row["worker"], row["state"], json.loads(row["why"])) for row in csv.DictReader(text.splitlines())
    ]
    assert told == [
        ("1", "declined", "I can only do jobs from the list."),
        ("2", "declined", "No."),
    ]


def test_a_team_replays_and_a_changed_message_is_reported() -> None:
    _, _, log, row, _ = recorded_episode()
    assert replay_log(log, row).faults == ()
    first = log.entries[0]
    lie = replace(first.messages[0], text="8")
    changed = replace(log, entries=[replace(first, messages=(lie, *first.messages[1:])), *log.entries[1:]])
    assert f"step 1: {OTHER_MESSAGES}" in replay_log(changed, row).faults
    report = replace(first.messages[0], number=4, step=2, kind="report")
    more = replace(log, entries=[replace(first, messages=(*first.messages, report)), *log.entries[1:]])
    assert f"step 1: {OTHER_STATE}" in replay_log(more).faults


def test_a_team_resumes_with_all_messages() -> None:
    job, setup, log, row, _ = recorded_episode()
    variant = job.column.variant
    for steps in range(3):
        before = replace(log, entries=log.entries[:steps])
        resumed = play_episode(job, setup.coplayer_of(variant), setup.settings_of(variant), before=before)
        assert (resumed.figure, resumed.state_hash, resumed.played_by) == (1.0, row.state_hash, row.played_by)
        assert [each.messages for each in before.entries] == [each.messages for each in log.entries]


FREE = {"organisation_set": ["schedule=free", "think_steps=1"]}


def test_same_run_twice_delayed_decisions_are_logged_and_a_killed_worker_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(secrets.Ground, "steps", 5)
    job, setup, log, row, data = recorded_episode(**FREE)
    variant = job.column.variant
    assert [made.due for made in log.entries[0].decisions] == [2, 2, 2]
    assert [set(entry.commands.values()) == {("wait",)} for entry in log.entries] == [True, False] * 2 + [
        True
    ]
    asked_in = [[each.asked_in for each in entry.effects] for entry in log.entries]
    assert asked_in == [[], [1] * 3, [], [3] * 3, []]
    assert (row.figure, replay_log(log, row).faults) == (1.0, ())
    for steps in range(5):
        before = replace(read_log(data), entries=read_log(data).entries[:steps])
        resumed = play_episode(job, setup.coplayer_of(variant), setup.settings_of(variant), before=before)
        assert (resumed.state_hash, resumed.figure) == (row.state_hash, 1.0)
        assert [each.messages for each in before.entries] == [each.messages for each in log.entries]
        assert [each.effects for each in before.entries] == [each.effects for each in log.entries]


@pytest.mark.parametrize(
    ("schedule", "members", "kind"),
    [
        ("relay", "dispatcher+follower", "tree"),
        ("free", "dispatcher+follower", "tree"),
        ("together", "hourglass:0+hourglass+hourglass", "tree"),
        *nightly(
            ("rounds", "dispatcher+follower", "tree"), ("free", "hourglass+hourglass+hourglass", "chain")
        ),
    ],
)
def test_same_run_twice_the_stand_in_plays_the_same_in_every_schedule(
    schedule: str, members: str, kind: str
) -> None:
    given = {"world": "cuisine", "levels": "3", "alphas": "1.0", "model": "stand-in", "episodes": "1"}
    given |= {"members": members, "organisation": kind}
    job, setup, log, row, data = recorded_episode(**given, schedule=schedule)
    variant, middle = job.column.variant, 17
    assert replay_log(log, row).faults == ()
    before = replace(read_log(data), entries=log.entries[:middle])
    resumed = play_episode(job, setup.coplayer_of(variant), setup.settings_of(variant), before=before)
    assert resumed.state_hash == row.state_hash
    for one, other in zip(before.entries[middle:], log.entries[middle:], strict=True):
        assert (one.messages, one.effects, one.state_hash) == (
            other.messages,
            other.effects,
            other.state_hash,
        )


def test_a_changed_delayed_decision_is_reported() -> None:
    _, _, log, _, _ = recorded_episode(**FREE)
    first, second, third = log.entries
    said, *others = first.decisions
    lie = replace(said, says=(replace(said.says[0], text="8"),))
    done = replace(said, commands={0: ("wait",)})
    lost = replace(second, effects=second.effects[1:])
    for entries, why in (
        ([replace(first, decisions=(lie, *others)), second, third], OTHER_MESSAGES),
        ([replace(first, decisions=(done, *others)), second, third], OTHER_COMMANDS),
        ([first, lost, third], OTHER_STATE),
    ):
        faults = replay_log(replace(log, entries=entries)).faults
        assert any(why in fault for fault in faults)


def test_a_log_with_other_members_is_refused() -> None:
    job, setup, log, row, _ = recorded_episode()
    variant, first = job.column.variant, log.entries[0]
    stranger = replace(first, decisions=(replace(first.decisions[0], member=7), *first.decisions[1:]))
    for changed in (stranger, replace(first, decisions=())):
        other = replace(log, entries=[changed, *log.entries[1:]])
        with pytest.raises(LogError, match="has other members in step 1"):
            replay_log(other, row)
        with pytest.raises(LogError, match="has other members in step 1"):
            play_episode(job, setup.coplayer_of(variant), setup.settings_of(variant), before=other)


def test_the_forecast_counts_messages_between_members() -> None:
    given = {**GIVEN, "world": "cuisine", "levels": "3", "alphas": "1.0", "model": "stand-in"}
    given["members"] = "dispatcher+dispatcher:2"
    silent, talking = (
        sample_job_calls(setup, episode_jobs(setup)[0])
        for setup in (read_setup(given), read_setup({**given, "organisation": "pair"}))
    )
    assert [(trial.seats, trial.talk, trial.answers) for trial in silent] == [(1, 0, 0), (2, 0, 0)]
    assert [(trial.seats, trial.answers) for trial in talking] == [(1, 2), (2, 2)]
    assert all(trial.talk > 10 * 1000 for trial in talking)


def test_an_episode_without_an_organisation_has_nothing_of_it_in_its_log() -> None:
    _, _, log, _, data = recorded_episode(organisation="none")
    lines = [json.loads(line) for line in gzip.decompress(data).splitlines()]
    assert not {"organisation", "knowing"} & lines[0].keys()
    assert not any({"messages", "decisions"} & line.keys() for line in lines)
    assert log.head.organisation is None


def test_figures_of_the_log_join_the_score(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets.Ground, "figure", "words")
    _, _, log, row, _ = recorded_episode()
    assert row.figure == 3.0
    assert replay_log(log, row).faults == ()
    job, setup, _, _, _ = recorded_episode()
    half = replace(log, entries=log.entries[:1])
    variant = job.column.variant
    assert (
        play_episode(job, setup.coplayer_of(variant), setup.settings_of(variant), before=half).figure == 3.0
    )


@pytest.mark.django_db
def test_a_comparison_is_played_tabulated_drawn_and_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        experiment_folder, "draw_chart", lambda chart, kind: draw_chart(chart) if kind == "svg" else b""
    )
    output = run(tmp_path, "--episodes", "4")
    assert "All named the sum, 3 seats" in output
    assert f"{TELLERS}  1.000 [0.510, 1.000]  0.000 [0.000, 0.490]" in output
    assert (
        "GPT-0, as printed  0.94" in output and "people, as printed  0.9 \N{PLUS-MINUS SIGN} 0.05" in output
    )
    last = output.splitlines()[-1]
    assert last == "mean agreed 0.250 over 8 of 8 cells; best 1.000: teller+teller in long, 2 seats"
    rows = list(csv.DictReader(io.StringIO((tmp_path / "table.csv").read_text())))
    ours = [row for row in rows if row["source"] == "ours"]
    assert [row["mean"] for row in ours if row["who"].startswith("teller") and row["level"] == "long"] == [
        "1.0",
        "1.0",
    ]
    assert {row["organisation"] for row in ours} == {"graph"}
    assert [row["spread"] for row in rows if row["who"] == "people"] == ["0.05", "0.05"]
    head = (tmp_path / "episodes.csv").read_text().splitlines()[0]
    assert "figure" in head and "alpha" not in head
    drawn = (tmp_path / "figure4.svg").read_text()
    assert f">{TELLERS}<" in drawn and ">3 seats<" in drawn and ">GPT-0<" in drawn
    call_command("experiment_replay", str(tmp_path))
    assert "32 episodes" in capsys.readouterr().out
    assert ExperimentSetup.from_json(read_setup_file(tmp_path).to_json()) == read_setup_file(tmp_path)


@pytest.mark.django_db
def test_organisations_are_compared_side_by_side_and_files_have_members_and_messages(tmp_path: Path) -> None:
    team = ["--members", TELLERS, "--organisation", "none,graph", "--episodes", "1", "--levels", "long"]
    output = run(tmp_path, *team)
    assert f"none {TELLERS}  0.000" in output and f"graph {TELLERS}  1.000" in output
    rows = read_rows_csv((tmp_path / "episodes.csv").read_bytes())
    assert {row.variant: row.figure for row in rows} == {f"none {TELLERS}": 0, f"graph {TELLERS}": 1}
    assert len({row.seed for row in rows}) == 1
    messages = list(csv.DictReader(io.StringIO((tmp_path / "messages.csv").read_text())))
    assert [(row["sender"], row["to"]) for row in messages] == [("0", "1 2"), ("1", "0 2"), ("2", "0 1")]
    decisions = list(csv.DictReader(io.StringIO((tmp_path / "decisions.csv").read_text())))
    silent = [row for row in decisions if row["variant"].startswith("none")]
    assert [row["member"] for row in silent] == [""] * 3
    assert [row["member"] for row in decisions if row not in silent] == ["0", "1", "2"] * 3
    assert decisions[-1]["coplayer"] == "teller"


@pytest.mark.django_db
def test_workers_store_messages_and_the_admin_exports_them(
    monkeypatch: pytest.MonkeyPatch, admin_client: Client
) -> None:
    queued: list[int] = []

    def ask(pk: int, number: int = 1) -> bool:
        queued.append(pk)
        return True

    for module in (tasks, experiment_services):
        monkeypatch.setattr(module, "queue_episodes", ask)
    _, setup, log, _, _ = recorded_episode(episodes="1")
    experiment = experiment_services.experiment_create(setup=setup, name="teams")
    experiment_services.experiment_start(experiment=experiment)
    while queued:
        tasks.experiment_lane(queued.pop())
    stored = read_log(log_data(Experiment.objects.get().episodes.get()))
    assert [each.messages for each in stored.entries] == [each.messages for each in log.entries]
    there = f"/admin/kitchen/experiment/{experiment.pk}/"
    page = admin_client.get(f"{there}change/").content.decode()
    assert "messages.csv" in page and f"graph: {TELLERS}" in page
    text = whole(admin_client.get(f"{there}file/messages.csv")).decode()
    assert (
        text == b"".join(log_tables.table_pieces("messages.csv", [stored], log_tables.TEAM_TABLES)).decode()
    )
    assert text.count("\n") == 1 + 3


FORM = {
    "name": "teams",
    "world": "secrets",
    "pairs": TELLERS,
    "layouts": "long",
    "seats": "named",
    "partners_model": "",
    "set": "",
    "organisation": "graph,none",
    "organisation_set": "messages_a_step=1",
    "knowing": "everybody",
    "episodes": "1",
    "seed": "1",
    "at_once": "2",
    "limit": "0",
    "coplayer": "random",
}


@pytest.mark.django_db
def test_teams_are_set_up_in_the_admin(admin_client: Client) -> None:
    add = "/admin/kitchen/experiment/add/"
    assert "Whose commands a member knows" in admin_client.get(add).content.decode()
    admin_client.post(add, {**FORM, "goal": "agreed=1"})
    setup = ExperimentSetup.from_json(Experiment.objects.get().setup)
    assert (setup.world, setup.pairs, setup.levels) == ("secrets", (TELLERS,), ("long",))
    assert (setup.organisations, setup.knowing) == (("graph", "none"), "everybody")
    assert setup.organisation_settings == {"messages_a_step": 1} and setup.goal == {"agreed": 1}
    files = downloadable_files(Experiment.objects.get())
    assert {"figure7.svg", "team_measures.csv", "plannings.csv", "jobs.csv"} <= files.keys()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("wrong", "field", "says"),
    [
        ({"organisation": "ring"}, "organisation", "'ring' is not one of"),
        ({"goal": "agreed"}, "goal", "NAME=VALUE"),
        ({"pairs": "teller+nobody"}, "pairs", "'nobody' is not one of"),
        *nightly(
            ({"organisation_set": "sees"}, "organisation_set", "NAME=VALUE"),
            ({"goal": "soups=1"}, "goal", "is not one of"),
            ({"layouts": "wide"}, "layouts", "'wide' is not one of"),
        ),
    ],
)
def test_an_error_in_a_team_is_shown_at_its_field(
    admin_client: Client, wrong: dict[str, str], field: str, says: str
) -> None:
    page = admin_client.post("/admin/kitchen/experiment/add/", {**FORM, **wrong})
    assert says in " ".join(page.context["adminform"].form.errors.get(field, []))
    assert not Experiment.objects.exists()


@pytest.mark.django_db
def test_members_of_the_kitchen_play_in_its_bench(tmp_path: Path) -> None:
    arguments = [
        "--members",
        "planner+follower",
        "--organisation",
        "tree",
        "--levels",
        "3",
        "--alphas",
        "1.0",
    ]
    output = run(tmp_path, *arguments, "--episodes", "1", world="cuisine")
    assert "level_3: planner+follower" in output and "mean CoS 2 agents" in output
    row = read_rows_csv((tmp_path / "episodes.csv").read_bytes())[0]
    assert (row.agents, row.variant, row.played_by) == (2, "planner+follower", "follower x60, planner x60")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--organisation", "pairwise"), "organisation: secrets is played with graph or tree or pair"),
        (("--organisation", "ring"), "organisation: 'ring' is not one of none, central"),
        (("--organisation", "graph,graph"), "organisation: needs values, each once"),
        (("--organisation", "pair", "--members", TELLERS), "organisation: pair: members: a pair is two"),
        (("--organisation", "none", "--organisation-set", "rounds=2"), "organisation_set: 'rounds' means"),
        (("--organisation-set", "messages_a_step=99"), "organisation: graph: messages_a_step: 99 is above"),
        (("--organisation-set", "messages_a_step"), "--organisation-set: 'messages_a_step' is not NAME"),
        (
            ("--organisation-set", "think_steps=1"),
            "organisation_set: 'think_steps' means nothing here; there are cycle_limit, ",
        ),
        (("--schedule", "sometimes"), "--schedule: 'sometimes' is not one of together, relay"),
        (("--schedule", "free,sometimes"), "--schedule: 'sometimes' is not one of together, relay"),
        (("--schedule", "free,free"), "--schedule: needs schedules, each once"),
        (("--schedule", "free,"), "--schedule: 'free,' has an empty place"),
        (
            ("--schedule", "free,relay", "--organisation-set", "schedule=relay"),
            "--schedule: --organisation-set names another one",
        ),
        (("--schedule", "free,together", "--organisation", "pair,none"), "--schedule: not in pair, none"),
        (
            ("--schedule", "together,free", "--knowing", "everybody"),
            "knowing: members know nothing of a step in schedule 'free'",
        ),
        (
            ("--schedule", "free", "--organisation-set", "schedule=relay"),
            "--schedule: --organisation-set names another one",
        ),
        (("--schedule", "free", "--organisation", "none"), "--schedule: not in pair, none"),
        (("--schedule", "free", "--organisation", "pair,none"), "--schedule: not in pair, none"),
        (
            ("--world", "cuisine", "--members", "planner+planner", "--schedule", "free"),
            "--schedule: not in pair, none",
        ),
        (("--world", "cuisine", "--schedule", "free"), "--schedule: say who plays, with --members"),
        (
            ("--schedule", "free", "--knowing", "everybody"),
            "knowing: members know nothing of a step in schedule 'free'",
        ),
        (("--knowing", "people"), "knowing: 'people' is not one of nobody, everybody"),
        (("--members", "teller+nobody"), "--members: 'nobody' is not one of"),
        (("--members", "teller+planner"), "--members: planner does not play secrets"),
        (("--members", "teller+teller+teller+mute"), "--members: 'teller.*' has 4 seats, secrets has 2 to 3"),
        (("--members", "teller:x+mute"), "--members: teller:x does not end with a number of seats"),
        (("--members", "random:0+teller:2"), "--members: random cannot lead without a seat"),
        (("--members", "teller+"), "--members: 'teller.' has an empty place"),
        (("--members", "teller+mute,teller + mute"), "--members: needs line-ups, each once"),
        (("--members", "teller+mute", "--agents", "2"), "--agents: say it with --members alone"),
        (("--agents", "5"), "--agents: .* has 5 seats, secrets has 2 to 3"),
        (("--pairs", "teller+mute"), "--pairs: means nothing in secrets"),
        (("--levels", "wide"), "--levels: 'wide' is not one of long, short"),
        (("--world", "cuisine", "--organisation", "tree"), "--organisation: say who plays, with --members"),
        (("--world", "cuisine", "--members", "planner+planner", "--preset", "table7"), "--preset: means"),
        (
            ("--world", "cuisine", "--members", "planner", "--organisation", "custom"),
            "organisation: 'custom' is not one of",
        ),
    ],
)
def test_a_team_that_cannot_play_is_refused_in_one_line(
    tmp_path: Path, arguments: tuple[str, ...], why: str
) -> None:
    with pytest.raises(CommandError, match=f"^{why}") as refused:
        call_command("experiment", "--world", "secrets", *arguments, "--out", str(tmp_path), "--local")
    assert refused.value.returncode == 2 and "\n" not in str(refused.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("organisation", ["none", "pair", "pair,none"])
def test_together_is_accepted_where_it_is_the_only_schedule(organisation: str) -> None:
    given = {**GIVEN, "members": "teller+mute", "organisation": organisation}
    assert read_setup({**given, "schedule": "together"}) == read_setup(given)


def test_together_is_accepted_without_an_organisation() -> None:
    given = {**GIVEN, "world": "overcooked", "pairs": "stay+random", "layouts": "cramped_room"}
    assert read_setup({**given, "schedule": "together"}) == read_setup(given)


def test_pairs_may_be_organised_too() -> None:
    given = {**GIVEN, "world": "overcooked", "pairs": "stay+random", "layouts": "cramped_room"}
    (column,) = read_setup({**given, "organisation": "pair"}).columns
    assert column.variant.organisation and column.variant.organisation.kind == "pair"
    (silent,) = read_setup(given).columns
    assert silent.variant.organisation is None


@pytest.mark.parametrize("given", [None, "everybody"])
def test_members_who_talk_within_the_step_know_commands_as_in_live_play(given: str | None) -> None:
    organisations = "graph,pair"
    setup = read_setup(
        {**GIVEN, "levels": "long", "members": "teller+mute", "organisation": organisations, "knowing": given}
    )
    knowing = {column.variant.name: column.variant.knowing for column in setup.columns}
    assert knowing == {"graph teller+mute": given or "nobody", "pair teller+mute": "everybody"}
    assert log_head(episode_jobs(setup)[-1], "", {}).knowing == "everybody"


def test_an_estimate_has_an_interval_within_the_ends_of_its_figure() -> None:
    share, words = Secrets.figures[0], secrets.Talk.figures[0]
    assert estimate_text(share, Estimate((1.0, 1.0, 0.0, 1.0), share.ends)) == "0.750 [0.301, 0.954]"
    assert estimate_text(share, Estimate((0.5, 1.0, 0.9), share.ends)) == "0.800 [0.143, 1.000]"
    assert estimate_text(words, Estimate((3.0, 5.0), words.ends)) == "4.0 [0.0, 16.7]"
    assert estimate_text(words, Estimate((3.0,), words.ends)) == "3.0"
    assert estimate_text(words, Estimate((), words.ends)) == "n/a"


def test_a_setup_without_a_team_has_no_team_fields() -> None:
    setup = read_setup({**GIVEN, "world": "overcooked", "pairs": "stay"})
    assert not {"organisations", "organisation_settings", "knowing"} & setup.to_json().keys()
    assert isinstance(secrets.KIT, WorldKit) and "secrets" in known_worlds()
