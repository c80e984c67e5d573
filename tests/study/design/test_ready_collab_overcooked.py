"""The ready study of chef and assistant in turn beside the stand-in, played by a person in either seat."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse

from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world import Command, Json
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.coplayers.answer_messages import send_message
from kitchen.play.episode.advance_episode import run_due_step, submit_commands
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.live.render_page import page_context
from kitchen.play.live.seat_view import current_seat_view, state_message
from kitchen.play.models import Episode, Message
from kitchen.play.turn.submitted_commands import SubmittedCommand
from kitchen.play.turn.websocket_messages import message_to_json
from kitchen.registry.world_registry import get_page
from kitchen.replay.episode_file import export_episode, read_episode_file
from kitchen.replay.episode_record import EpisodeRecord, read_episode_records
from kitchen.replay.step_replay import replay_faults
from kitchen.tasks import answer
from kitchen.worlds.collab_overcooked.order_tasks import tasks
from kitchen.worlds.collab_overcooked.reference_trajectories import ReferencePair, references
from kitchen.worlds.collab_overcooked.room_layout import DISPENSERS
from kitchen.worlds.collab_overcooked.world import CollabOvercooked
from study.design.blueprint import Blueprint, blueprint_of
from study.design.condition_seats import people_in
from study.design.consent_checks import missing_statements
from study.design.demo_study_files import DEMO_FILE, READY_STUDIES
from study.design.models import Study
from study.design.readiness_checks import blocking_problems, readiness_problems
from study.design.study_files import study_from_file
from study.design.translated_texts import missing_translations
from study.editor.describe_design import part_pairs
from study.exports.export_table import EVERYBODY
from study.exports.tables.played_episodes import played_episodes
from study.participants.models import Participant
from study.participation.page_progress import finish_page
from study.pilot.previews import condition_preview
from tests.conftest import Once
from tests.nightly import nightly
from tests.study.factories import enter

pytestmark = pytest.mark.django_db
SEATS = ("chef", "assistant")


@pytest.fixture(scope="module")
def ready(once: Once) -> int:
    """The study as it ships; its pk."""
    with once():
        return study_from_file(DEMO_FILE.with_name(READY_STUDIES["collab_overcooked"][1])).pk


@pytest.fixture
def study(ready: int) -> Study:
    return Study.objects.get(pk=ready)


def test_everybody_is_chef_and_assistant_in_turn(study: Study) -> None:
    assert not list(blocking_problems(study))
    design = blueprint_of(study)
    games = {group: design.for_group(group).conditions for group in design.groups}
    seats = {group: [people_in(one)[0] for one in played] for group, played in games.items()}
    assert seats == {"chef_first": [0, 1, 0, 1], "assistant_first": [1, 0, 1, 0]}
    first, second = ([one.settings["task"] for one in played] for played in games.values())
    assert first == second and len(set(first)) == 4, "the groups swap the seats of the dishes"
    person = enter(study, "one")
    levels = [each.condition.within_level for each in person.rounds.order_by("position")]
    assert levels == [one.within_level for one in games[person.between_group]]
    assert missing_translations(design) == {"es": [], "zh-hans": []}
    assert not list(missing_statements(design)), "the consent tells that messages are stored"


def test_neither_practice_nor_knowledge_of_the_steps_goes_with_a_seat(study: Study) -> None:
    """Whoever is the assistant in a level for the first time has not seen its recipe."""
    design = blueprint_of(study)
    levels, naive = Counter[str](), Counter[str]()
    for group in design.groups:
        played = [tasks()[one.settings["task"]].level for one in design.for_group(group).conditions]
        for number, one in enumerate(design.for_group(group).conditions):
            assert one.within_level.endswith(f"level_{played[number]}")
            levels[one.within_level] += number
            naive[one.within_level] += played[number] not in played[:number]
    assert set(naive.values()) == {1}, "each seat is played once in a level that is new, by one group"
    by_seat = Counter({seat: sum(n for one, n in levels.items() if one.startswith(seat)) for seat in SEATS})
    assert by_seat["chef"] == by_seat["assistant"], "the positions add up to the same"


def test_it_opens_without_a_warning_of_its_own(study: Study) -> None:
    assert not readiness_problems(study)


def test_practice_has_the_seat_and_the_offers_of_the_first_game(study: Study) -> None:
    design = blueprint_of(study)
    practices = [design.for_group(group).practice for group in design.groups]
    assert [people_in(one) for one in practices] == [(0,), (1,)]
    assert all(one.offers_plans for one in practices), "the actions of a request follow by themselves"
    older = Blueprint.from_json(design.in_format(7).to_json())
    assert not older.practice.offers_plans, "practice stays as it was in older documents"


def test_each_group_practises_in_its_own_seat(study: Study) -> None:
    people = [enter(study, entry) for entry in ("one", "two")]
    for person in people:
        finish_page(participant_id=person.pk, page="guide")
        person.refresh_from_db()
    practised = {person.between_group: person.practice for person in people}
    seats = {group: each.seats.get(mind=None).number for group, each in practised.items() if each}
    assert seats == {"chef_first": 0, "assistant_first": 1}
    assert {person.between_group: person.practice_seat for person in people} == seats
    rows = {row.who.between_group: row.seat for row in played_episodes(study, EVERYBODY)}
    assert rows == seats, "the export names the seat"
    (assistant_person,) = (person for person in people if person.between_group == "assistant_first")
    html = Client().get(assistant_person.get_absolute_url()).content.decode()
    assert "You are Cook 2" in html and "You do not have the recipe" in html


def test_groups_that_practise_in_another_seat_than_they_play_are_told(study: Study) -> None:
    part = study.parts.get(kind="practice")
    part.settings = {key: value for key, value in part.settings.items() if key != "own_seat"}
    part.save()
    (problem,) = readiness_problems(study)
    assert problem.words.startswith("Participants of the group assistant_first practise in another seat")
    assert not problem.hinders
    words = [pair.label for pair in part_pairs(blueprint_of(study).part("practice"))]
    assert "Practise in the seat of the group's first condition" not in words


def test_a_condition_without_plans_cannot_be_opened(study: Study) -> None:
    study.conditions.filter(key="zucchini_chef_level_4").update(offers_plans=False)
    (problem,) = blocking_problems(study)
    assert "Choose “Let participants plan ahead”" in problem.words and problem.page == "condition"


def test_a_condition_in_which_nobody_writes_to_the_participant_needs_no_plans(study: Study) -> None:
    only_asks = {"kind": "custom", "people": [0], "writes": [[0, 1]]}
    study.conditions.filter(key="zucchini_chef_level_4").update(offers_plans=False, organisation=only_asks)
    assert not blocking_problems(study)


def begun(study: Study, condition: str) -> Episode:
    episode = condition_preview(condition=study.conditions.get(key=condition)).rounds.get().episode
    assert episode
    return episode


def say(episode: Episode, seat: int, **data: Json) -> str:
    """Have the person ask, and the agent answer; return the code of the receipt."""
    receipt = send_message(episode_id=episode.pk, seat=seat, say=MessageDraft("Please.", data=data))
    step = Episode.objects.get(pk=episode.pk).step + 1
    for mind in episode.minds.all():
        answer(episode.pk, step, mind.number)
    return receipt.code


def play(episode: Episode, seat: int, macros: list[Command]) -> None:
    """Have the person do these, one after another, each as soon as it can begin; till the episode ends."""
    while Episode.objects.get(pk=episode.pk).status == Episode.Status.PLAYING:
        view = current_seat_view(episode.seats.get(number=seat))
        step = view.step + 1
        if view.phase == "choose":
            can = macros and macros[0] in view.choice.legal
            command = macros.pop(0) if can else ("wait", "1")
            assert submit_commands(
                episode_id=episode.pk, step=step, commands=[SubmittedCommand(seat, command)]
            ).accepted
        decide_step(episode_id=episode.pk, step=step)
        run_due_step(episode_id=episode.pk, step=step)


def soup(study: Study, condition: str) -> ReferencePair:
    return references(study.conditions.get(key=condition).settings["task"])[0]


def faults(episode: Episode) -> list[object]:
    (record,) = read_episode_records(Episode.objects.filter(pk=episode.pk))
    copied: EpisodeRecord = read_episode_file(export_episode(record))
    verdicts = verify_episode_logs(Episode.objects.filter(pk=episode.pk))
    return [
        *replay_faults(record),
        *replay_faults(copied),
        *(one for each in verdicts for one in each.faults),
    ]


def test_a_person_as_chef_asks_for_each_unit_and_delivers_a_level_4_order(
    study: Study, admin_client: Client
) -> None:
    episode, pair = begun(study, "zucchini_chef_level_4"), soup(study, "zucchini_chef_level_4")
    for unit in pair.units:  # the same words each time: other requests are no repetition
        assert say(episode, 0, requests=[list(macro) for macro in unit]) == "accepted"
    play(episode, 0, list(pair.chef))
    episode.refresh_from_db()
    assert (episode.score["success"], episode.score["progress_completeness"]) == (1, 1)
    assert (episode.score["requests_right"], episode.score["responses_right"]) == (1, 1), "one conversation"
    assert episode.score["rounds"] == 3
    assert Message.objects.filter(episode=episode, sender=1, data__has_key="plan").count() == 3
    assert not faults(episode)
    replay = f"/staff/{study.slug}/replay/{episode.key}/"
    last, first = (admin_client.get(replay, {"go": go}).content.decode() for go in ("last", "first"))
    row = '<th scope="row">Rounds opened</th><td class="number">3</td><td class="number">0</td>'
    interval = '<td class="number">100 %</td><td class="number">1</td><td>no interval</td>'
    assert f'<th scope="row">Responding capability</th>{interval}' in last, "one conversation"
    assert 'ITES of the requests</th><td class="number">1</td>' in last
    assert "By seat</caption>" in last and row in last and "By seat" not in first
    person = Participant.objects.get(rounds__episode=episode)
    page = admin_client.get(reverse("study:staff-participants-one", args=[study.slug, person.code]))
    summary, in_full = page.content.decode().split("<summary>All measures")
    assert "Messages of the chef" not in summary and "<li>Messages of the chef 3</li>" in in_full


def test_after_practice_a_person_beside_a_program_is_told_of_one_teammate(
    study: Study, client: Client
) -> None:
    person = enter(study, "one")
    finish_page(participant_id=person.pk, page="guide")
    person.refresh_from_db()
    assert person.practice
    Episode.objects.filter(pk=person.practice.pk).update(status=Episode.Status.OVER)
    page = client.get(person.get_absolute_url()).content.decode()
    assert "the first game that counts, together with your teammate." in page


@pytest.mark.parametrize("condition", ["pepper_assistant_level_4", *nightly("zucchini_assistant_level_4")])
def test_a_person_as_assistant_does_what_the_chef_asks_for(study: Study, condition: str) -> None:
    episode, pair = begun(study, condition), soup(study, condition)
    answer(episode.pk, 1, episode.minds.get().number)
    view = current_seat_view(episode.seats.get(number=1))
    asked = [said.data["requests"] for said in view.talk.messages if said.sender == 0]
    units = [[list(macro) for macro in unit] for unit in pair.units if unit[0][-1] in DISPENSERS]
    assert asked == units[:1], "it asks for one thing, and the second one is the person's own idea"
    play(episode, 1, list(pair.assistant))
    episode.refresh_from_db()
    assert (episode.score["success"], episode.score["progress_completeness"]) == (1, 1)
    assert episode.score["initiating_capability"] == episode.score["responding_capability"] == 1
    assert not faults(episode)


@pytest.mark.parametrize(
    "requests",
    [[["fly"]], [["cook", "pot0"]], [["cut"]], [["pickup", "stone", "counter"]], "cut", [[["cut"]]], [1]],
)
def test_requests_that_the_assistant_could_never_do_are_refused_and_nothing_is_sent(
    study: Study, requests: Json
) -> None:
    episode = begun(study, "zucchini_chef_level_4")
    assert say(episode, 0, requests=requests) == "no_such_request"
    assert not Message.objects.filter(episode=episode).exists()


RECIPE = re.compile(r"recipe\"|chopping board: |in the oven: |in the pot: ", re.IGNORECASE)


def test_the_assistant_gets_no_word_of_the_recipe_before_it_is_said(study: Study) -> None:
    """Neither on the page with its guide, nor in its JSON, until the chef writes it."""
    pages = {}
    for seat, condition in enumerate(("zucchini_chef_level_4", "pepper_assistant_level_4")):
        view = current_seat_view(begun(study, condition).seats.get(number=seat))
        page = get_page(CollabOvercooked.kind)
        more = {"socket_path": "/ws/seat/x/", "continue_url": "/p/x/"}
        html = render_to_string("kitchen/play/play.html", page_context(page, view, **more))
        pages[seat] = html + message_to_json(state_message(CollabOvercooked.kind, view))
    assert "Cook in the pot: zucchini slices, chickpea" in pages[0] and '"recipe"' in pages[0]
    assert not RECIPE.search(pages[1]) and "You do not have the recipe" in pages[1]
