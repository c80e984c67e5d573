"""scored_events.csv: each event with its values, in the rows of those who know all of its messages."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import override

from kitchen.contract.episode_log import ScoredEvent
from kitchen.contract.team_messages import REQUESTS_KEY, MessageDraft
from kitchen.contract.world import canonical_hash
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.coplayers.answer_messages import send_message
from kitchen.play.episode.advance_episode import submit_commands
from kitchen.play.episode.play_monitoring import episode_facts
from kitchen.play.live.common_panels import talk_panel
from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.models import Episode, Message, Step
from kitchen.play.turn.submitted_commands import SubmittedCommand
from kitchen.registry.world_metrics import event_columns
from kitchen.registry.world_registry import WORLDS, get_page
from kitchen.replay.episode_content import EpisodeFileError
from kitchen.replay.episode_file import export_episode, read_episode_file
from kitchen.replay.episode_record import read_episode_records
from kitchen.replay.episode_timeline import event_steps
from kitchen.replay.step_replay import report_step
from kitchen.tasks import answer
from study.design.demo_study_files import DEMO_FILE, READY_STUDIES
from study.design.models import Study
from study.design.study_files import study_from_file
from study.exports.export_registry import get_table
from study.exports.tables.messages_and_scored_events_tables import SCORED_EVENT_COLUMNS, Share, event_rows
from tests.study.design.test_ready_collab_overcooked import RECIPE, begun, say, soup
from tests.study.exports.rows import rows_of

EVENTS = (
    ScoredEvent(3, "right", (1, 2), {"gain": 0.5, "plan": ""}, ()),
    ScoredEvent(4, "wrong", (3,), {"gain": 0.0, "plan": "cut"}, ()),
)
READERS = [(Message(number=1), {0}), (Message(number=2), {0, 1}), (Message(number=3), set[int]())]
NO_VALUE = "\N{EN DASH}"


def test_worlds_name_their_values_unlike_the_other_columns_and_share_equal_ones_only() -> None:
    values = [column for world in WORLDS for column in event_columns([world])]
    assert values and {column.name for column in values}.isdisjoint(
        column.name for column in SCORED_EVENT_COLUMNS
    )
    assert len(set(values)) == len({column.name for column in values})


def rows(member: int) -> list[tuple[object, ...]]:
    share = Share(member, {0, 1}, 0, {}, READERS, EVENTS)
    return list(event_rows(["gain", "plan", "of_another_world"], share))


def test_an_event_is_in_the_rows_of_those_who_know_all_of_its_messages() -> None:
    assert rows(0) == [
        (3, 1, "right", [1, 2], 0.5, None, None, True),
        (4, 2, "wrong", [3], 0.0, "cut", None, False),
    ]
    assert rows(1) == [], "it could not read message 1"


@pytest.fixture
def study(db: None) -> Study:
    """The ready study of Collab-Overcooked, a world with such events."""
    return study_from_file(DEMO_FILE.with_name(READY_STUDIES["collab_overcooked"][1]))


@pytest.fixture
def asked(study: Study) -> tuple[Study, Episode, str]:
    """A person as chef has asked for everything, and the agent has answered; and what was requested."""
    episode, pair = begun(study, "zucchini_chef_level_4"), soup(study, "zucchini_chef_level_4")
    for unit in pair.units:
        assert say(episode, 0, requests=[list(macro) for macro in unit]) == "accepted"
    return study, episode, "; ".join(" ".join(macro) for macro in pair.assistant)


def test_an_event_is_exported_with_its_values(asked: tuple[Study, Episode, str]) -> None:
    study, _, requests = asked
    table = get_table("scored_events")
    names = [column.name for column in table.columns_of(study)]
    (row,) = (dict(zip(names, cells, strict=True)) for cells in rows_of(table, study))
    assert (row["condition"], row["step"], row["message_numbers"]) == (
        *("zucchini_chef_level_4", 1, [1, 2, 3, 4, 5, 6]),
    )
    assert (row["requests"], row["result"], row["known"]) == (requests, "both right", True)
    assert row["ites_request"] == 1 and row["history"] is None


def test_requests_without_words_are_exported_replayed_and_shown_in_words(
    study: Study,
) -> None:
    episode, unit = begun(study, "zucchini_chef_level_4"), soup(study, "zucchini_chef_level_4").units[0]
    wordless = MessageDraft("", data={REQUESTS_KEY: [list(macro) for macro in unit]})
    assert send_message(episode_id=episode.pk, seat=0, say=wordless).accepted
    answer(episode.pk, 1, episode.minds.get().number)
    table = get_table("messages")
    names = [column.name for column in table.columns_of(study)]
    mine, *_, answered = (dict(zip(names, cells, strict=True)) for cells in rows_of(table, study))
    words = "Fetch zucchini; Put it onto the chopping board; Cut on the chopping board"
    assert mine["text"] == "" and mine["requests"].startswith(words)
    assert names[-1] == "requests" and answered["requests"] is None
    (record,) = read_episode_records(Episode.objects.filter(pk=episode.pk))
    report = render_to_string("study/monitor/replay_told.html", {"told": report_step(record, 1)})
    assert f"(say): <b>Request: {words}" in report
    view = current_seat_view(episode.seats.get(number=0))
    lines: list[Any] = [part.shows for part in talk_panel(get_page(episode.world), view).parts]
    first, second = lines[:2]
    assert first.requests == "Cut zucchini" and "I will do this" in second.text and not second.requests
    with override("es"):
        lines = [part.shows for part in talk_panel(get_page(episode.world), view).parts]
    assert lines[1].text.startswith("Haré esto:") and lines[1].is_ours


def test_the_replay_and_the_file_of_an_episode_have_its_events(asked: tuple[Study, Episode, str]) -> None:
    _, episode, requests = asked
    (record,) = read_episode_records(Episode.objects.filter(pk=episode.pk))
    report = render_to_string("study/monitor/replay_told.html", {"told": report_step(record, 1)})
    assert f"The chef requested: {requests}." in report and "Scored: both right" in report
    assert not report_step(record, 2).scored and event_steps(record) == {}, "the step is not taken yet"
    content = json.loads(export_episode(record))
    assert read_episode_file(json.dumps(content).encode()).scored_events == record.scored_events
    content["scored_events"][0]["values"]["code"] = 3
    del content["hash"]
    changed = json.dumps({**content, "hash": canonical_hash(content)}).encode()
    with pytest.raises(EpisodeFileError, match="scored events differ"):
        read_episode_file(changed)


def test_staff_see_the_metrics_of_talk_while_an_episode_is_played(asked: tuple[Study, Episode, str]) -> None:
    study, episode, _ = asked
    no_value = f"Initiating capability {NO_VALUE}"
    assert no_value in episode_facts([episode.pk])[episode.pk].standing, "an answer may follow in the step"
    submit_commands(episode_id=episode.pk, step=1, commands=[SubmittedCommand(0, ("wait", "1"))])
    decide_step(episode_id=episode.pk, step=1)
    silent = begun(study, "zucchini_chef_level_5")
    facts = episode_facts([episode.pk, silent.pk])
    assert "Initiating capability 100 % (n = 1, no interval)" in facts[episode.pk].standing
    assert no_value in facts[silent.pk].standing
    assert "initiating_capability" not in Episode.objects.get(pk=episode.pk).score, "nothing is stored"


def test_rows_of_an_assistant_have_no_word_of_the_recipe(study: Study) -> None:
    episode = begun(study, "pepper_assistant_level_4")
    answer(episode.pk, 1, episode.minds.get().number)
    found = {name: list(rows_of(get_table(name), study)) for name in ("scored_events", "messages")}
    assert [len(each) for each in found.values()] == [1, 1], "the chef asks for one thing"
    assert not RECIPE.search(str(found))


def test_a_failed_check_is_exported_and_replayed_with_seat_and_code_and_without_the_command(
    study: Study,
) -> None:
    episode = begun(study, "zucchini_chef_level_4")
    refused = {"kind": "refused", "seat": 0, "command": ["deliver"], "reasons": ["hands_empty"]}
    now = timezone.now()
    Step.objects.create(
        episode=episode, number=1, commands=[], events=[refused], score={}, opened_at=now, taken_at=now
    )
    Episode.objects.filter(pk=episode.pk).update(step=1)
    table = get_table("failed_checks")
    names = [column.name for column in table.columns_of(study)]
    (row,) = (dict(zip(names, cells, strict=True)) for cells in rows_of(table, study))
    assert [row[name] for name in ("condition", "step", "seat", "code", "checked")] == [
        *("zucchini_chef_level_4", 1, 0, "hands_empty", "command")
    ]
    assert "deliver" not in str(row)
    (record,) = read_episode_records(Episode.objects.filter(pk=episode.pk))
    report = render_to_string("study/monitor/replay_told.html", {"told": report_step(record, 1)})
    assert "<code>hands_empty</code> (a command for this step)" in report
    assert not report_step(record, 2).failed
