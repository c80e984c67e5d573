"""A world with all that `SimpleWorld`, kits and the platform offer goes the whole way: `tests.worlds.vault`.

Three seats with secrets, a macro that can be stopped, a command with an amount, talk within the step, a
figure computed from the log, and a limit that cuts off. Nothing outside its folder knows it.
"""

from __future__ import annotations

import csv
import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.test import Client

from kitchen.contract.automatic_commands import Plan, open_turn
from kitchen.contract.team_messages import MessageDraft
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.coplayers.answer_messages import send_message
from kitchen.play.episode.advance_episode import run_due_step, submit_commands
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.models import Episode, Message, Seal, SeatCommand, Step
from kitchen.play.turn import turn_rules
from kitchen.play.turn.submitted_commands import SubmittedCommand
from kitchen.registry.world_registry import organisation_refusal
from kitchen.replay.episode_file import export_episode, read_episode_file
from kitchen.replay.episode_record import EpisodeRecord, read_episode_records
from kitchen.replay.step_replay import replay_faults
from kitchen.tasks import answer
from study.design.models import Condition, Study
from study.pilot.previews import condition_preview
from study.pilot.synthetic.synthetic_participants import SyntheticRequest, make_participants
from tests.servers import Stack
from tests.study.participation.test_views import agree, text_of
from tests.study.pilot.test_dry_run import walk
from tests.worlds.vault.metrics import TalkMetrics
from tests.worlds.vault.world import CRANK, DIAL, STOP, WAIT, Vault

STUDY = Path(__file__).parent / "vault" / "study.toml"
DOOR = {"limit": 9, "door": 4}
CODES = [Vault.create(seats=3, settings=DOOR).brief(seat)["code"] for seat in range(3)]


@pytest.fixture
def study(db: None, vault: None) -> Study:
    call_command("load_study", str(STUDY))
    return Study.objects.get()


def test_a_plan_with_an_amount_goes_on_although_the_menu_lists_another_amount() -> None:
    world = Vault.create(seats=3, settings={})
    assert (DIAL, "7") not in world.legal_actions(0) and world.allows(0, (DIAL, "7"))
    opened = open_turn(world, [0], {0: Plan(((DIAL, "7"),), "keeper", "", 1)}, passes_by=True)
    assert [each.command for each in opened.filled] == [(DIAL, "7")] and not opened.broken


def test_only_organisations_and_schedules_of_its_kit_are_taken(study: Study) -> None:
    assert organisation_refusal("vault", "graph") == organisation_refusal("cuisine", "tree", "together") == ""
    assert organisation_refusal("vault", "graph", "relay") == (
        "schedule: vault is played with together, not with relay"
    )
    condition = Condition.objects.get(key="silent")
    condition.organisation = {"kind": "chain"}
    with pytest.raises(ValidationError, match="vault is played with graph or custom, not with chain"):
        condition.full_clean()


def test_the_guide_holds_the_reader_s_own_secret_and_no_other(client: Client, study: Study) -> None:
    guide = text_of(client.get(agree(client, study)["Location"]))
    assert re.search(rf">Code<\D+{CODES[0]}\b", guide)
    study.conditions.update(organisation={"kind": "graph", "settings": {"within": True}, "people": [1]})
    other = Client()
    guide = text_of(other.get(agree(other, study)["Location"]))
    assert re.search(rf">Code<\D+{CODES[1]}\b", guide)
    shared = {"kind": "graph", "settings": {"within": True}, "people": [0, 1]}
    study.conditions.update(organisation=shared)
    third = Client()
    guide = text_of(third.get(agree(third, study)["Location"]))
    assert not re.search(r">Code<\D+\d", guide), "in a group nobody knows yet who sits where"


def played_episode(study: Study, condition: str) -> Episode:
    """Return the open episode of somebody in this condition."""
    episode = condition_preview(condition=study.conditions.get(key=condition)).rounds.get().episode
    assert episode
    return episode


def choose(episode: Episode, *commands: tuple[str, ...]) -> None:
    """Have the person in seat 0 choose these, step by step, and the keepers after them."""
    for command in commands:
        step = Episode.objects.get(pk=episode.pk).step + 1
        order = SubmittedCommand(0, command)
        receipt = submit_commands(episode_id=episode.pk, step=step, commands=[order])
        assert receipt.accepted, receipt.code
        decide_step(episode_id=episode.pk, step=step)


def say(episode: Episode, text: str) -> None:
    """Have the person write to all, and every keeper answer that is to."""
    assert send_message(episode_id=episode.pk, seat=0, say=MessageDraft(text)).accepted
    step = Episode.objects.get(pk=episode.pk).step + 1
    for mind in episode.minds.all():
        answer(episode.pk, step, mind.number)


def record(episode: Episode) -> EpisodeRecord:
    """Return all that is stored of it."""
    (found,) = read_episode_records(Episode.objects.filter(pk=episode.pk))
    return found


def test_three_who_talk_within_the_step_open_it_and_every_view_holds_what_it_may(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn_rules, "PAUSE_SECONDS", 0.0)
    episode = played_episode(study, "talking")
    say(episode, f"My code is {CODES[0]}.")
    texts = list(Message.objects.filter(episode=episode).values_list("sender", "text"))
    assert {sender for sender, _ in texts} == {0, 1, 2}, "both keepers answered before anybody chose"
    view = current_seat_view(episode.seats.get(number=0))
    assert f"My code is {CODES[1]}." in [message.text for message in view.talk.messages]
    assert view.choice.amounts == {(DIAL,): (1, 9)}
    choose(episode, (DIAL, str(CODES[1])), CRANK)
    episode.refresh_from_db()
    while episode.status == Episode.Status.PLAYING:
        assert run_due_step(episode_id=episode.pk, step=episode.step + 1)
        episode.refresh_from_db()
    assert (episode.status, episode.score["bolts"]) == (Episode.Status.OVER, 3)
    assert episode.score["messages"] == Message.objects.filter(episode=episode).count() == 3
    assert "messages" not in Step.objects.filter(episode=episode).latest("number").score
    assert "messages sent" in str(current_seat_view(episode.seats.get(number=0)).result.achieved)
    assert [verdict.faults for verdict in verify_episode_logs(Episode.objects.filter(pk=episode.pk))] == [[]]
    assert not list(replay_faults(record(episode)))
    assert not list(replay_faults(read_episode_file(export_episode(record(episode)))))
    assert Seal.objects.get(episode=episode).facts["score"]["messages"] == 3


def test_a_changed_figure_of_the_log_is_found(study: Study) -> None:
    episode = played_episode(study, "silent")
    choose(episode, *[WAIT] * 9)
    assert not list(replay_faults(record(episode)))
    Episode.objects.filter(pk=episode.pk).update(score={"bolts": 0, "messages": 9})
    assert list(replay_faults(record(episode)))


def test_an_episode_ends_although_its_figures_cannot_be_computed(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TalkMetrics, "measure", lambda self, log: {"messages": 1 / 0})
    episode = played_episode(study, "silent")
    choose(episode, *[WAIT] * 9)
    episode.refresh_from_db()
    assert (episode.status, episode.score) == (Episode.Status.CUT_OFF, {"bolts": 0, "messages": None})
    assert Seal.objects.filter(episode=episode).exists()


def test_the_limit_cuts_an_episode_off(study: Study) -> None:
    episode = played_episode(study, "silent")
    choose(episode, *[WAIT] * 9)
    episode.refresh_from_db()
    assert (episode.status, episode.step) == (Episode.Status.CUT_OFF, 9)
    assert episode.score == {"bolts": 0, "messages": 0}


def test_a_person_stops_in_the_middle_of_a_macro(study: Study) -> None:
    """The others are asked meanwhile, so the step waits for them and the person can be reached."""
    study.conditions.update(settings={"limit": 9, "door": 4})
    episode = played_episode(study, "silent")
    choose(episode, (DIAL, str(CODES[1])))
    step = Episode.objects.get(pk=episode.pk).step + 1
    assert submit_commands(episode_id=episode.pk, step=step, commands=[SubmittedCommand(0, CRANK)]).accepted
    decide_step(episode_id=episode.pk, step=step)
    view = current_seat_view(episode.seats.get(number=0))
    assert view.choice.may_act and STOP in view.choice.legal
    step = view.step + 1
    assert submit_commands(episode_id=episode.pk, step=step, commands=[SubmittedCommand(0, STOP)]).accepted
    decide_step(episode_id=episode.pk, step=step)
    given = SeatCommand.objects.get(episode=episode, step=step, seat=0)
    assert (given.command, given.chosen_by) == (["stop"], "person")
    assert current_seat_view(episode.seats.get(number=0)).observation["turns"] == 0


@pytest.mark.django_db
def test_agents_alone_talk_and_their_experiment_replays(vault: None, tmp_path: Path) -> None:
    folder = tmp_path / "doors"
    within = ("--organisation-set", "within=true")
    call_command(
        "experiment", "--world", "vault", *within, "--episodes", "2", "--local", "--out", str(folder)
    )
    talked = rows(folder, "episodes")
    assert {float(row["figure"]) for row in talked} == {3.0} and len(talked) == 4
    assert {row["sender"] for row in rows(folder, "messages")} == {"0", "1", "2"}
    said = StringIO()
    call_command("experiment_replay", str(folder), stdout=said)
    assert said.getvalue().splitlines()[-1].startswith("4 episodes")
    with pytest.raises(CommandError, match="vault is played with graph or custom, not with tree"):
        call_command(
            "experiment", "--world", "vault", "--organisation", "tree", "--local", "--out", str(folder)
        )


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.usefixtures("without_drawings")
@pytest.mark.usefixtures("blank_drawings")
def test_its_figures_are_exported_and_analysed(study: Study, tmp_path: Path) -> None:
    make_participants(study, SyntheticRequest(participants=12, seed=3, recordings=1), lambda _: None)
    call_command("export_study", study.slug, "--out", str(tmp_path))
    episodes = rows(tmp_path, "episodes")
    assert {row["condition"]: row["messages"] for row in episodes}["silent"] == "0"
    assert all(int(row["messages"]) > 0 for row in episodes if row["condition"] == "talking")
    assert {"bolts", "messages"} <= {row["column"] for row in rows(tmp_path, "codebook")}
    assert "messages" not in rows(tmp_path, "steps")[0]
    call_command("analyse_study", study.slug, "--out", str(tmp_path / "found"))
    report = "".join(path.read_text() for path in (tmp_path / "found").glob("*.md"))
    assert "Messages sent" in report


@pytest.mark.nightly
def test_programs_walk_its_study_in_the_running_app(live_stack: Stack) -> None:
    live_stack.manage("load_study", str(STUDY))
    done = walk(live_stack, "vault", "--participants", "2", "--seed", "77")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "2 of 2 synthetic participants finished"
