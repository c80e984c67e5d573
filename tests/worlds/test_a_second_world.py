"""A study in a world that nothing outside its folder knows goes the whole way: `tests.worlds.beacon`."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from kitchen.play.coplayers import agent_decisions
from kitchen.play.episode.advance_episode import submit_commands
from kitchen.play.episode.create_episode import create_episode
from kitchen.play.live.render_page import Screen
from kitchen.play.live.seat_view import current_seat_view, world_page_of
from kitchen.play.models import Decision, Episode, ModelCall
from kitchen.play.turn.submitted_commands import RECEIPTS, Receipt, SubmittedCommand
from kitchen.registry.agent_registry import AGENTS, agent_kinds, get_agent
from kitchen.registry.world_registry import DEFAULT_WORLD_NAME, WORLDS_VARIABLE, known_worlds
from study.analysis.analysis_results import compute_and_cache
from study.design.blueprint import blueprint_of
from study.design.condition_choices import COPLAYER, kind_choices
from study.design.models import Condition, Study
from study.design.preregistration import freeze_study, model_of, prompts_of
from study.design.questions.questionnaires import instrument
from study.editor.describe_design import LabelledValue, part_pairs
from study.monitor.live_status import live_codes, live_rows
from study.participants.models import Participant
from study.participation.page_progress import finish_page
from study.pilot.previews import condition_preview
from study.pilot.synthetic.synthetic_participants import SyntheticRequest, make_participants
from study.planning.study_cost_forecast import forecast_costs
from tests.servers import Stack
from tests.study.factories import enter
from tests.study.participation.test_views import agree, begin, text_of
from tests.study.pilot.test_dry_run import walk

OTHERS = re.compile(r"\b(kitchen|robot|cook|cooking)s?\b", re.IGNORECASE)
"""Words of CuisineWorld."""
STUDY = Path(__file__).parent / "beacon" / "study.toml"


@pytest.fixture
def study(db: None, beacon: None) -> Study:
    call_command("load_study", str(STUDY))
    Study.objects.update(scores_above_surveys=True)
    return Study.objects.get()


@pytest.fixture
def boss(client: Client, django_user_model: type[User]) -> Client:
    client.force_login(django_user_model.objects.create_superuser("boss"))
    return client


def play(episode: Episode) -> Iterator[str]:
    """Play the person's seat to the end, co-players asked in between; the page after every step."""
    seat = episode.seats.get(number=0)
    while (view := current_seat_view(seat)).phase == "choose":
        yield Screen().fragments(world_page_of(seat), view)
        order = SubmittedCommand(0, view.choice.legal[0])
        assert submit_commands(episode_id=episode.pk, step=view.step + 1, commands=[order]).accepted
        agent_decisions.decide_step(episode_id=episode.pk, step=view.step + 1)
    yield Screen().fragments(world_page_of(seat), current_seat_view(seat))


def test_a_variable_brings_worlds_and_a_wrong_one_is_told_in_a_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = {*known_worlds()}
    assert "beacon" not in before
    monkeypatch.setenv(
        WORLDS_VARIABLE, "cuisine=tests.worlds.beacon.kit:KIT, other=tests.worlds.beacon.kit:KIT"
    )
    assert list(known_worlds()) == sorted({*before, "other"})
    assert "beacon" not in known_worlds()["cuisine"], "what is there already cannot be replaced"
    monkeypatch.setenv(WORLDS_VARIABLE, "beacon")
    with pytest.raises(ValueError, match=r"is not name=package\.module:KIT"):
        known_worlds()


def test_its_co_players_are_offered_in_its_conditions_alone(beacon: None) -> None:
    found = {kind: get_agent(kind) for kind in AGENTS}  # nobody says how aims are pursued, or offers skills
    any_world = {
        kind for kind, agent in found.items() if not (agent.worlds or agent.pursues or agent.skilled)
    }
    assert set(agent_kinds("beacon")) == {"pilot", *any_world}
    assert "pilot" not in agent_kinds(DEFAULT_WORLD_NAME)
    assert set(agent_kinds()) >= {*agent_kinds("beacon"), *agent_kinds(DEFAULT_WORLD_NAME)}
    assert set(dict(kind_choices(COPLAYER, world="beacon"))) == {"none", "pilot", *any_world}
    assert dict(kind_choices(COPLAYER, "planner", "beacon"))["planner"] == "Planner (plays Cuisine)"


def test_a_participant_is_guided_practises_plays_answers_and_ends(client: Client, study: Study) -> None:
    personal = agree(client, study)["Location"]
    person = Participant.objects.get()
    guide = text_of(client.get(personal))
    assert "You are the keeper of a bay with 4 berths" in guide
    assert "/static/worlds/beacon/beacon.css" in guide
    assert "You can open this guide at any time" in guide
    client.post(personal, {"page": "guide"})

    person.refresh_from_db()
    assert person.practice
    assert (person.practice.world, person.practice.settings) == ("beacon", {"nights": 3, "width": 3})
    page = text_of(client.get(personal))
    assert 'data-page="practice"' in page and "You are the keeper" in page
    assert "Hint: the haven lies to the" in page
    assert len(list(play(person.practice))) == 4
    assert "Practice is over" in text_of(client.get(personal))
    client.post(personal, {"page": "practice"})

    for position in (1, 2):
        episode = person.rounds.get(position=position).episode
        assert episode
        assert 'data-page="play"' in text_of(client.get(personal))
        assert not any("Hint" in page for page in play(episode))
        survey = text_of(client.get(personal))
        assert "havens reached" in survey or "haven reached" in survey
        answers = {"item_trust": "4", "item_fun": "5", "page": "survey", "position": str(position)}
        client.post(personal, answers)
    client.post(personal, {"page": "debriefing"})
    person.refresh_from_db()
    assert person.status == "complete"


def pages_of_a_participant(client: Client, study: Study) -> Iterator[str]:
    """Every page that somebody reads who takes part in it and leaves at the end."""
    yield text_of(client.get("/"))
    yield text_of(client.get(f"/s/{study.slug}/"))
    personal = begin(client, study)["Location"]
    yield text_of(client.get(personal))
    client.post(personal, {"page": "consent", "agree_0": "on"})
    yield text_of(client.get(personal))
    client.post(personal, {"page": "guide"})
    person = Participant.objects.get()
    assert person.practice
    yield text_of(client.get(personal))
    yield from play(person.practice)
    yield text_of(client.get(personal))
    client.post(personal, {"page": "practice"})
    for position in (1, 2):
        episode = person.rounds.get(position=position).episode
        assert episode
        yield text_of(client.get(personal))
        yield from play(episode)
        yield text_of(client.get(personal))
        answers = {"item_trust": "4", "item_fun": "5", "page": "survey", "position": str(position)}
        client.post(personal, answers)
    yield text_of(client.get(personal))
    client.post(personal, {"page": "debriefing"})
    yield text_of(client.get(personal))
    yield text_of(client.get(f"{personal}withdraw/"))
    yield text_of(client.post(f"{personal}withdraw/", {"confirm": "yes"}))


def test_no_page_of_a_participant_speaks_of_a_kitchen_or_of_robots(client: Client, study: Study) -> None:
    pages = list(pages_of_a_participant(client, study))
    kinds = {kind for page in pages for kind in re.findall(r'data-page="(\w+)"', page)}
    assert {"welcome", "consent", "guide", "practice", "play", "survey", "debriefing", "withdraw"} <= kinds
    said = "".join(pages)
    assert "The practice was for trying everything out" in said and "every step that you played" in said
    assert "choose what to do" in said and not OTHERS.findall(said)
    assert not any(OTHERS.search(Receipt(code, 1).text) for code in RECEIPTS)


def test_seats_are_named_by_the_words_of_their_world(study: Study) -> None:
    names = {
        world: [seat.name for seat in made.seats.order_by("number")]
        for world, settings in (
            ("beacon", {"nights": 3, "width": 3}),
            (DEFAULT_WORLD_NAME, {"level": "level_0"}),
        )
        for made in [create_episode(world=world, settings=settings, seats=2, seed=1)]
    }
    assert names == {"beacon": ["Player 1", "Player 2"], DEFAULT_WORLD_NAME: ["Robot 1", "Robot 2"]}


def test_the_keeper_is_not_shown_what_the_pilot_does(study: Study) -> None:
    person = condition_preview(condition=study.conditions.get(key="asking"))
    episode = person.rounds.get().episode
    assert episode
    list(play(episode))
    view = current_seat_view(episode.seats.get(number=0))
    assert all(set(step.commands) == {0} for step in view.history)
    assert all(event.seat != 1 for step in view.history for event in step.events)
    assert all(len(step.commands) == 2 for step in episode.steps.all()), "the log has both"


def test_the_guide_has_every_world_of_the_conditions_once(client: Client, study: Study) -> None:
    Condition.objects.create(
        study=study,
        key="cooking",
        name="Cooking",
        label="Team C",
        position=3,
        world=DEFAULT_WORLD_NAME,
        settings={"level": "level_0", "max_steps": 3},
    )
    personal = agree(client, study)["Location"]
    guide = text_of(client.get(personal))
    assert guide.count("You are the keeper of a bay") == 1
    assert guide.count("You control one robot in a kitchen") == 1
    assert "<h2>The lighthouse</h2>" in guide and "<h2>The kitchen</h2>" in guide
    assert "every step that you played" in text_of(client.get(f"{personal}withdraw/"))
    assert "You will play" not in guide
    study.conditions.filter(key="asking").update(settings={"nights": 2, "width": 4})
    other = text_of(Client().get(agree(Client(), study)["Location"]))
    assert "You will play this in several ways" in other


def test_the_forecast_asks_the_co_player_and_needs_no_call(study: Study) -> None:
    study.conditions.filter(key="asking").update(coplayer_settings={"oracle": "anthropic:claude-sonnet-5-5"})
    asking, drifting = forecast_costs(study).lines
    assert asking.model == "anthropic claude-sonnet-5-5"
    assert asking.expected and asking.worst and asking.worst > asking.expected > 0
    assert asking.rests_on.startswith("estimated")
    assert drifting.rests_on == "asks no language model"
    study.conditions.filter(key="asking").update(coplayer_settings={})
    assert forecast_costs(study).lines[0].rests_on == "costs nothing"


def test_it_can_be_preregistered_and_previewed(study: Study, django_user_model: type[User]) -> None:
    version = freeze_study(study_id=study.pk, user=django_user_model.objects.create_superuser("boss"))
    assert version.bundle
    content = version.bundle["content"]
    assert content["worlds"] == {"beacon": 1}
    asking = version.blueprint.condition("asking")
    assert content["prompts"]["asking"] == prompts_of(asking)
    assert "steer a ship" in prompts_of(asking)[0]
    assert model_of(asking).startswith("stand-in")
    assert condition_preview(condition=study.conditions.get(key="drifting")).preview


def test_the_console_practises_it_and_shows_its_settings_in_words(study: Study, boss: Client) -> None:
    url = reverse("study:staff-design-part", args=[study.slug, "practice"])
    page = text_of(boss.get(url))
    assert "Berths of the bay" in page and "Level" not in page
    given = {
        "enabled": "on",
        "hints": "on",
        "world": "cuisine",
        "coplayer": "none",
        "teammates": "0",
        "_show_settings": "1",
    }
    other = text_of(boss.post(url, given))
    assert "Level" in other
    assert "Berths of the bay" not in other
    wrong = {**given, "world": "beacon"}
    del wrong["_show_settings"]
    answer = boss.post(url, wrong)
    assert answer.status_code == 422 and "besides the participant" in text_of(answer)
    right = {**wrong, "coplayer": "pilot", "teammates": "1", "world__beacon__width": "7"}
    assert boss.post(url, right).status_code == 302
    kitchen_ = study.parts.get(kind="practice").settings["kitchen"]
    assert kitchen_ == {
        "world": "beacon",
        "settings": {"nights": 3, "width": 7},
        "coplayer": "pilot",
        "coplayer_settings": {},
        "teammates": 1,
    }
    assert LabelledValue("Berths of the bay", "7") in part_pairs(blueprint_of(study).part("practice"))
    condition = study.conditions.get(key="asking")
    page = text_of(boss.get(reverse("study:staff-design-condition", args=[study.slug, condition.pk])))
    offered = re.findall(r'<option value="(\w+)"', page[page.index('name="coplayer"') :])
    assert {"pilot", "random"} <= set(offered) and "planner" not in offered
    for page in ("study:staff-study", "study:staff-design"):
        assert ">Beacon, Nights: 4</td>" in text_of(boss.get(reverse(page, args=[study.slug])))


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.usefixtures("without_drawings")
@pytest.mark.usefixtures("blank_drawings")
def test_its_figures_are_watched_exported_and_analysed(study: Study, boss: Client, tmp_path: Path) -> None:
    make_participants(study, SyntheticRequest(participants=12, seed=3, recordings=1), lambda _: None)
    playing = enter(study)
    finish_page(participant_id=playing.pk, page="guide")
    assert [row.code for row in live_rows(study, live_codes(study))] == [playing.code]
    assert playing.code in text_of(boss.get(f"/staff/{study.slug}/live/"))
    assert (
        boss.get(reverse("study:staff-participants-one", args=[study.slug, playing.code])).status_code == 200
    )

    call_command("export_study", study.slug, "--out", str(tmp_path))
    episodes = rows(tmp_path, "episodes")
    assert {row["world"] for row in episodes} == {"beacon"}
    assert all(row["havens"] != "" for row in episodes)
    assert any(float(row["drift"]) > 0 for row in episodes if row["drift"])
    assert {"drift", "havens"} <= {row["column"] for row in rows(tmp_path, "codebook")}
    assert "completed" not in episodes[0]
    assert any("drift" in name for name in rows(tmp_path, "participants")[0])

    call_command("analyse_study", study.slug, "--out", str(tmp_path / "found"))
    report = "".join(path.read_text() for path in (tmp_path / "found").glob("*.md"))
    assert "Drift" in report and "Havens reached" in report
    compute_and_cache(study, "synthetic")
    assert "Drift" in text_of(boss.get(f"/staff/{study.slug}/analysis/", {"who": "synthetic"}))
    assert ModelCall.objects.exists() and Decision.objects.filter(mind__kind="pilot").exists()


def test_synthetic_participants_walk_it_in_the_running_app(live_stack: Stack) -> None:
    live_stack.manage("load_study", str(STUDY))
    done = walk(live_stack, "lighthouse", "--participants", "2", "--seed", "77")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "2 of 2 synthetic participants finished"


def test_styles_and_questions_of_its_folder_are_found(beacon: None) -> None:
    assert finders.find("worlds/beacon/beacon.css")
    assert instrument("beacon_check").place == "check"
