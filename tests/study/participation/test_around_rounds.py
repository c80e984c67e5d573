"""What people see before and after a round, if its condition says so: card, result, and the last seconds."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from kitchen.contract.world import Command
from kitchen.play.episode.advance_episode import submit_commands
from kitchen.play.episode.create_episode import create_episode
from kitchen.play.models import Episode
from kitchen.play.turn.submitted_commands import SubmittedCommand
from study.design.blueprint import AROUND_ROUNDS, blueprint_of
from study.design.models import Study
from study.editor.describe_design import condition_pairs
from study.participants.models import PageVisit, Participant, Round
from study.participation.page_progress import finish_page
from study.participation.pages.ready_page import what_changes
from study.participation.round_results import best_result, own_share, star_total
from tests.kitchen.factories import make_episode
from tests.study.exports.rows import csv_rows
from tests.study.factories import enter, make_shared_study, make_study, play_out, play_round

pytestmark = pytest.mark.django_db


def begun(**fields: Any) -> Participant:
    """A participant before the first round of a study whose conditions have these fields."""
    study = make_study()
    study.conditions.update(**fields)
    person = enter(Study.objects.get(pk=study.pk))
    finish_page(participant_id=person.pk, page="guide")
    return person


def page(client: Client, person: Participant) -> str:
    return client.get(person.get_absolute_url()).content.decode()


def first_episode(person: Participant) -> Episode:
    found = person.rounds.get(position=1).episode
    assert found
    return found


def test_the_card_comes_before_the_game_and_once(client: Client) -> None:
    person = begun(ready_card=True)
    card = page(client, person)
    assert 'data-page="ready"' in card and "This is the first game that counts." in card
    assert 'class="cover"' in card, "the picture of the game"
    assert "It counts" not in card, "said once"
    assert "Robot 1" in card and "data-seconds" not in card, "nobody else waits"
    assert not first_episode(person).seats.exclude(page="").exists(), "no clock runs yet"
    client.post(person.get_absolute_url(), {"page": "ready"})
    game = page(client, person)
    assert 'data-page="play"' in game and "data-countdown" in game
    assert "The game starts in 3 seconds" in game, "for whoever does not see the numbers"
    for name in ("view-drawn", "menu-title"):
        assert f'class="skip-link" href="#{name}"' in game and f'id="{name}"' in game
    assert PageVisit.objects.get(page="ready").done_at is not None
    submit_commands(episode_id=first_episode(person).pk, step=1, commands=[SubmittedCommand(0, ("noop",))])
    assert "data-countdown" not in page(client, person), "only before the first step"


def test_without_the_setting_the_game_begins_at_once(client: Client) -> None:
    assert "data-countdown" not in (game := page(client, begun())) and 'data-page="play"' in game


def test_where_steps_have_a_time_limit_no_countdown_shortens_the_first(client: Client) -> None:
    person = begun(ready_card=True)
    Episode.objects.update(step_seconds=20)
    client.post(person.get_absolute_url(), {"page": "ready"})
    assert "data-countdown" not in (game := page(client, person)) and 'data-page="play"' in game


def test_the_card_says_what_has_changed_and_never_who_plays() -> None:
    study = make_shared_study()
    study.conditions.filter(key="c1").update(teammates=3, step_seconds=20, organisation={}, coplayer="random")
    before, now = blueprint_of(study).conditions
    told = what_changes(now, before)
    assert told == ["Another team.", "3 teammates instead of 2.", "20 s for each step."]
    other_name = before.model_copy(update={"label": "The same team elsewhere"})
    assert what_changes(other_name, before) == []
    alone = now.model_copy(update={"label": "Team Z", "teammates": 0})
    assert "Another team." not in map(str, what_changes(alone, before)), "who plays alone has none"
    swapped = now.model_copy(update={"organisation": {**now.organisation, "people": [1]}})
    assert what_changes(swapped, now) == [], "another role, the same teammate"
    assert what_changes(now, None) == what_changes(now, now) == []


def test_the_card_the_game_and_its_end_show_the_stars(client: Client) -> None:
    person = begun(ready_card=True, star_targets={"completed": [1, 2, 4]})
    card = page(client, person)
    assert "One star for 1, two for 2, three for 4 dishes served." in card and card.count('class="star"') == 3
    client.post(person.get_absolute_url(), {"page": "ready"})
    assert "One star for 1" not in (game := page(client, person))
    assert "0 of 3 stars. The next needs 1 dish served." in game
    played = first_episode(person)
    Episode.objects.filter(pk=played.pk).update(score={**played.score, "completed": 2})
    assert "2 of 3 stars. The third needs 4 dishes served." in (game := page(client, person))
    assert game.count("is-earned") == 2
    Episode.objects.filter(pk=played.pk).update(star_targets={"renamed": [1, 2, 4]})
    assert 'class="star"' not in page(client, person), "in a version without this metric"
    assert "css/stars.css" not in page(client, begun_elsewhere()), "a condition without targets"


def test_the_survey_shows_the_result_where_the_condition_says_so(client: Client) -> None:
    person = begun(end_card=True)
    play_out(first_episode(person))
    told = page(client, person)
    assert "end-card" in told and "best" not in told, "there is nothing to compare with yet"
    assert "actions of your team" not in told, "nobody shares with somebody who plays alone"
    other = begun_elsewhere()
    play_out(first_episode(other))
    assert "end-card" not in page(client, other)


def test_the_card_over_the_board_tells_the_result_and_the_survey_does_not_repeat_it(client: Client) -> None:
    person = begun(end_card=True)
    address = reverse("study:end-card", args=[person.key, 1])
    assert f'data-result="{address}" data-position="1"' in page(client, person)
    assert client.get(address).status_code == 404, "not during the game"
    play_round(person)
    address = reverse("study:end-card", args=[person.key, 2])
    second = person.rounds.get(position=2).episode
    assert second
    play_out(second)
    told = client.get(address).content.decode()
    assert "best" not in told and "highlight" not in told, "nothing was served in either round"
    assert "Next:" not in told, "no card would tell it"
    Episode.objects.filter(pk=second.pk).update(score={**second.score, "completed": 2})
    Episode.objects.update(settings=second.settings)
    assert "This is your best result so far." in client.get(address).content.decode()
    survey = f"{person.get_absolute_url()}?result="
    assert "end-card" not in client.get(f"{survey}2").content.decode()
    assert "end-card" in client.get(f"{survey}1").content.decode(), "of another round"
    other = begun_elsewhere()
    assert "data-result" not in page(client, other)
    play_out(first_episode(other))
    assert client.get(reverse("study:end-card", args=[other.key, 1])).status_code == 404
    assert client.get(reverse("study:end-card", args=["nobody", 1])).status_code == 404


def begun_elsewhere() -> Participant:
    person = enter(make_study("other"), "other")
    finish_page(participant_id=person.pk, page="guide")
    return person


def test_ones_share_is_that_of_all_actions_but_waiting() -> None:
    episode = make_episode(seats=2)
    told: list[tuple[Command, Command]] = [
        (("goto", "storage0"), ("noop",)),
        (("noop",), ("goto", "storage0")),
        (("goto", "servingtable0"), ("goto", "servingtable0")),
    ]
    for step, commands in enumerate(told, start=1):
        given = [SubmittedCommand(seat, command) for seat, command in enumerate(commands)]
        assert submit_commands(episode_id=episode.pk, step=step, commands=given).accepted
    share = own_share(Episode.objects.get(pk=episode.pk), 0)
    assert share and (share.own, share.team, share.percent) == (2, 4, 50)
    assert own_share(make_episode(seats=1), 0) is None


def test_waiting_for_the_other_cook_does_not_raise_ones_share() -> None:
    episode = create_episode(world="collab_overcooked", settings={"task": "boiled_egg"}, seats=2, seed=0)
    fetch, wait = ("pickup", "egg", "ingredient_dispenser"), ("wait", "1")
    given = [SubmittedCommand(seat, command) for seat, command in enumerate((wait, fetch))]
    assert submit_commands(episode_id=episode.pk, step=1, commands=given).accepted
    assert own_share(Episode.objects.get(pk=episode.pk), 0) is None, "no reproach to who did nothing"


def test_the_best_result_is_that_of_the_rounds_so_far() -> None:
    person = begun(end_card=True)
    play_round(person)
    play_round(person)
    rounds = list(person.rounds.select_related("episode"))
    for scores, number, is_this in (((4, 2), "4", False), ((2, 4), "4", True)):
        for one, served in zip(rounds, scores, strict=True):
            assert one.episode
            one.episode.score = {**one.episode.score, "completed": served}
            one.episode.settings = {}
        best = best_result(rounds, rounds[1])
        assert best and (best.number, best.is_this) == (number, is_this)
        assert best_result(rounds, rounds[0]) is None
        assert rounds[1].episode
        rounds[1].episode.settings = {"level": "another"}
        assert best_result(rounds, rounds[1]) is None, "games with other rules are not compared"


def test_the_stars_of_all_games_are_added_up_and_earn_a_medal_at_the_end() -> None:
    def played(*served: int) -> list[Round]:
        targets = {"completed": [1, 2, 3]}
        return [
            Round(
                position=number,
                episode=Episode(world="cuisine", star_targets=targets, score={"completed": n}),
            )
            for number, n in enumerate(served, start=1)
        ]

    rounds = played(3, 1, 2)
    first, second, last = (star_total(rounds, one) for one in rounds)
    assert first is None, "the game shows its own stars"
    assert second and (second.earned, second.possible, second.medal) == (4, 6, ""), "a game follows"
    assert last and last.pictures == ("★★★", "★☆☆", "★★☆")
    medals = [star_total(found := played(*one), found[-1]) for one in ((3, 3), (2, 2), (1, 2), (1, 1))]
    assert [one and one.medal for one in medals] == ["gold", "silver", "bronze", ""]
    assert last.medal == "silver"
    rounds[0].episode = Episode(world="cuisine", score={})
    assert (only := star_total(rounds, rounds[2])) and only.games == (1, 2), "a game without targets"


def test_the_last_seconds_are_shown_from_the_log_while_they_are_rated(client: Client) -> None:
    person = begun(rating_replay=True)
    address = reverse("study:last-seconds", args=[person.key])
    assert client.get(address)["Location"] == person.get_absolute_url(), "not during the game"
    play_out(first_episode(person))
    survey = page(client, person)
    assert f'data-last-seconds="{address}"' in survey and "See the last 3 steps again" in survey
    shown = client.get(address)
    html = shown.content.decode()
    assert shown.status_code == 200 and html.count("<template data-picture>") == 3
    assert " pose-stand" in html and "css/character_images" in html, "people are seen, too"
    assert shown["X-Frame-Options"] == "SAMEORIGIN"
    assert "frame-ancestors 'self'" in shown["Content-Security-Policy"]
    assert "js/survey.js" not in html, "which would forget answers that are not sent yet"
    assert client.get(reverse("study:last-seconds", args=["nobody"])).status_code == 404


def test_the_settings_are_in_documents_and_in_the_data() -> None:
    plain = blueprint_of(make_study("plain")).to_json()
    assert not set(AROUND_ROUNDS) & set(plain["conditions"][0])
    study = make_study()
    study.conditions.filter(key="c1").update(**dict.fromkeys(AROUND_ROUNDS, True))
    design = blueprint_of(study)
    assert all(design.to_json()["conditions"][1][name] is True for name in AROUND_ROUNDS)
    assert design.beyond(11) and not blueprint_of(Study.objects.get(slug="plain")).beyond(11)
    said = dict(pair[:2] for pair in condition_pairs(design.condition("c1")))
    assert said["Show a card before the round"] == "yes"
    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")
    for _ in range(2):
        play_round(person)
    told = {row["condition"]: [row[name] for name in AROUND_ROUNDS] for row in csv_rows(study, "episodes")}
    assert told == {"c0": ["0"] * len(AROUND_ROUNDS), "c1": ["1"] * len(AROUND_ROUNDS)}
