"""Who plays in a condition and who may write to whom: set up in the console, without code, and seen there."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from study.design.models import Condition, Study
from study.editor.team_form import team_initial, team_read
from study.editor.team_picture import team_picture
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(client: Client) -> Study:
    study = make_study(conditions=1)
    user = User.objects.create_user("researcher", is_staff=True)
    study.memberships.create(user=user, role="owner")
    client.force_login(user)
    return study


def sent(study: Study, **changes: Any) -> dict[str, Any]:
    """What the form of the condition sends, with three teammates."""
    row = study.conditions.get()
    world = {f"world__cuisine__{name}": value for name, value in {**row.settings, "level": "level_3"}.items()}
    plain = {"key": row.key, "name": row.name, "label": row.label, "world": row.world, "teammates": "3"}
    return {**plain, **world, "coplayer": "planner", "coplayer__planner__tries": "2", **changes}


def save(client: Client, study: Study, **changes: Any) -> str:
    """What is wrong, as the page says it; empty once it is saved."""
    row = study.conditions.get()
    url = reverse("study:staff-design-condition", args=[study.slug, row.pk])
    response = client.post(url, sent(study, **changes))
    return "" if response.status_code == 302 else response.content.decode()


def stored(study: Study) -> Any:
    return study.conditions.get().organisation


def test_one_dispatcher_for_two_and_a_planner_for_the_third(client: Client, study: Study) -> None:
    lines = "2, 3: dispatcher; model = stand-in; memory = 5; repair = 1"
    assert save(client, study, team_kind="central", team_talk="on", team_members=lines) == ""
    assert stored(study) == {
        "kind": "central",
        "settings": {"talk": True},
        "members": [
            {
                "seats": [1, 2],
                "coplayer": "dispatcher",
                "settings": {"model": "stand-in", "memory": 5, "repair": 1},
            }
        ],
    }
    page = client.get(reverse("study:staff-design-condition", args=[study.slug, study.conditions.get().pk]))
    html = page.content.decode()
    assert "2, 3: dispatcher;" in html and "repair = 1" in html
    assert "The participant may write to Dispatcher (player 2, 3) and Planner (player 4)." in html


def test_somebody_leads_and_the_picture_says_whom(client: Client, study: Study) -> None:
    assert (
        save(client, study, team_kind="tree", team_leads="2", team_sees="team", team_messages_a_step="5")
        == ""
    )
    assert stored(study) == {
        "kind": "tree",
        "settings": {"leaves_talk": False, "sees": "team", "messages_a_step": 5},
        "leads": 1,
    }
    picture = team_picture(study.conditions.get())
    assert picture is not None
    assert picture.sentences[0] == (
        "Planner (player 2) may command the participant, Planner (player 3) and Planner (player 4)."
    )
    assert sum(edge.commands for edge in picture.edges) == 3
    words = [(node.x, node.y + node.aside) for node in picture.nodes]
    assert all(40 < x < picture.width - 40 and 14 < y < picture.height - 4 for x, y in words)
    ends = [end for one in picture.edges for end in ((one.x1, one.y1), (one.x2, one.y2))]
    assert not [
        (x, y) for x, y in ends for at, foot in words if abs(x - at) < 36 and foot - 12 < y < foot + 4
    ]


def test_pairs_of_ones_own_are_written_as_players(client: Client, study: Study) -> None:
    assert save(client, study, team_kind="custom", team_writes="1 > 2\n3→1", team_commands="1 to 4") == ""
    assert stored(study)["writes"] == [[0, 1], [2, 0]] and stored(study)["commands"] == [[0, 3]]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"team_apart": "on", "team_kind": ""}, "Choose one: who leads without a place"),
        ({"team_members": "2: planner", "team_kind": ""}, "co-players of their own, belong to one."),
        ({"team_apart": "on", "team_kind": "each", "step_seconds": "3"}, "who may command somebody"),
        ({"team_kind": "pair"}, "A pair is two, not 4."),
        ({"team_kind": "each", "team_members": "2: nobody"}, "nobody"),
        ({"team_kind": "each", "team_members": "2 planner"}, "write it as “3: planner”"),
        ({"team_kind": "each", "team_members": "2: planner; depth = 3"}, "depth: no such setting"),
        ({"team_kind": "each", "team_members": "2: planner; tries = many"}, "not a value of kind int"),
        ({"team_kind": "each", "team_members": "7: planner"}, "are not different ones of"),
        ({"team_kind": "tree", "team_leads": "9"}, "Nobody has the seat 8."),
        ({"team_kind": "custom", "team_writes": "1 & 2"}, "write it as “1 &gt; 2”"),
        ({"team_kind": "custom", "team_writes": "1 > 9"}, "does not lead from one member to another"),
        ({"team_kind": "tree", "team_messages_a_step": "0"}, "0 is below 1."),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_is_saved(
    client: Client, study: Study, changes: dict[str, str], why: str
) -> None:
    assert why in save(client, study, **changes)
    assert stored(study) == {}


def test_a_condition_without_is_as_it_was_and_one_that_is_emptied_again_too(
    client: Client, study: Study
) -> None:
    assert save(client, study, team_kind="") == ""
    assert stored(study) == {} and team_picture(study.conditions.get()) is None
    Condition.objects.update(organisation={"kind": "each"})
    assert save(client, study) == ""  # somebody who does not know these fields
    assert stored(study) == {"kind": "each"}
    assert save(client, study, team_kind="") == ""
    assert stored(study) == {}


def test_what_is_shown_is_read_as_the_same() -> None:
    said = {
        "kind": "custom",
        "settings": {"sees": "all", "messages_a_step": 4},
        "members": [{"seats": [1, 3], "coplayer": "dispatcher", "settings": {"memory": 5}}],
        "commands": [[0, 1]],
        "writes": [[1, 0]],
    }
    shown = team_initial(said)
    assert team_read(shown, lambda field, why: pytest.fail(f"{field}: {why}")) == said


def test_a_member_has_a_persona_of_its_own_and_comes_back_as_it_was_written(
    client: Client, study: Study
) -> None:
    personas = [
        "Be calm; ask first.\n“Short” words.",
        'Say "yes".',
        " spaced ",
        "plain = plain",
        "two\u2028lines",
    ]
    for persona in personas:
        members = [{"seats": [2], "coplayer": "dispatcher", "settings": {"persona": persona, "memory": 3}}]
        (line,) = team_initial({"kind": "central", "members": members})["team_members"]
        assert len(line.splitlines()) == 1
        assert save(client, study, team_kind="central", team_members=line) == ""
        assert stored(study)["members"] == members


def test_a_text_that_is_not_closed_or_lacks_something_is_told_with_its_line(
    client: Client, study: Study
) -> None:
    said: list[str] = []
    lines = ['3: dispatcher; persona = "never closed', "3: dispatcher; prompt = {task}"]
    team_read({"team_kind": "central", "team_members": lines}, lambda _, why: said.append(why))
    assert said[0].endswith('a text in quotes is written as "one\\ntwo", a quote in it as \\"')
    assert said[1].startswith(
        "“3: dispatcher; prompt = {task}”: prompt: {recipes}, {instructions}, {hints} and"
    )


def test_each_member_is_told_its_own_persona(client: Client, study: Study) -> None:
    lines = "2: dispatcher; persona = Be quick.\n3: dispatcher; persona = Be calm."
    assert save(client, study, team_kind="each", team_members=lines) == ""
    row = study.conditions.get()
    there = reverse("study:staff-design-condition-prompt", args=[study.slug, row.pk])
    for number, (persona, other) in enumerate((("Be quick.", "Be calm."), ("Be calm.", "Be quick."))):
        told = client.get(there, {"player": number}).context["prompt"].messages[0].text
        assert f"# Who you are\n{persona}" in told and other not in told


def test_the_participant_leads_and_has_no_robot(client: Client, study: Study) -> None:
    chosen = {"team_kind": "tree", "team_apart": "on", "team_sees": "all", "coplayer": "follower"}
    assert "needs a step timer" in save(client, study, **chosen)
    assert save(client, study, **chosen, step_seconds="3") == ""
    assert stored(study) == {
        "kind": "tree",
        "settings": {"leaves_talk": False, "sees": "all"},
        "apart": True,
    }
    assert team_initial(stored(study))["team_apart"] is True
    picture = team_picture(study.conditions.get())
    assert picture and [(node.number, node.who) for node in picture.nodes][:2] == [
        ("★", "Participant"),
        ("1", "Follower"),
    ]
    assert picture.sentences[0].startswith(
        "The participant, who has no place in the game, may command Follower"
    )


def test_several_people_are_set_up_by_the_numbers_of_their_players(client: Client, study: Study) -> None:
    assert (
        save(client, study, team_kind="", team_people="1, 2", team_lobby_seconds="60", team_unfilled="leave")
        == ""
    )
    assert stored(study) == {
        "kind": "central",
        "settings": {},
        "people": [0, 1],
        "lobby_seconds": 60,
        "unfilled": "leave",
    }
    shown = team_initial(stored(study))
    assert (shown["team_people"], shown["team_lobby_seconds"], shown["team_absent_steps"]) == ("1, 2", 60, 3)
    assert (
        save(client, study, team_kind="", team_people="", team_lobby_seconds="60") == ""
        and stored(study) == {}
    )
    assert "Write numbers of players" in save(client, study, team_kind="", team_people="two")
    assert "people: [0, 8] are not different ones" in save(client, study, team_kind="", team_people="1, 9")


def test_the_picture_tells_several_people_apart(client: Client, study: Study) -> None:
    save(client, study, team_kind="central", team_talk="on", team_people="1, 3")
    picture = team_picture(study.conditions.get())
    assert picture and picture.sentences[0] == (
        "Participant (player 1) may write to Planner (player 2, 4) and Participant (player 3)."
    )
    assert [node.who for node in picture.nodes].count("Participant") == 2
