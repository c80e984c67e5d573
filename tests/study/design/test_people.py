"""Several people in a condition, or one in any seat: who plays beside them, and what if they are gone."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from kitchen.contract.world_errors import SettingsError
from kitchen.play.episode.absent_players import AbsencePolicy
from study.design.blueprint import ConditionPlan
from study.design.condition_seats import mind_plans, people_in, planned_absence, planned_organisation
from study.design.models import Condition, Study
from study.design.preregistration import model_of, prompts_of
from study.editor.form_fields import team_fields
from study.planning.study_cost_forecast import STANDS_IN, forecast_costs
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db


def team(teammates: int = 3, coplayer: str = "planner", **organisation: Any) -> Condition:
    return Condition(
        study=Study(slug="s"),
        key="team",
        name="Team",
        label="Team 9",
        settings={"level": "level_3"},
        coplayer=coplayer,
        teammates=teammates,
        organisation=organisation,
    )


def minds(condition: Condition, *people: int) -> list[tuple[int, ...]]:
    return [mind.seats for mind in mind_plans(condition, people or None)]


def test_where_nothing_is_said_one_person_sits_in_the_first_seat() -> None:
    assert people_in(team()) == (0,) and minds(team()) == [(1, 2, 3)]
    assert planned_absence(team()) is None


def test_co_players_have_the_seats_that_people_do_not() -> None:
    assert minds(team(people=[0, 2])) == [(1, 3)]
    assert minds(team(kind="each", people=[0, 1])) == [(2,), (3,)]
    assert minds(team(people=[2])) == [(0, 1, 3)]
    made = planned_organisation(team(people=[1, 2], settings={"talk": True}))
    assert made and [one.number for one in made.members if one.is_person] == [1, 2]
    team(people=[0, 2]).clean()
    team(people=[3]).clean()


def test_who_did_not_come_has_a_co_player_of_their_own() -> None:
    condition = team(people=[0, 1], settings={"talk": True})
    assert minds(condition, 0) == [(2, 3), (1,)]
    made = planned_organisation(condition, (0,))
    assert made and [one.seats for one in made.members if not one.is_person] == [(1,), (2, 3)]


def test_who_is_gone_is_replaced_by_the_conditions_co_player_unless_the_episode_is_to_end() -> None:
    assert planned_absence(team(people=[0, 1])) == AbsencePolicy(3, "planner", {})
    assert planned_absence(team(people=[0, 1], absent_steps=0)) == AbsencePolicy(None, "planner", {})
    assert planned_absence(team(people=[0, 1], absent="end")) == AbsencePolicy(3)


def test_people_alone_need_no_co_player_if_nobody_is_replaced() -> None:
    alone = {"people": [0, 1], "unfilled": "leave", "absent": "end"}
    team(1, "none", **alone).clean()
    assert mind_plans(team(1, "none", **alone)) == []
    with pytest.raises(ValidationError, match="people have all seats") as refused:
        team(1, "none", people=[0, 1]).clean()
    fields: dict[str, Any] = {**team_fields()}
    said = str(refused.value)
    for name, chosen in (("team_unfilled", "leave"), ("team_absent", "end")):
        assert fields[name].label in said and dict(fields[name].choices)[chosen] in said
    with pytest.raises(SettingsError, match="did not come"):
        minds(team(1, "none", **alone), 0)


PAID = {"model": "anthropic:claude-opus-4-8", "demonstration": "none"}


def test_a_model_that_may_stand_in_for_people_is_foretold_and_written_down() -> None:
    alone = team(1, "dispatcher", people=[0, 1], unfilled="leave")
    alone.coplayer_settings = dict(PAID)
    assert mind_plans(alone) == []
    plan = ConditionPlan.of(alone)
    assert model_of(plan) == PAID["model"] and prompts_of(plan)
    alone.organisation["absent"] = "end"
    plan = ConditionPlan.of(alone)
    assert model_of(plan) == "" and prompts_of(plan) == []


def test_who_play_together_share_what_their_episode_costs() -> None:
    study = make_study(conditions=1)
    rows = study.conditions
    rows.update(coplayer="dispatcher", coplayer_settings=PAID, teammates=1, organisation={"people": [0, 1]})
    told = forecast_costs(study)
    assert [(line.rests_on, line.expected) for line in told.lines] == [(STANDS_IN, 0.0)]
    assert told.ahead_worst > 0 and "nothing will be spent" not in told.verdict
    stays = {"people": [0, 1], "unfilled": "leave", "absent": "end"}
    rows.update(teammates=2, organisation={"kind": "each"})
    one = forecast_costs(study).lines[0]
    rows.update(organisation={"kind": "each", **stays})
    (two,) = forecast_costs(study).lines
    assert two.expected and one.expected and two.expected < 0.6 * one.expected


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"people": []}, "people"),
        ({"people": [0, 4]}, "people"),
        ({"people": [0, 0]}, "people"),
        ({"people": [0, 1], "lobby_seconds": 1}, "lobby_seconds"),
        ({"people": [0, 1], "absent_steps": -1}, "absent_steps"),
        ({"people": [0, 1], "unfilled": "dance"}, "unfilled"),
        ({"people": [0, 1], "absent": "leave"}, "absent"),
    ],
)
def test_what_cannot_be_is_refused_in_words(said: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError, match=field):
        team(**said).clean()
