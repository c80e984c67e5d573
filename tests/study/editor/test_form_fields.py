"""Who plays in a condition and who may write to whom: set up in the console, without code, and seen there."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from math import hypot
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from kitchen.contract.declared_settings import Setting
from kitchen.forms.setting_fields import error_without_name, setting_field
from study.design.blueprint import blueprint_of
from study.design.models import Condition, Study
from study.editor.describe_design import team_pairs
from study.editor.form_fields import read_team, team_initial
from study.editor.team_diagram import team_picture
from tests.nightly import nightly
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


def own(*rows: tuple[str, str, dict[str, str]]) -> dict[str, Any]:
    """Co-players of their own as the form sends them: players, kind, settings that are not as usual."""
    filled: dict[str, Any] = {"team_row": [str(number) for number in range(len(rows))]}
    for number, (players, kind, settings) in enumerate(rows):
        part = f"team_row_{number}"
        filled |= {part: kind, f"{part}_players": players.split(", ")}
        filled |= {f"{part}__{kind}__{name}": value for name, value in settings.items()}
    return filled


def save(client: Client, study: Study, **changes: Any) -> str:
    """What is wrong, as the page says it; empty once it is saved."""
    row = study.conditions.get()
    url = reverse("study:staff-design-condition", args=[study.slug, row.pk])
    response = client.post(url, sent(study, **changes))
    return "" if response.status_code == 302 else response.content.decode()


def stored(study: Study) -> Any:
    return study.conditions.get().organisation


def test_one_dispatcher_for_two_and_a_planner_for_the_third(client: Client, study: Study) -> None:
    row = own(("2, 3", "dispatcher", {"model": "stand-in", "memory": "6", "repair": "1"}))
    assert save(client, study, team_kind="central", team_talk="on", **row) == ""
    assert stored(study) == {
        "kind": "central",
        "settings": {"talk": True},
        "members": [
            {
                "seats": [1, 2],
                "coplayer": "dispatcher",
                "settings": {
                    "model": "stand-in",
                    "reply": "strict",
                    "confirm": True,
                    "memory": 6,
                    "repair": 1,
                    "ask_unclear": True,
                    "demonstration_play": "team",
                },
            }
        ],
    }
    page = client.get(reverse("study:staff-design-condition", args=[study.slug, study.conditions.get().pk]))
    html = page.content.decode()
    assert re.search(r'name="team_row_0__dispatcher__repair" value="1"', html)
    assert len(re.findall(r'name="team_row_0_players" value="[23]"[^>]* checked', html)) == 2
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
        ({"team_apart": "on", "team_kind": ""}, "Choose an organisation: a leader without a place"),
        ({**own(("2", "planner", {})), "team_kind": ""}, "separate co-players need one."),
        ({"team_apart": "on", "team_kind": "each", "step_seconds": "3"}, "must be able to command somebody"),
        ({"team_kind": "pair"}, "A pair is two, not 4."),
        ({"team_kind": "each", **own(("2", "nobody", {}))}, "nobody is not one of the available choices"),
        ({"team_kind": "each", **own(("2", "planner", {"tries": "many"}))}, "Enter a whole number."),
        ({"team_kind": "each", **own(("1", "planner", {}))}, "No co-player can play for player 1."),
        (
            {"team_kind": "each", **own(("2", "planner", {}), ("2", "random", {}))},
            "Player 2 already has a separate co-player.",
        ),
        (
            {"team_kind": "each", **own(("2", "dispatcher", {"prompt": "{task}"}))},
            "{recipes}, {instructions}, {hints} and",
        ),
        ({"team_kind": "tree", "team_leads": "9"}, "There is no player 9: they are 1 to 4."),
        ({"team_kind": "custom", "team_writes": "1 & 2"}, "write it as “1 &gt; 2”"),
        ({"team_kind": "tree", "team_messages_a_step": "0"}, "0 is below 1."),
        *nightly(
            ({"team_kind": "each", **own(("7", "planner", {}))}, "No co-player can play for player 7."),
            ({"team_kind": "custom", "team_writes": "1 > 9"}, "There is no player 9: they are 1 to 4."),
        ),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_is_saved(
    client: Client, study: Study, changes: dict[str, str], why: str
) -> None:
    told = save(client, study, **changes)
    assert why in told and "eats [" not in told  # seats of the rules, which are no numbers of players
    assert stored(study) == {}


def test_a_condition_without_is_as_it_was_and_one_that_is_emptied_again_too(
    client: Client, study: Study
) -> None:
    assert save(client, study, team_kind="") == ""
    assert stored(study) == {}
    picture = team_picture(study.conditions.get())
    assert picture and not picture.edges and picture.sentences == ("Nobody may write to anybody.",)
    Condition.objects.update(organisation={"kind": "each"})
    assert save(client, study) == ""  # somebody who does not know these fields
    assert stored(study) == {"kind": "each"}
    assert save(client, study, team_kind="") == ""
    assert stored(study) == {}


SAID: list[dict[str, Any]] = [
    {},
    {"kind": "tree", "settings": {"sees": "all"}, "apart": True},
    {"kind": "each", "settings": {}, "people": [0, 2], "unfilled": "leave", "absent_steps": 0},
    {"kind": "central", "settings": {"talk": True, "spoken": True, "messages_a_step": 9}},
    {"kind": "tree", "settings": {"leaves_talk": False, "sees": "team"}, "leads": 1},
    {"kind": "pairwise", "settings": {"silence": 4}, "people": [2]},
    {
        "kind": "custom",
        "settings": {},
        "members": [
            {"seats": [1, 3], "coplayer": "dispatcher", "settings": {"persona": "A;\nb", "memory": 5}}
        ],
        "commands": [[0, 1]],
        "writes": [[1, 0], [0, 2]],
    },
]
"""Organisations as they are stored."""


@pytest.mark.parametrize("said", [*SAID, {**SAID[-1], "settings": {"sees": "all", "messages_a_step": 4}}])
def test_what_is_shown_is_read_as_the_same(said: dict[str, Any]) -> None:
    shown = team_initial(said)
    assert read_team(shown, lambda field, why: pytest.fail(f"{field}: {why}")) == said


def test_a_member_has_a_persona_of_its_own_of_several_lines(client: Client, study: Study) -> None:
    persona = 'Be calm; ask first.\n“Short” words, and say "yes".'
    row = own(("3", "dispatcher", {"persona": persona.replace("\n", "\r\n"), "memory": "3"}))
    assert save(client, study, team_kind="central", **row) == ""
    (member,) = stored(study)["members"]
    assert (member["settings"]["persona"], member["settings"]["memory"]) == (persona, 3)


def test_each_member_is_told_its_own_persona(client: Client, study: Study) -> None:
    rows = own(("2", "dispatcher", {"persona": "Be quick."}), ("3", "dispatcher", {"persona": "Be calm."}))
    assert save(client, study, team_kind="each", **rows) == ""
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
    assert picture.sentences[0].startswith("The participant, who controls no player, may command Follower")


def test_a_co_player_leads_and_has_no_robot(client: Client, study: Study) -> None:
    root = own(("0", "hourglass", {"model": "stand-in", "patience": "20"}))
    assert save(client, study, team_kind="custom", team_commands="★ > 1\n★ > 2", **root) == ""
    (member,) = stored(study)["members"]
    assert (member["seats"], stored(study)["commands"]) == ([], [[4, 0], [4, 1]])
    assert team_initial(stored(study), 4)["team_commands"] == ["★ > 1", "★ > 2"]
    page = client.get(reverse("study:staff-design-condition", args=[study.slug, study.conditions.get().pk]))
    html = page.content.decode()
    assert re.search(r'name="team_row_0_players" value="0"[^>]* checked', html) and "it leads" in html
    assert "Without a player, only Hourglass can lead." in html
    both = own(("0, 2", "hourglass", {"model": "stand-in"}))
    assert "plays for nobody else" in save(client, study, team_kind="tree", **both)
    assert "needs a seat" in save(client, study, team_kind="each", **root)


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
    assert "There is no player 9: they are 1 to 4." in save(client, study, team_kind="", team_people="1, 9")


def test_the_picture_tells_several_people_apart(client: Client, study: Study) -> None:
    save(client, study, team_kind="central", team_talk="on", team_people="1, 3")
    picture = team_picture(study.conditions.get())
    assert picture and picture.sentences[0] == (
        "Participant (player 1) may write to Planner (player 2, 4) and Participant (player 3)."
    )
    assert [node.who for node in picture.nodes].count("Participant") == 2


LEADER = {"members": [{"seats": [], "coplayer": "hourglass", "settings": {"model": "stand-in"}}]}


@pytest.mark.parametrize(
    ("organisation", "views"),
    [
        ({}, ["The participant sees what player 1 sees."]),
        (
            {"kind": "tree", "apart": True},
            [
                "The participant, who controls no player, sees only the goal, the time and what becomes of "
                "the jobs, gives jobs to players 1, 2 and 3, and can write to players 1, 2 and 3."
            ],
        ),
        (
            {"kind": "tree", "apart": True, "settings": {"sees": "team"}},
            [
                "The participant, who controls no player, sees what players 1, 2 and 3 see, gives jobs to "
                "players 1, 2 and 3, and can write to players 1, 2 and 3."
            ],
        ),
        (
            {"kind": "tree", "settings": {"leaves_talk": False}, **LEADER},
            [
                "The participant sees what player 1 sees, gets jobs from the leader (★), and can write to "
                "the leader (★)."
            ],
        ),
        (
            {"kind": "tree", "people": [0, 1], "settings": {"sees": "all", "leaves_talk": False}},
            [
                "Participant (player 1) sees what players 1, 2, 3 and 4 see, gives jobs to players 2, 3 and "
                "4, and can write to players 2, 3 and 4.",
                "Participant (player 2) sees what player 2 sees, gets jobs from player 1, and can write to "
                "player 1.",
            ],
        ),
    ],
)
def test_one_sentence_says_what_each_person_sees(
    client: Client, study: Study, organisation: dict[str, Any], views: list[str]
) -> None:
    apart = organisation.get("apart")
    study.conditions.update(
        organisation=organisation,
        teammates=3,
        coplayer="follower",
        step_seconds=3 if apart else None,
        settings=study.conditions.get().settings | {"level": "level_3"},
    )
    picture = team_picture(study.conditions.get())
    assert picture is not None and list(picture.views) == views
    page = client.get(reverse("study:staff-design-condition", args=[study.slug, study.conditions.get().pk]))
    assert all(f'<p class="team-view">{one}</p>' in page.content.decode() for one in views)


def test_arrows_for_commands_and_messages_between_two_members_stay_apart(study: Study) -> None:
    study.conditions.update(organisation={"kind": "tree"}, teammates=3, coplayer="follower")
    picture = team_picture(study.conditions.get())
    assert picture is not None
    heads = [(edge.x2, edge.y2) for edge in picture.edges]
    heads += [(edge.x1, edge.y1) for edge in picture.edges if edge.both]
    near = [(a, b) for a in heads for b in heads if a < b and hypot(a[0] - b[0], a[1] - b[1]) < 10]
    assert near == []


def shown(client: Client, study: Study, asked: str = "1", **changes: Any) -> str:
    """The form again, as it was sent, for what is chosen in it now."""
    url = reverse("study:staff-design-condition", args=[study.slug, study.conditions.get().pk])
    return client.post(url, sent(study, _show_settings=asked, **changes)).content.decode()


def to_see(html: str) -> set[str]:
    """The fields of the team that are to be seen, by what follows `team_`."""
    tags = re.findall(r"<(?:input|select|textarea)[^>]*>", html)
    there = [tag for tag in tags if 'type="hidden"' not in tag]
    return {found[1] for tag in there if (found := re.search(r'name="team_([a-z_]+)"', tag))}


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"team_kind": ""}, "kind people"),
        ({"team_kind": "solo"}, "kind people schedule"),
        ({"team_kind": "central", "team_schedule": "free"}, "kind people talk schedule think_steps stale"),
        (
            {"team_kind": "each", "team_talk": "on"},
            "kind people talk spoken messages_a_step unasked takes_step within schedule",
        ),
        ({"team_kind": "pair"}, "kind people spoken messages_a_step within rounds unasked"),
        (
            {"team_kind": "chain"},
            "kind people spoken messages_a_step within sees leads apart schedule unasked takes_step",
        ),
        (
            {"team_kind": "graph", "team_apart": "on", "team_within": "on"},
            "kind spoken messages_a_step within rounds sees apart schedule unasked cycle_limit",
        ),
        (
            {"team_kind": "custom", "team_people": "1, 2"},
            "kind people spoken messages_a_step within sees commands writes schedule unasked takes_step "
            "cycle_limit lobby_seconds pairs_by_trip unfilled absent_steps absent",
        ),
    ],
)
def test_only_what_belongs_to_the_organisation_is_to_be_seen(
    client: Client, study: Study, changes: dict[str, str], fields: str
) -> None:
    assert to_see(shown(client, study, **changes)) == set(fields.split())


def test_talk_within_the_step_is_stored_where_it_is_on_and_nowhere_else(client: Client, study: Study) -> None:
    assert save(client, study, team_kind="graph", team_rounds="7") == ""
    assert stored(study) == {"kind": "graph", "settings": {}}
    assert save(client, study, team_kind="graph", team_within="on", team_rounds="7") == ""
    assert stored(study) == {"kind": "graph", "settings": {"within": True, "rounds": 7}}


def test_members_may_think_in_real_time_or_for_a_number_of_steps(client: Client, study: Study) -> None:
    free = {"team_kind": "graph", "team_schedule": "free"}
    for typed, kept in (("real", "real"), ("4", 4)):
        assert save(client, study, **free, team_think_steps=typed) == ""
        assert stored(study)["settings"] == {"schedule": "free", "think_steps": kept}
    assert "is above 100" in save(client, study, **free, team_think_steps="101")
    assert "is not a whole number or real" in save(client, study, **free, team_think_steps="soon")
    save(client, study, **free, team_think_steps="real")
    (plan,) = blueprint_of(study).conditions
    details = next(pair.many for pair in team_pairs(plan) if pair.label == "Details")
    assert (
        "Steps that a member thinks before its decision takes effect: as long as it really thinks" in details
    )


def test_a_co_player_still_leads_after_an_organisation_without_a_leader_was_looked_at(
    client: Client, study: Study
) -> None:
    root = own(("0", "hourglass", {"model": "stand-in"}))
    led, ticked = 'name="team_row_0_led" value="1"', r'name="team_row_0_players" value="0"[^>]* checked'
    pair = shown(client, study, team_kind="pair", **root)
    assert led in pair and not re.search(ticked, pair)
    looked = {**root, "team_row_0_players": [], "team_row_0_led": "1"}
    assert led in shown(client, study, team_kind="pair", teammates="2", **looked), "it is kept for longer"
    tree = shown(client, study, team_kind="tree", team_apart="False", **looked)  # hidden boxes say False
    assert led not in tree and re.search(ticked, tree)
    assert "Choose at least one player" in save(client, study, team_kind="pair", **looked)


def test_the_page_is_shown_anew_when_a_schedule_is_chosen_that_makes_members_think(
    client: Client, study: Study
) -> None:
    together = shown(client, study, team_kind="tree", team_schedule="together")
    assert re.search(r'<select name="team_schedule"[^>]* class="decides"', together)
    late = ("team_think_steps", "team_stale")
    visible = [
        re.compile(rf'<(?:select|input type="text")[^>]* name="{name}"|<select name="{name}"')
        for name in late
    ]
    assert [bool(one.search(together)) for one in visible] == [False, False]
    free = shown(client, study, team_kind="tree", team_schedule="free", team_stale="drop")
    assert [bool(one.search(free)) for one in visible] == [True, True]


def test_what_was_filled_in_stays_while_another_organisation_is_looked_at(
    client: Client, study: Study
) -> None:
    html = shown(client, study, team_kind="pair", team_leads="3", team_leaves_talk="", team_rounds="7")
    for field, value in (("team_leads", "3"), ("team_leaves_talk", "False")):
        assert re.search(rf'type="hidden" name="{field}" value="{value}"', html)
    assert 'name="team_rounds" value="7"' in html
    fresh = shown(client, study, team_kind="tree", team_leaves_talk="True", _kept="team_leaves_talk")
    assert re.search(r'type="checkbox" name="team_leaves_talk"[^>]* checked', fresh)
    assert stored(study) == {}


def test_what_is_out_of_sight_and_means_nothing_is_nobodys_mistake(client: Client, study: Study) -> None:
    kept = ["team_messages_a_step", "team_apart", "team_members"]
    odd = {"team_messages_a_step": "many", "team_apart": "True", **own(("9", "planner", {"tries": "many"}))}
    assert save(client, study, team_kind="", _kept=kept, **odd) == ""
    assert stored(study) == {}


def test_a_row_comes_and_goes_and_another_kind_keeps_what_was_typed(client: Client, study: Study) -> None:
    html = shown(client, study, "add", team_kind="each", **own(("2", "planner", {"tries": "3"})))
    assert re.findall(r'name="team_row" value="(\d)"', html) == ["0", "1"]
    assert 'name="team_row_0__planner__tries" value="3"' in html
    assert 'id="id_team_row_1_players" tabindex="-1" autofocus' in html
    other = own(("2", "random", {})) | {"team_row_0__planner__tries": "3", "_shown": "team_row_0__planner"}
    tried = shown(client, study, team_kind="each", **other)
    assert re.search(r'type="hidden" name="team_row_0__planner__tries" value="3"', tried)
    two = own(("2", "planner", {}), ("3", "random", {}))
    left = shown(client, study, "drop 0", team_kind="each", **two)
    assert re.findall(r'name="team_row" value="(\d)"', left) == ["1"]
    assert "team_row_0" not in left and stored(study) == {}


def test_what_was_stored_of_a_row_is_stored_again_as_it_was(client: Client, study: Study) -> None:
    said = {
        "kind": "each",
        "settings": {},
        "members": [
            {"seats": [2], "coplayer": "planner", "settings": {"tries": 2}},
            {"seats": [1], "coplayer": "random", "settings": {}},
        ],
    }
    Condition.objects.update(organisation=said)
    rows = own(("3", "planner", {"tries": "2"}), ("2", "random", {}))
    assert save(client, study, team_kind="each", **rows) == "" and stored(study) == said


def test_a_new_condition_has_a_picture_of_what_is_chosen_before_it_is_saved(
    client: Client, study: Study
) -> None:
    new = reverse("study:staff-design-condition-new", args=[study.slug])
    assert client.get(new).context["no_team"] == ""  # the participant alone, until something is chosen
    filled = sent(study, key="", name="", team_kind="chain", _show_settings="1")
    page = client.post(new, filled).context
    assert [node.number for node in page["team"].nodes] == ["1", "2", "3", "4"]
    assert sum(edge.commands for edge in page["team"].edges) == 3
    assert "The picture has 4 members." in page["said"]
    form = client.post(new, filled | {"team_kind": "pair"})
    assert form.context["team"] is None
    assert "No picture yet: A pair is two, not 4.</p>" in form.content.decode()
    assert study.conditions.count() == 1


def test_the_design_says_how_many_agents_play_beside_a_leader_without_a_player(
    client: Client, study: Study
) -> None:
    design = reverse("study:staff-design", args=[study.slug])
    save(client, study, team_kind="tree", team_sees="all", step_seconds="3")
    assert "4: the participant&#x27;s and 3 teammates" in client.get(design).content.decode()
    save(client, study, team_kind="tree", team_apart="on", team_sees="all", step_seconds="3")
    words = "3: all are teammates; the participant leads and controls no player"
    assert words in client.get(design).content.decode()


def test_the_picture_says_which_player_is_which(client: Client, study: Study) -> None:
    row = own(("2, 4", "dispatcher", {"model": "stand-in"}))
    save(client, study, team_kind="tree", team_apart="on", team_sees="all", step_seconds="3", **row)
    picture = team_picture(study.conditions.get())
    assert picture is None  # three robots only, and none of them is the fourth
    row = own(("1, 3", "dispatcher", {"model": "stand-in"}))
    save(client, study, team_kind="tree", team_apart="on", team_sees="all", step_seconds="3", **row)
    picture = team_picture(study.conditions.get())
    assert picture and [(one.number, one.who, one.called, one.seat) for one in picture.players] == [
        ("1", "Dispatcher · stand-in", "Robot 1", 0),
        ("2", "Planner", "Robot 2", 1),
        ("3", "Dispatcher · stand-in", "Robot 3", 2),
        ("★", "Participant", "", 3),
    ]


def test_who_leads_without_a_place_is_a_star_in_pairs(client: Client, study: Study) -> None:
    chosen = {"team_kind": "custom", "team_apart": "on", "team_sees": "all", "step_seconds": "3"}
    assert save(client, study, team_commands="* > 1", team_writes="1 > ★", **chosen) == ""
    assert (stored(study)["commands"], stored(study)["writes"]) == ([[3, 0]], [[0, 3]])
    assert team_initial(stored(study), 3)["team_commands"] == ["★ > 1"]
    pair = own(("2, 3", "planner", {}))
    assert "2 and 3 are one co-player: call it 2." in save(
        client, study, team_kind="custom", team_writes="1 > 3", **pair
    )


def test_settings_of_a_co_player_stay_while_another_one_is_looked_at(client: Client, study: Study) -> None:
    away = shown(client, study, coplayer="random", coplayer__planner__tries="7", _shown="coplayer__planner")
    assert re.search(r'type="hidden" name="coplayer__planner__tries" value="7"', away)
    assert re.search(r'name="_shown" value="coplayer__planner"', away)


class Filled(HTMLParser):
    """What a browser sends of a form that nobody changed, without its buttons."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.sent: dict[str, list[str]] = {}
        self.inside = self.text = ""
        self.feed(html[html.index('class="card design-form"') :])

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attributes}
        if tag in {"select", "textarea"}:
            self.inside, self.text = has.get("name", ""), ""
        elif tag == "option" and "selected" in has:
            self.add(self.inside, has["value"])
        elif tag == "input" and (has.get("type") != "checkbox" or "checked" in has):
            self.add(has["name"], has.get("value", "on" if has.get("type") == "checkbox" else ""))

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self.add(self.inside, self.text.removeprefix("\n"))

    def add(self, name: str, value: str) -> None:
        self.sent.setdefault(name, []).append(value)


@pytest.mark.parametrize("said", [*nightly(*SAID[:2]), SAID[2], *nightly(*SAID[3:-1]), SAID[-1]])
def test_who_saves_the_form_as_it_is_changes_nothing(
    client: Client, study: Study, said: dict[str, Any]
) -> None:
    settings = {"level": "level_3"}
    Condition.objects.update(
        coplayer="planner", coplayer_settings={"tries": 3}, teammates=3, organisation=said, step_seconds=4
    )
    row = study.conditions.get()
    row.settings = {**row.settings, **settings}
    row.save()
    url = reverse("study:staff-design-condition", args=[study.slug, row.pk])
    sent_back = Filled(client.get(url).content.decode()).sent
    again = client.post(url, {**sent_back, "_show_settings": "1"}).content.decode()
    for filled in (sent_back, Filled(again).sent):
        response = client.post(url, filled)
        assert response.status_code == 302, response.context["form"].errors
        now = study.conditions.get()
        assert (now.organisation, now.coplayer_settings, now.settings) == (
            said,
            {"tries": 3},
            {**now.settings, **settings},
        )


@pytest.mark.parametrize("choices", [(("", "the usual one"), ("a", "A")), (("a", "A"), ("b", "B"))])
def test_a_choice_must_be_made_only_if_none_of_them_is_empty(choices: tuple[tuple[str, str], ...]) -> None:
    field = setting_field(Setting("task", "choice", "Task", choices[0][0], choices=choices))
    assert field.required == (choices[0][0] != "") and field.clean(choices[0][0]) == choices[0][0]


def test_an_error_begins_with_a_capital_letter_unless_a_key_of_a_file_comes_first() -> None:
    assert error_without_name("alpha: must be above 1") == "Must be above 1."
    assert (
        error_without_name("own_blueprint: levels[1][1]: 'q' is not known")
        == "levels[1][1]: 'q' is not known."
    )
    assert error_without_name("own_blueprint: not TOML: invalid value") == "Not TOML: invalid value."
