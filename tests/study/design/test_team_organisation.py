"""A condition that says who plays and who may write to whom: in its documents, at play, in words."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from kitchen.contract.organisation import Organisation
from kitchen.play.models import Episode
from study.design.blueprint import Blueprint, ConditionPlan, blueprint_of
from study.design.condition_seats import mind_plans, planned_organisation
from study.design.models import Condition, Study
from study.design.preregistration import model_of, prompts_of
from study.design.sampled_model_calls import trial_of
from study.editor.describe_design import condition_pairs
from study.editor.form_fields import LEAD
from study.editor.team_diagram import team_picture
from study.participation.page_progress import finish_page
from study.planning.condition_prompt_preview import whole_prompt
from study.planning.study_cost_forecast import forecast_costs
from tests.study.factories import enter, make_study

pytestmark = pytest.mark.django_db

ROOT = {"seats": [], "coplayer": "hourglass", "settings": {"model": "stand-in"}}
DISPATCHER = {"model": "anthropic:claude-opus-4-8"}


def team(**organisation: Any) -> Condition:
    """A condition with three robots of a planner, and what is said of their organisation."""
    return Condition(
        study=Study(slug="s"),
        key="team",
        name="Team",
        label="Team 9",
        settings={"level": "level_3"},
        coplayer="planner",
        teammates=3,
        organisation=organisation,
    )


def minds(condition: Condition) -> list[tuple[str, tuple[int, ...]]]:
    return [(mind.kind, mind.seats) for mind in mind_plans(condition)]


def test_a_condition_that_says_nothing_is_as_conditions_always_were() -> None:
    assert minds(team()) == [("planner", (1, 2, 3))]
    assert planned_organisation(team()) is None


def test_one_co_player_for_some_robots_and_another_for_the_rest() -> None:
    own = [{"seats": [1, 2], "coplayer": "random"}]
    assert minds(team(members=own)) == [("random", (1, 2)), ("planner", (3,))]
    assert minds(team(kind="tree", members=own)) == [("random", (1, 2)), ("planner", (3,))]


def test_each_robot_has_a_co_player_of_its_own_where_they_are_members() -> None:
    condition = team(kind="each", settings={"talk": True})
    assert minds(condition) == [("planner", (1,)), ("planner", (2,)), ("planner", (3,))]
    made = planned_organisation(condition)
    assert made and made.writes == {(0, 1), (1, 0), (0, 2), (2, 0), (0, 3), (3, 0)}


def test_who_leads_is_the_root() -> None:
    made = planned_organisation(team(kind="tree", leads=2))
    assert made and made.commands == {(2, 0), (2, 1), (2, 3)}


@pytest.mark.parametrize(
    ("organisation", "why"),
    [
        ({"kind": "clan"}, "organisation: clan is not one of"),
        ({"clan": 1}, "clan: unknown key"),
        (
            {"members": [{"seats": [4], "coplayer": "random"}]},
            "seats [4] are not different seats of [1, 2, 3]",
        ),
        ({"members": [{"seats": [0], "coplayer": "random"}]}, "seats [0] are not different seats"),
        ({"members": [{"seats": [1, 1], "coplayer": "random"}]}, "seats [1, 1] are not"),
        ({"members": [{"seats": [], "coplayer": "random"}]}, "needs a seat"),
        ({"members": [{"seats": [1], "coplayer": "nobody"}]}, "nobody"),
        ({"members": [{"seats": [1], "coplayer": "planner", "settings": {"x": 1}}]}, "x: no such setting"),
        ({"kind": "each", "members": [{"seats": [1, 2], "coplayer": "random"}]}, "a member of its own"),
        ({"kind": "pair"}, "a pair is two, not 4"),
        ({"kind": "tree", "leads": 1, "members": [ROOT]}, "leads: a co-player that controls no player"),
        ({"kind": "tree", "members": [ROOT, ROOT]}, "only one member can lead without a player"),
        (
            {"kind": "tree", "members": [{"seats": [], "coplayer": "random"}]},
            "random cannot lead without a player",
        ),
        (
            {"kind": "tree", "members": [{"seats": [], "coplayer": "dispatcher"}]},
            "dispatcher cannot lead without a player. Give it a player, or choose hourglass",
        ),
        ({"kind": "tree", "leads": 9}, "nobody has the seat 9"),
        ({"kind": "custom", "writes": [[0, 9]]}, "writes: 0 to 9"),
        ({"kind": "custom", "writes": [[0]]}, "organisation: writes"),
        ({"kind": "tree", "apart": True}, "a leader who controls no player needs a step timer"),
        ({"kind": "tree", "apart": "yes"}, "organisation: apart"),
        ({"kind": "pair", "members": [], "settings": {"schedule": "free"}}, "pair"),
        ({"kind": "tree", "settings": {"think_steps": 4}}, "think_steps: it means nothing in tree"),
    ],
)
def test_what_cannot_be_played_is_refused_in_words(organisation: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError) as refused:
        team(**organisation).clean()
    assert why in " ".join(refused.value.messages)


def test_it_is_in_documents_of_today_and_in_the_episode() -> None:
    study = make_study()
    before = blueprint_of(study)
    said = {"kind": "tree", "settings": {"leaves_talk": False}, "leads": 0}
    study.conditions.filter(key="c0").update(coplayer="random", teammates=2, organisation=said)
    after = blueprint_of(study)
    assert Blueprint.from_json(after.to_json()) == after
    assert "organisation" not in after.in_format(4).to_json()["conditions"][0]
    assert after.beyond(4) and not before.beyond(4)
    study.conditions.exclude(key="c0").delete()
    finish_page(participant_id=enter(study).pk, page="guide")
    made = Organisation.from_json(Episode.objects.get().organisation or {})
    assert made.commands == {(0, 1), (0, 2)} and made.writes == {(0, 1), (0, 2), (1, 0), (2, 0)}


def test_it_is_told_in_words() -> None:
    said = {
        "kind": "tree",
        "leads": 1,
        "settings": {"sees": "team"},
        "members": [{"seats": [2], "coplayer": "random"}],
    }
    pairs = {pair.label: pair for pair in condition_pairs(ConditionPlan.of(team(**said)))}
    assert pairs["Organisation"].value == "A leader who may command all others"
    assert pairs["Leader"].value == "player 2"
    assert "player 3: Random" in pairs["Details"].many
    assert not any(pair.label == "Organisation" for pair in condition_pairs(ConditionPlan.of(team())))


def test_pairs_are_told_by_players_as_the_form_has_them() -> None:
    said = {"kind": "custom", "apart": True, "settings": {"sees": "all"}, "writes": [[0, 2]]}
    row = team(**said)
    row.organisation["commands"] = [[row.teammates, 1]]
    pairs = {pair.label: pair for pair in condition_pairs(ConditionPlan.of(row))}
    assert {"the participant to player 2 (commands)", "player 1 to player 3 (writes)"} <= {
        *pairs["Details"].many
    }


def test_the_participant_is_who_is_one_and_several_people_are_players() -> None:
    for people, leads, words in (([2], 2, "the participant"), ([2], 0, "player 1"), ([0, 1], 0, "player 1")):
        condition = ConditionPlan.of(team(kind="tree", leads=leads, people=people))
        assert {pair.label: pair.value for pair in condition_pairs(condition)}["Leader"] == words


def test_money_is_foretold_for_every_co_player_that_asks_a_model() -> None:
    study = make_study(conditions=1)
    own = [{"seats": [2], "coplayer": "dispatcher", "settings": DISPATCHER}]
    study.conditions.update(
        coplayer="dispatcher",
        coplayer_settings=DISPATCHER,
        teammates=3,
        organisation={"members": own},
    )
    lines = forecast_costs(study).lines
    assert len(lines) == 2 and all(line.model == "anthropic claude-opus-4-8" for line in lines)
    assert all(line.worst and line.worst > 0 for line in lines)
    assert model_of(blueprint_of(study).conditions[0]) == DISPATCHER["model"]
    plain = lines[0]
    study.conditions.update(organisation={"settings": {"talk": True}, "members": own})
    talking = forecast_costs(study).lines[0]
    assert (talking.expected or 0) > (plain.expected or 0) and (talking.worst or 0) > (plain.worst or 0)
    prompts = prompts_of(blueprint_of(study).conditions[0])
    assert len(prompts) == 2 and all("# Talking with people" in prompt for prompt in prompts)
    study.conditions.update(coplayer="planner", coplayer_settings={}, organisation={"members": own})
    assert [line.model for line in forecast_costs(study).lines] == ["anthropic claude-opus-4-8"]
    study.conditions.update(organisation={})
    assert [line.rests_on for line in forecast_costs(study).lines] == ["asks no language model"]


def test_a_participant_may_lead_without_a_robot() -> None:
    condition = team(kind="tree", apart=True)
    condition.step_seconds = 3
    assert minds(condition) == [("planner", (0,)), ("planner", (1,)), ("planner", (2,))]
    made = planned_organisation(condition)
    assert made and made.commands == {(3, 0), (3, 1), (3, 2)}
    assert (made.member(3).seats, made.member(3).is_person, made.member(3).name) == ((), True, "Lead")
    (remark,) = condition.remarks
    assert "knows about the world only what others write" in remark
    condition.organisation = {**condition.organisation, "settings": {"sees": "all"}}
    assert condition.remarks == ()
    condition.organisation = {**condition.organisation, "leads": 1}
    with pytest.raises(ValidationError, match="the participant is the leader"):
        condition.full_clean(exclude=["study"])
    pairs = {pair.label: pair.value for pair in condition_pairs(ConditionPlan.of(condition))}
    assert pairs["Leader"] == "the participant, who controls no player"
    assert pairs["Agents"].startswith("3: all are teammates")


def test_the_round_of_who_leads_is_played_from_beyond_the_last_seat() -> None:
    study = make_study(conditions=1)
    said = {"kind": "tree", "apart": True, "settings": {"sees": "all"}}
    study.conditions.update(coplayer="follower", teammates=2, organisation=said, step_seconds=1)
    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")
    seat = person.rounds.get().seat
    assert seat == 2
    (led,) = Episode.objects.get().seats.filter(mind=None)
    assert (led.number, led.acts, led.name) == (2, False, "Lead")
    assert [line.rests_on for line in forecast_costs(study).lines] == ["asks no language model"]
    assert prompts_of(blueprint_of(study).conditions[0]) == []


LED = {"kind": "tree", "settings": {"sees": "all"}, "members": [ROOT]}


def test_a_co_player_leads_without_a_robot() -> None:
    condition = team(**LED)
    condition.clean()
    assert minds(condition) == [("planner", (1,)), ("planner", (2,)), ("planner", (3,)), ("hourglass", ())]
    made = planned_organisation(condition)
    assert made and made.commands == {(4, seat) for seat in range(4)} and made.member(4).name == "Lead"
    assert not made.member(4).is_person
    pairs = {pair.label: pair for pair in condition_pairs(ConditionPlan.of(condition))}
    assert pairs["Leader"].value == "a co-player that controls no player"
    assert "a co-player that controls no player: Hourglass" in pairs["Details"].many
    picture = team_picture(condition)
    assert picture and (picture.nodes[0].number, picture.nodes[0].who) == (LEAD, "Hourglass")
    assert picture.sentences[0].startswith("Hourglass (player ★) may command the participant, Planner")
    assert picture.players[-1].number == LEAD and picture.players[-1].who == "Hourglass · stand-in"
    assert any("You may give jobs to Robot 1" in text for text in prompts_of(ConditionPlan.of(condition)))
    prompt = whole_prompt(condition, 3, 2)
    assert prompt.request and "You lead and do no work" in prompt.messages[0].text
    lead = mind_plans(condition)[3]
    assert trial_of(condition, lead).at_once == 1


def test_a_participant_is_led_by_a_co_player_without_a_robot() -> None:
    study = make_study()
    study.conditions.filter(key="c0").update(coplayer="follower", teammates=2, organisation=LED)
    study.conditions.exclude(key="c0").delete()
    finish_page(participant_id=enter(study).pk, page="guide")
    episode = Episode.objects.get()
    assert [(seat.number, seat.acts, seat.is_person) for seat in episode.seats.all()] == [
        *((0, True, True), (1, True, False), (2, True, False)),
        (3, False, False),
    ]
    made = Organisation.from_json(episode.organisation or {})
    assert made.commanders_of(0) == (3,) and made.seats_seen(3) == (0, 1, 2)
