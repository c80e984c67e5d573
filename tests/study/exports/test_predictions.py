"""predictions.csv: what a co-player foresaw of a person, and whether they did it."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from kitchen.play.coplayers import agent_decisions
from kitchen.play.episode.advance_episode import submit_commands
from kitchen.play.models import Decision, Episode
from kitchen.play.turn.submitted_commands import SubmittedCommand
from kitchen.registry.world_registry import get_world
from kitchen.worlds.cuisine.skills import parts_of_item
from study.analysis.analysis_measures import measures_of
from study.analysis.analysis_sample import Sample, measured_items, observations
from study.design.blueprint import blueprint_of
from study.design.metric_and_scale_names import comparison_metrics
from study.design.models import Condition, Study
from study.design.naming_rules import item_key_problem
from study.exports.export_registry import get_table
from study.participants.models import Participant
from study.participation.page_progress import finish_page
from tests.study.exports.rows import rows_of
from tests.study.factories import SETTINGS, enter, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


def test_a_wrong_prediction_stands_with_what_was_done_instead() -> None:
    study = make_study(conditions=1)
    Condition.objects.update(
        settings={**SETTINGS, "level": "level_3", "max_steps": 6},
        coplayer="proagent",
        coplayer_settings={"model": "stand-in", "level": "aip"},
        teammates=1,
    )
    participant = enter(study, "one")
    finish_page(participant_id=participant.pk, page="guide")
    episode = Episode.objects.get(rounds__participant=participant)

    def step(number: int, *command: str) -> None:
        submit_commands(episode_id=episode.pk, step=number, commands=[SubmittedCommand(0, command)])
        agent_decisions.decide_step(episode_id=episode.pk, step=number)

    step(1, "goto", "storage0")
    note = Decision.objects.get().note
    assert note
    dish = note["foreseen"][0]["said"][1]
    brief = get_world("cuisine").create(seats=2, settings=episode.settings).brief(0)
    other = next(item for item in brief["base"] if item not in parts_of_item(brief, dish))
    step(2, "get", "storage0", other)
    step(3, "noop")

    table = get_table("predictions")
    names = [column.name for column in table.columns]
    wanted = ["step", "mind", "seat", "of_seat", "foreseen", "done", "done_step", "right"]
    rows = [[row[names.index(name)] for name in wanted] for row in rows_of(table, study)]
    assert rows[0] == [1, 0, 1, 0, f"serve({dish})", f"fetch({other})", 2, False]
    assert rows[-1][-1] is None or rows[-1][-1] is False
    episodes = get_table("episodes")
    columns = [column.name for column in episodes.columns_of(study)]
    told = dict(zip(columns, next(iter(rows_of(episodes, study))), strict=True))
    judged = sum(row[-1] is not None for row in rows)
    assert (told["predictions_judged"], told["predictions_right"], told["predictions_share"]) == (
        judged,
        0,
        0,
    )
    assert f"Share of right predictions 0 % (0 of {judged})" in _shown_to_staff(participant)
    assert _measured(study) == _wide(study, participant) == 0.0


def _shown_to_staff(participant: Participant) -> str:
    """The page of somebody, as staff see it."""
    client = Client()
    client.force_login(get_user_model().objects.create_superuser("owner"))
    at = [participant.study.slug, participant.code]
    return client.get(reverse("study:staff-participants-one", args=at)).content.decode()


def _measured(study: Study) -> float | None:
    """What the analysis takes, where the participant has come to the end."""
    Participant.objects.update(status=Participant.Status.COMPLETE)
    Episode.objects.update(status=Episode.Status.OVER)
    sample = Sample(study, who="all")
    scales = measured_items(sample)
    assert "Share of right predictions" in [one.label for one in measures_of(scales)]
    (found,) = [one.value for one in observations(sample, scales) if one.measure == "predictions_share"]
    return found


def _wide(study: Study, participant: Participant) -> object:
    """What their row has."""
    table = get_table("participants")
    columns = [column.name for column in table.columns_of(study)]
    (row,) = rows_of(table, study)
    return row[columns.index(f"{study.conditions.get().key}.predictions_share")]


def test_a_study_without_such_a_co_player_measures_no_predictions() -> None:
    study = make_study(conditions=1)
    enter(study, "one")
    assert "predictions_share" not in measured_items(Sample(study, who="all")).of_play
    columns = [column.name for column in get_table("participants").columns_of(study)]
    assert not any("predictions" in name for name in columns)
    assert "already" in item_key_problem("predictions_share")
    assert not any("say" in where for where, _ in comparison_metrics(blueprint_of(study)))
