"""The lobby: who plays with whom, in which order, and what if somebody does not come."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from kitchen.money.models import Budget
from kitchen.play.episode.advance_episode import leave_seat, submit_commands
from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.models import Episode
from kitchen.play.turn.submitted_commands import SubmittedCommand
from study.design.models import Study
from study.design.readiness_checks import readiness_problems
from study.exports.export_registry import get_table
from study.participants.end_and_erase_participation import participant_end, participant_withdraw
from study.participants.models import AWAY_SECONDS, Group, GroupMember, PageVisit, Participant
from study.participants.next_page import current_page
from study.participation.group_lobby import LobbyState, look_at_lobby
from study.participation.idle_timeout import last_action
from study.participation.page_progress import answers_submit, finish_page
from study.pilot.previews import condition_preview
from study.pilot.synthetic.synthetic_participants import synthetic_erase
from tests.study.exports.rows import rows_of
from tests.study.factories import enter, make_shared_study, make_study
from tests.study.participants.test_withdrawal_during_a_step import InThread

pytestmark = pytest.mark.django_db


def shared(*, conditions: int = 2, people: int = 2, step_seconds: float | None = None, **team: Any) -> Study:
    """A study in which so many people play with one planner in each condition."""
    return make_shared_study(conditions=conditions, people=people, step_seconds=step_seconds, **team)


def come(study: Study, name: str) -> Participant:
    """Somebody at the door of the lobby."""
    person = enter(study, name)
    finish_page(participant_id=person.pk, page="guide")
    return person


def look(person: Participant) -> LobbyState | None:
    return look_at_lobby(participant_id=person.pk)


def stands(person: Participant) -> tuple[int, int, int, bool]:
    waiting = look(person)
    assert waiting
    return waiting.present, waiting.awaited, 10 * round(waiting.seconds_left / 10), waiting.leaves


def page(person: Participant) -> str:
    return current_page(Participant.objects.get(pk=person.pk)).page


def orders(person: Participant) -> list[str]:
    return list(person.rounds.order_by("position").values_list("condition__key", flat=True))


def episode_of(person: Participant, position: int = 1) -> Episode | None:
    return person.rounds.get(position=position).episode


def time_passes(seconds: float) -> None:
    """For everybody who waits, and since games were over; their pages are heard of all the while."""
    Episode.objects.exclude(ended_at=None).update(ended_at=F("ended_at") - timedelta(seconds=seconds))
    for member in GroupMember.objects.all():
        member.came_at -= timedelta(seconds=seconds)
        member.save()


@pytest.fixture
def both() -> Iterator[tuple[Participant, Participant]]:
    """Two people who play together."""
    study = shared()
    one, other = come(study, "one"), come(study, "other")
    assert stands(one) == (1, 2, 300, False)
    assert look(other) is None
    yield one, other


@pytest.mark.usefixtures("both")
def test_when_all_have_come_one_episode_opens_for_all(both: tuple[Participant, Participant]) -> None:
    episode = episode_of(both[0])
    assert episode and episode_of(both[1]) == episode and page(both[0]) == page(both[1]) == "play"
    seats = [one.rounds.get(position=1).seat for one in both]
    assert seats == [0, 1] and episode.seats.filter(mind=None).count() == 2
    assert episode.absence == {"steps": 3, "kind": "planner", "settings": {}}
    assert not PageVisit.objects.filter(page="lobby", done_at=None).exists()
    assert look(both[0]) is None


def test_they_share_one_order_from_there_on_and_its_sequence_is_counted_for_both() -> None:
    study = shared(conditions=3)
    one, other = come(study, "one"), come(study, "other")
    assert orders(one) != orders(other)
    look(one), look(other)
    assert orders(one) == orders(other)
    assert len(set(Participant.objects.values_list("sequence", flat=True))) == 1


def test_groups_are_balanced_over_sequences() -> None:
    study = shared(conditions=2)
    for number in range(8):
        look(come(study, f"p{number}"))
    held = list(Participant.objects.values_list("sequence", flat=True))
    assert {held.count(each) for each in set(held)} == {4} and Group.objects.count() == 4


def test_members_of_a_group_have_the_same_conditions_left() -> None:
    study = shared(conditions=2)
    one = come(study, "one")
    look(one)
    synthetic = enter(study, "program", synthetic=True)
    finish_page(participant_id=synthetic.pk, page="guide")
    assert stands(synthetic) == (1, 2, 300, False)
    spanish = come(study, "spanish")
    Participant.objects.filter(pk=spanish.pk).update(language="es")
    assert look(spanish) and Group.objects.count() == 3


def test_after_the_time_a_co_player_takes_the_place_of_a_missing_person() -> None:
    study = shared(people=3)
    one, other = come(study, "one"), come(study, "other")
    look(one), look(other)
    time_passes(301)
    assert look(other) is None
    episode = episode_of(one)
    assert episode and episode == episode_of(other)
    assert episode.seats.filter(mind=None).count() == 2 and episode.minds.count() == 2
    by_seat = dict(episode.seats.exclude(mind=None).values_list("number", "mind__number"))
    assert by_seat == {2: 1, 3: 0}  # the usual co-player has its number whoever comes
    view = current_seat_view(episode.seats.get(number=0))
    assert view.taken_over == ((2, 1, "never"),)  # and the page says so
    late = come(study, "late")
    assert look(late) and Group.objects.count() == 2


def test_after_the_time_those_who_came_may_leave_and_are_paid() -> None:
    one = come(shared(unfilled="leave"), "one")
    assert stands(one) == (1, 2, 300, True)
    time_passes(301)
    assert look(one) is None
    one.refresh_from_db()
    assert (one.status, one.given_code) == ("unmatched", one.completion_code)
    html = Client().get(f"/p/{one.key}/").content.decode()
    assert "Nobody came to play with you" in html and one.completion_code in html


def test_nobody_waits_for_a_person_who_left_the_lobby_and_may_return() -> None:
    study = shared()
    one, other = come(study, "one"), come(study, "other")
    look(one)
    GroupMember.objects.update(seen_at=timezone.now() - AWAY_SECONDS)
    assert stands(other) == (1, 2, 300, False)
    assert look(one) is None and episode_of(one) == episode_of(other)


def test_closing_the_page_leaves_the_lobby_at_once_unless_it_was_reloaded() -> None:
    study = shared()
    one, other = come(study, "one"), come(study, "other")
    client, lobby = Client(), f"/p/{one.key}/lobby/"
    client.get(f"/p/{one.key}/")
    client.get(f"/p/{one.key}/")
    client.post(lobby, {"gone": "1"})  # of the page as it was before it was loaded again
    assert GroupMember.objects.get().seen_at > timezone.now() - AWAY_SECONDS
    client.post(lobby, {"gone": "2"})
    assert look(other) and not episode_of(one)


def finish(*people: Participant, position: int = 1) -> None:
    """Play a round together to its end, and answer."""
    episode = episode_of(people[0], position)
    assert episode
    while Episode.objects.get(pk=episode.pk).status == Episode.Status.PLAYING:
        step = Episode.objects.get(pk=episode.pk).step + 1
        given = [SubmittedCommand(seat, ("noop",)) for seat in range(3)]
        submit_commands(episode_id=episode.pk, step=step, commands=given)
    for person in people:
        answer(person, position)


def answer(person: Participant, position: int = 1) -> None:
    values = dict.fromkeys(("i0", "i1"), 3)
    assert answers_submit(participant_id=person.pk, page="survey", position=position, values=values)


def test_a_group_stays_together_and_waits_for_its_own(both: tuple[Participant, Participant]) -> None:
    one, other = both
    finish(one, other)
    assert page(one) == "lobby"
    assert stands(one) == (1, 2, 300, False)
    assert look(come(one.study, "third")) and episode_of(one, 2) is None
    assert look(other) is None and episode_of(one, 2) == episode_of(other, 2)


def test_a_member_who_is_late_for_a_later_round_plays_it_without_the_others(
    both: tuple[Participant, Participant],
) -> None:
    one, other = both
    finish(one, other)
    look(one)
    time_passes(301)
    assert look(one) is None and look(other) is None
    alone = episode_of(other, 2)
    assert alone and alone != episode_of(one, 2) and alone.seats.filter(mind=None).get().number == 1
    assert alone.seed == episode_of(one, 2).seed and alone.absence is None  # type: ignore[union-attr]


def test_nobody_waits_for_a_member_who_has_left(both: tuple[Participant, Participant]) -> None:
    one, other = both
    finish(one, other)
    participant_withdraw(participant_id=other.pk)
    assert look(one) is None and page(one) == "play"
    assert Episode.objects.filter(rounds__participant=one).count() == 2  # the first is still theirs


def test_a_person_who_leaves_during_a_game_is_replaced_and_only_their_data_are_erased(
    both: tuple[Participant, Participant],
) -> None:
    one, other = both
    told = Client().get(f"/p/{other.key}/withdraw/").content.decode()
    assert "every step of the games that no other person played with you" in told
    assert "games that others played with you, because they belong to them too" in told
    participant_withdraw(participant_id=other.pk)
    episode = episode_of(one)
    assert episode and episode.status == "playing"
    assert episode.gone == {"1": {"step": 1, "why": "left", "said": 0}}
    assert page(one) == "play"


def test_a_timed_out_person_is_replaced_and_the_episode_goes_on(
    both: tuple[Participant, Participant],
) -> None:
    one, other = both
    participant_end(participant_id=other.pk, status=Participant.Status.TIMED_OUT)
    episode = episode_of(one)
    assert episode and episode.status == "playing" and (episode.gone or {}).keys() == {"1"}
    participant_end(participant_id=one.pk, status=Participant.Status.TIMED_OUT)
    assert Episode.objects.get(pk=episode.pk).status == "abandoned"


def test_a_replaced_person_continues_with_the_survey_while_the_others_play(
    both: tuple[Participant, Participant],
) -> None:
    one, other = both
    for person in both:
        Client().get(f"/p/{person.key}/")
    episode = episode_of(one)
    assert (
        episode
        and not leave_seat(episode_id=episode.pk, seat=2)
        and leave_seat(episode_id=episode.pk, seat=1)
    )
    assert (page(one), page(other)) == ("play", "survey")
    html = Client().get(f"/p/{other.key}/").content.decode()
    assert "You were away, so the others went on without you." in html
    answer(other)
    assert page(other) == "lobby"
    Episode.objects.update(status=Episode.Status.OVER, ended_at=timezone.now())
    for person in both:
        Client().get(f"/p/{person.key}/")
    played = PageVisit.objects.filter(page="play", done_at=None)
    assert [visit.participant_id for visit in played] == [other.pk]  # was not done with it


@pytest.mark.parametrize("unfilled", ["coplayer", "leave"])
def test_a_replaced_person_waits_for_the_others_and_meets_them_in_the_next_round(unfilled: str) -> None:
    study = shared(unfilled=unfilled)
    one, other = come(study, "one"), come(study, "other")
    look(one), look(other)
    episode = episode_of(one)
    assert episode and leave_seat(episode_id=episode.pk, seat=0)
    answer(one)
    assert stands(one)[:3] == (1, 2, 300)
    time_passes(301)
    assert stands(one)[:3] == (1, 2, 300)  # the other still plays
    assert "Somebody in your group is still playing." in Client().get(f"/p/{one.key}/").content.decode()
    Episode.objects.update(status=Episode.Status.OVER, ended_at=timezone.now() - timedelta(seconds=100))
    assert stands(one)[:3] == (1, 2, 200)
    answer(other)
    assert look(other) is None and page(one) == page(other) == "play"
    assert episode_of(one, 2) == episode_of(other, 2) != episode


def test_an_ended_participant_keeps_no_place_in_a_forming_group() -> None:
    study = shared()
    one, other, third = (come(study, name) for name in ("one", "other", "third"))
    look(one)
    participant_end(participant_id=one.pk, status=Participant.Status.UNMATCHED)
    assert look(other) and look(third) is None
    assert Group.objects.count() == 1 and episode_of(other) == episode_of(third)


def test_a_person_who_lost_their_place_meanwhile_joins_once_more() -> None:
    one = come(shared(), "one")
    look(one)
    member = GroupMember.objects.get()
    lost: list[object] = []

    def taken_for_gone(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if not lost and sql.startswith("SELECT") and 'FROM "study_group" ' in sql:
            lost.append(GroupMember.objects.all().delete())
        return execute(sql, params, many, context)

    with connection.execute_wrapper(taken_for_gone):
        assert look(one)
    assert lost and GroupMember.objects.get().pk == member.pk  # what was done in that try is undone


def test_the_budget_is_there_before_the_group_is_taken() -> None:
    one = come(shared(people=2), "one")
    with CaptureQueriesContext(connection) as asked:
        look(one)
    begun = [query["sql"] for query in asked]
    made = next(n for n, sql in enumerate(begun) if sql.startswith(f'INSERT INTO "{Budget._meta.db_table}"'))
    assert made < next(n for n, sql in enumerate(begun) if 'FROM "study_group"' in sql)


def test_programs_that_are_erased_leave_no_group() -> None:
    study = shared()
    for name in ("one", "other", "third"):
        program = enter(study, name, synthetic=True)
        finish_page(participant_id=program.pk, page="guide")
        look(program)
    assert Group.objects.count() == 2 and synthetic_erase(study_id=study.pk) == 3
    assert not Group.objects.exists() and not Episode.objects.exists()


def test_no_page_says_who_plays_with_the_participant(both: tuple[Participant, Participant]) -> None:
    one, other = both
    html = Client().get(f"/p/{one.key}/").content.decode()
    episode = episode_of(one)
    assert episode and one.key in html
    secrets = (other.key, other.code, other.guest_key, episode.seats.get(number=1).key)
    assert not any(secret in html for secret in secrets)


def test_a_member_without_a_seat_in_a_smaller_team_plays_without_the_others() -> None:
    study = shared(conditions=2, people=3)
    study.conditions.filter(key="c1").update(organisation={"people": [0, 1]})
    study.orders = "fixed"
    study.save()
    people = [come(study, name) for name in ("one", "two", "three")]
    assert [look(person) is None for person in people] == [False, False, True]
    first = episode_of(people[0])
    assert first and first.seats.filter(mind=None).count() == 3
    Episode.objects.update(status=Episode.Status.OVER)
    for person in people:
        answer(person)
    assert look(people[2]) is None and episode_of(people[2], 2) is not None
    alone = episode_of(people[2], 2)
    assert alone and alone.seats.filter(mind=None).get().number == 0


def test_staff_who_try_it_out_wait_for_nobody() -> None:
    study = shared()
    person = condition_preview(condition=study.conditions.first())  # type: ignore[arg-type]
    assert page(person) == "lobby" and look(person) is None and page(person) == "play"


def test_a_preview_of_a_condition_of_people_has_random_players() -> None:
    study = shared(unfilled="leave", absent="end")
    study.conditions.update(teammates=1, coplayer="none")
    person = condition_preview(condition=study.conditions.first())  # type: ignore[arg-type]
    assert look(person) is None and page(person) == "play"
    episode = episode_of(person)
    assert episode and [mind.kind for mind in episode.minds.all()] == ["random"]


def test_a_person_in_another_seat_needs_no_lobby() -> None:
    study = make_study(conditions=1)
    study.conditions.update(teammates=2, coplayer="planner", organisation={"people": [2]})
    person = come(study, "one")
    assert page(person) == "play" and person.rounds.get().seat == 2
    html = Client().get(f"/p/{person.key}/").content.decode()
    assert 'data-page="play"' in html or "ws-connect" in html


def test_the_page_says_how_many_are_missing_and_the_script_learns_of_the_start() -> None:
    study = shared()
    one, other = come(study, "one"), come(study, "other")
    client = Client()
    html = client.get(f"/p/{one.key}/").content.decode()
    assert (
        "1 of 2 people has arrived. Waiting for 1 more person." in html and "At most 5 more minutes." in html
    )
    told = client.post(f"/p/{one.key}/lobby/").json()
    assert told["on"] is False and told["come"].startswith("1 of 2")
    assert Client().get(f"/p/{other.key}/").status_code == 302
    assert client.post(f"/p/{one.key}/lobby/").json() == {"on": True}
    assert client.post("/p/nobody/lobby/").status_code == 404


@pytest.mark.servers
@pytest.mark.django_db(transaction=True)
def test_two_people_who_come_at_once_form_one_group() -> None:
    study = shared()
    people = [come(study, name) for name in ("one", "other")]
    together = threading.Barrier(2)

    def enter_lobby(person: Participant) -> None:
        together.wait(10)
        look_at_lobby(participant_id=person.pk)

    busy = [InThread(partial(enter_lobby, person)) for person in people]
    for one in busy:
        one.finish()
    assert Group.objects.count() == 1
    assert sorted(GroupMember.objects.values_list("place", flat=True)) == [0, 1]
    for person in people:
        look(person)
    assert Episode.objects.filter(rounds__participant__in=people).distinct().count() == 1


@pytest.mark.servers
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("ahead", [None, "leaves", "comes"])
def test_nobody_waits_for_a_person_who_leaves_while_the_episode_opens(ahead: str | None) -> None:
    study = shared()
    one, other = come(study, "one"), come(study, "other")
    look(one)
    acts: dict[str, Callable[[], object]] = {
        "leaves": partial(participant_withdraw, participant_id=one.pk),
        "comes": partial(look_at_lobby, participant_id=other.pk),
    }
    if ahead:
        acts.pop(ahead)()
    together = threading.Barrier(len(acts))

    def at_once(act: Callable[[], object]) -> None:
        together.wait(10)
        act()

    for each in [InThread(partial(at_once, act)) for act in acts.values()]:
        each.finish()
    episode = episode_of(other)
    assert ahead is None or (episode is not None) == (ahead == "comes")
    assert page(other) == ("play" if episode else "lobby")
    if episode:  # it was open before the other left, who is replaced, then
        assert (episode.gone or {}).keys() == {"0"} and episode.seats.filter(mind=None).count() == 1
    else:
        assert GroupMember.objects.get().participant_id == other.pk


def test_the_data_say_who_played_together_and_from_which_step_somebody_was_replaced(
    both: tuple[Participant, Participant],
) -> None:
    participant_end(participant_id=both[1].pk, status=Participant.Status.TIMED_OUT)
    table = get_table("episodes")
    names = [column.name for column in table.columns_of(both[0].study)]
    found = [dict(zip(names, row, strict=True)) for row in rows_of(table, both[0].study)]
    columns = ("seat", "people", "group", "given_up_step", "given_up_because", "without_people")
    rows = [[row[name] for name in columns] for row in found if row["order_position"] == 1]
    assert rows == [[0, 2, 1, None, None, "1:1:left"], [1, 2, 1, 1, "left", "1:1:left"]]


def test_actions_of_others_are_no_action_of_the_participant(both: tuple[Participant, Participant]) -> None:
    Participant.objects.update(active_at=timezone.now() - timedelta(minutes=9))
    episode = episode_of(both[0])
    assert episode
    submit_commands(episode_id=episode.pk, step=1, commands=[SubmittedCommand(0, ("noop",))])
    seen = [last_action(Participant.objects.get(pk=person.pk)) for person in both]
    assert seen[0] - seen[1] > timedelta(minutes=8)


def test_settings_that_keep_people_apart_are_reported_before_launch() -> None:
    study = shared(conditions=2)
    told = {one.words.split(":")[0] for one in readiness_problems(study)}
    assert "The consent does not say that other participants see what somebody does and writes" in told
    assert any("no step timer" in one.words for one in readiness_problems(study))
    first = study.conditions.first()
    assert first and not any(one.hinders for one in readiness_problems(study))
    first.organisation, first.teammates = {"kind": "central", "people": [0, 1, 2]}, 3
    first.save()
    assert [one.words for one in readiness_problems(study) if one.hinders] == [
        "People who play together stay together, so all such conditions need the same number of people."
    ]


def test_with_a_clock_nobody_waits_for_an_absent_person() -> None:
    study = shared(conditions=1)
    study.conditions.update(world="overcooked", settings={"clock": "tick"}, teammates=1)
    assert not any("no step timer" in one.words for one in readiness_problems(study))
