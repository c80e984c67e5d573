"""The live page: who is where, in a fixed number of queries, and what is sent when that changes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from brigade.asgi import application as whole_application
from kitchen.infra.rate_limits import RATE_CLOSE_CODE, TokenBucket, TokenBuckets
from kitchen.llm.circuit_breaker import FAILURES, ModelPause
from kitchen.money.models import Budget, Spending
from kitchen.play.episode.advance_episode import submit_commands
from kitchen.play.models import Episode, Seat
from kitchen.play.turn import page_broadcast
from kitchen.play.turn.submitted_commands import SubmittedCommand
from study.design.models import Study
from study.monitor import live_status, live_study_page
from study.monitor.live_measures import live_measures
from study.monitor.live_study_page import ELSEWHERE, GONE, NOT_ALLOWED, websocket_urlpatterns
from study.participants.end_and_erase_participation import participant_end, participant_withdraw
from study.participants.models import PageVisit, Participant, Round
from study.participation.enter_study import consent_refused, participant_enter
from study.participation.page_progress import finish_page, page_opened
from tests.kitchen.layers import INTERRUPTED, InterruptedLayer
from tests.study.factories import complete, enter, make_study, play_out

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


def row_of(person: Participant) -> live_status.LiveRow:
    return next(row for row in live_status.live_rows(person.study, [person.code]))


def playing(study: Study, entry: str = "one", **more: Any) -> Participant:
    """Somebody in the first episode."""
    person = enter(study, entry, **more)
    finish_page(participant_id=person.pk, page="guide")
    return person


def first_episode(person: Participant) -> Episode:
    found = person.rounds.get(position=1).episode
    assert found
    return found


def crowd(study: Study, number: int) -> None:
    """So many participants in their first episode: copies of one who came there by the services."""
    first = playing(study)
    person = Participant.objects.get(pk=first.pk)
    one = Round.objects.select_related("episode").get(participant=first, position=1)
    for other in range(2, number + 1):
        assert one.episode
        episode = Episode.objects.get(pk=one.episode.pk)
        episode.pk, episode.key = None, uuid4()
        episode.save()
        Seat.objects.create(episode=episode, number=0, name="Robot 1")
        person.pk, person.number = None, other
        person.key = person.entry = person.code = f"code{other}"
        person.save()
        Round.objects.create(participant=person, condition=one.condition, position=1, episode=episode)
        visits = PageVisit.objects.filter(participant=first)
        PageVisit.objects.bulk_create(
            PageVisit(participant=person, page=v.page, done_at=v.done_at) for v in visits
        )


def test_a_row_says_where_somebody_is_and_whom_the_study_waits_for() -> None:
    study = make_study()
    person = enter(study)
    row = row_of(person)
    assert (row.page, row.condition, row.step, row.waits_for) == ("guide", "", None, "the participant")
    finish_page(participant_id=person.pk, page="guide")
    row = row_of(person)
    name = person.rounds.order_by("position")[0].condition.name
    assert (row.page, row.condition, row.position, row.rounds) == ("play", name, 1, 2)
    assert (row.step, row.length, row.waits_for) == (0, 3, "the participant to open the page")
    play_out(first_episode(person))
    assert row_of(person).page == "survey"


def test_who_waits_for_money_waits_for_nobody_else() -> None:
    study = make_study(pauses_when_spent=True)
    paid = {"coplayer": "dispatcher", "coplayer_settings": {"model": "anthropic:claude-haiku-4-5"}}
    study.conditions.update(**paid, teammates=1, organisation={"people": [0, 1]})
    person = playing(study)
    assert (row_of(person).page, row_of(person).waits_for) == ("lobby", "other people")
    study.conditions.update(organisation={})
    alone = enter(study, "two")
    study.budget = Budget.objects.create(name="x", limit=study.budget_limit)
    study.save()
    Spending.objects.create(budget=study.budget, reserved=1, spent=study.budget_limit)
    assert (row_of(person).page, row_of(person).waits_for) == ("waiting", "the budget")
    finish_page(participant_id=alone.pk, page="guide")
    assert (row_of(alone).page, row_of(alone).waits_for) == ("waiting", "the budget")


def test_a_row_is_idle_since_the_last_thing_that_the_participant_did() -> None:
    person = playing(make_study())
    Participant.objects.filter(pk=person.pk).update(active_at=timezone.now() - timedelta(hours=3))
    assert row_of(person).idle == "3 h 0 min"
    episode = first_episode(person)
    submit_commands(episode_id=episode.pk, step=1, commands=[SubmittedCommand(0, ("noop",))])
    row = row_of(person)
    assert (row.step, row.idle) == (1, "under a minute")


def test_measures_so_far_have_means_and_intervals_by_condition(admin_client: Client) -> None:
    study = make_study()
    assert not live_measures(study).rows and "No episode has ended yet" in live_page(admin_client, study)
    first = complete(study, "one")
    one = live_measures(study)
    assert (one.whose, len(one.conditions)) == ("people", 2)
    cells = next(cells for _, cells in one.rows if cells[0].detail)
    assert cells[0].detail == "n = 1, no interval"
    complete(study, "two", synthetic=True)
    assert live_measures(study) == one, "programs are left out"
    complete(study, "three")
    assert "n = 2, 95 % interval 0 to 0" in live_page(admin_client, study)
    first.excluded_at = timezone.now()
    first.save()
    assert live_measures(study) == one


def live_page(client: Client, study: Study) -> str:
    return client.get(f"/staff/{study.slug}/live/").content.decode()


def test_who_has_ended_stays_for_an_hour() -> None:
    study = make_study()
    active, ended = playing(study), complete(study, "two")
    assert live_status.live_codes(study) == [ended.code, active.code]
    assert (row_of(ended).waits_for, row_of(ended).active) == ("", False)
    Participant.objects.filter(pk=ended.pk).update(ended_at=timezone.now() - timedelta(hours=2))
    assert live_status.live_codes(study) == [active.code]


def test_totals_count_people_programs_and_previews_apart_and_the_withdrawn() -> None:
    study = make_study()
    complete(study, "one")
    playing(study, "two", synthetic=True)
    participant_enter(study_id=study.pk, entry="three", preview=True)
    participant_withdraw(participant_id=enter(study, "four").pk)
    refused = participant_enter(study_id=study.pk, entry="five")
    consent_refused(participant_id=refused.pk)
    totals = live_status.live_totals(study)
    lines = dict(totals.lines)
    assert lines["taking part"] == (0, 1, 1)
    assert lines["complete"] == (1, 0, 0)
    assert lines["did not agree"] == (1, 0, 0)
    assert totals.withdrawn == 1
    assert totals.last_step_at is not None


def test_the_page_names_models_that_are_not_called_now(admin_client: Client) -> None:
    study, pause = make_study(), ModelPause("anthropic:claude-sonnet-5-5")
    for _ in range(FAILURES):
        pause.fail(trial=False)
    assert f"<dd>{pause.name}</dd>" in live_page(admin_client, study)
    assert live_status.without_groups(live_status.live_totals(study)).paused_models == ()
    pause.succeed()
    assert pause.name not in live_page(admin_client, study)


def test_a_hundred_participants_cost_no_more_queries_than_two(
    django_assert_max_num_queries: Any, admin_client: Client
) -> None:
    study = make_study(conditions=1)
    crowd(study, 100)
    with django_assert_max_num_queries(34):
        before = time.perf_counter()
        page = admin_client.get("/staff/small/live/").content.decode()
        print(f"\n100 participants on the live page: {time.perf_counter() - before:.3f} s")
    assert page.count('id="live-') >= 100
    with django_assert_max_num_queries(12):
        live_status.live_rows(study, live_status.live_codes(study))


def test_the_page_shows_no_secret_and_is_for_staff_only(client: Client, admin_client: Client) -> None:
    person = playing(make_study(), "entry-of-this-person")
    page = admin_client.get("/staff/small/live/").content.decode()
    assert person.code in page
    assert person.key not in page
    assert person.entry not in page
    assert client.get("/staff/small/live/").status_code == 302
    client.force_login(User.objects.create_user("viewer", is_staff=True))
    assert client.get("/staff/small/live/").status_code == 403


def scans(ask: Callable[[], object]) -> list[str]:
    """What SQLite would read from end to end, or sort, to answer."""
    with CaptureQueriesContext(connection) as asked:
        ask()
    plans = []
    with connection.cursor() as cursor:
        for one in asked.captured_queries:
            cursor.execute(f"EXPLAIN QUERY PLAN {one['sql']}")
            plans += [row[3] for row in cursor.fetchall()]
    return [plan for plan in plans if plan.startswith("SCAN ") or "B-TREE FOR ORDER" in plan]


@pytest.mark.sqlite
@pytest.mark.skipif(connection.vendor != "sqlite", reason="reads SQLite's plans")
def test_news_and_the_last_step_are_found_by_an_index_however_many_ever_came() -> None:
    study = make_study()
    person = playing(study)
    keys = [str(first_episode(person).key)]
    assert live_status.players_of(study, keys) == {person.code}
    assert live_status.players_of(make_study("other"), keys) == set()
    assert scans(lambda: live_status.players_of(study, keys)) == []
    assert scans(lambda: live_status._last_step_at(study)) == []


def test_the_last_step_is_found_whoever_plays_and_however_episodes_ended() -> None:
    study, now = make_study(), timezone.now()
    assert live_status._last_step_at(study) is None
    people = [playing(study, entry) for entry in ("one", "two", "three")]
    stopped, done, plays = (first_episode(person) for person in people)

    def has(episode: Episode, minutes_ago: float, ended_ago: float | None) -> None:
        ended = None if ended_ago is None else now - timedelta(minutes=ended_ago)
        opened = now - timedelta(minutes=minutes_ago)
        Episode.objects.filter(pk=episode.pk).update(step=1, turn_opened_at=opened, ended_at=ended)

    has(stopped, 30, 5)  # nobody took a step for long, then staff ended it
    has(done, 20, 20)
    assert live_status._last_step_at(study) == now - timedelta(minutes=20)
    has(plays, 40, None)
    assert live_status._last_step_at(study) == now - timedelta(minutes=20)
    has(plays, 10, None)
    assert live_status._last_step_at(study) == now - timedelta(minutes=10)
    has(stopped, 6, 5)
    assert live_status._last_step_at(study) == now - timedelta(minutes=6)


# The websocket.

application = URLRouter(websocket_urlpatterns)


@pytest.fixture
def quick(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    monkeypatch.setattr(live_study_page, "LOOK_SECONDS", 0.3)
    monkeypatch.setattr(live_study_page, "GATHER_SECONDS", 0.05)
    monkeypatch.setattr(live_study_page, "_connection_buckets", TokenBuckets(live_study_page.CONNECTIONS))
    monkeypatch.setattr(page_broadcast, "nudge_pages", lambda *told: None)


def socket_of(client: Client) -> WebsocketCommunicator:
    cookie = f"{django_settings.SESSION_COOKIE_NAME}={client.session.session_key}"
    return WebsocketCommunicator(application, "/ws/staff/study/small/", [(b"cookie", cookie.encode())])


@pytest.mark.django_db(transaction=True)
async def test_staff_are_sent_everything_then_only_what_changes(quick: None, admin_client: Client) -> None:
    study = await database_sync_to_async(make_study)()
    one = await database_sync_to_async(playing)(study)
    two = await database_sync_to_async(playing)(study, "two")
    socket = await database_sync_to_async(socket_of)(admin_client)
    assert (await socket.connect())[0]
    assert 'id="live-summary"' in await socket.receive_from(timeout=30)
    first = await socket.receive_from(timeout=30)
    assert first.startswith('<tbody id="live-rows"')  # behind anything else a browser would drop the tag
    assert one.code in first
    assert two.code in first
    await database_sync_to_async(page_opened)(person=one, page="play", position=1)
    episode = await database_sync_to_async(first_episode)(one)
    orders = [SubmittedCommand(0, ("noop",))]
    await database_sync_to_async(submit_commands)(episode_id=episode.pk, step=1, commands=orders)
    while one.code not in (found := await socket.receive_from(timeout=30)):
        continue
    assert f'id="live-{one.code}"' in found
    assert 'id="live-rows"' not in found
    assert two.code not in found
    assert "1 of 3" in found
    await database_sync_to_async(participant_withdraw)(participant_id=one.pk)
    while 'id="live-rows"' not in (found := await socket.receive_from(timeout=30)):
        continue
    assert one.code not in found
    await socket.disconnect()


@pytest.mark.django_db(transaction=True)
async def test_the_page_opens_while_redis_is_down_and_hears_of_changes_when_it_is_back(
    quick: None, settings: Any, admin_client: Client
) -> None:
    settings.CHANNEL_LAYERS = INTERRUPTED
    layer = get_channel_layer()
    assert isinstance(layer, InterruptedLayer)
    layer.away = True
    study = await database_sync_to_async(make_study)()
    socket = await database_sync_to_async(socket_of)(admin_client)
    assert (await socket.connect())[0]
    assert 'id="live-summary"' in await socket.receive_from(timeout=30)
    layer.away = False
    async with asyncio.timeout(30):
        while f"audience.study-{study.pk}" not in layer.groups:
            await asyncio.sleep(0.02)
    await socket.disconnect()


@pytest.mark.django_db(transaction=True)
async def test_news_come_from_pages_that_are_done_and_from_ends(
    quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(
        page_broadcast, "notify_audience", lambda audience, news: told.append(f"{audience} {news.type}")
    )
    study = await database_sync_to_async(make_study)()
    person = await database_sync_to_async(enter)(study)
    assert told
    assert set(told) == {f"study-{study.pk} participant.news"}
    told.clear()
    end = database_sync_to_async(participant_end)
    await end(participant_id=person.pk, status="technical", reason="a test")
    assert told == [f"study-{study.pk} participant.news"]
    told.clear()
    await end(participant_id=person.pk, status="technical", reason="again")
    assert told == []


@pytest.mark.django_db(transaction=True)
async def test_who_may_not_watch_is_closed_out_and_sent_nothing(quick: None, client: Client) -> None:
    study = await database_sync_to_async(make_study)()
    assert study.slug == "small"
    socket = WebsocketCommunicator(application, "/ws/staff/study/small/")
    await socket.connect()
    assert (await socket.receive_output(timeout=30))["code"] == NOT_ALLOWED
    user = await database_sync_to_async(User.objects.create_user)("viewer", is_staff=True)
    await database_sync_to_async(client.force_login)(user)
    socket = await database_sync_to_async(socket_of)(client)
    await socket.connect()
    assert (await socket.receive_output(timeout=30))["code"] == NOT_ALLOWED


@pytest.mark.django_db(transaction=True)
async def test_who_logs_out_or_loses_the_right_is_closed_out_soon(quick: None, admin_client: Client) -> None:
    await database_sync_to_async(make_study)()
    for lose in (lambda: User.objects.update(is_active=False), admin_client.logout):
        await database_sync_to_async(lambda: User.objects.update(is_active=True))()
        await database_sync_to_async(lambda: admin_client.force_login(User.objects.get()))()
        socket = await database_sync_to_async(socket_of)(admin_client)
        await socket.connect()
        await socket.receive_from(timeout=30)
        await database_sync_to_async(lose)()
        while (found := await socket.receive_output(timeout=30))["type"] != "websocket.close":
            continue
        assert found["code"] == NOT_ALLOWED


@pytest.mark.django_db(transaction=True)
async def test_who_watches_on_too_many_pages_has_the_newest(
    quick: None, admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_study_page, "MOST_PAGES", 2)
    await database_sync_to_async(make_study)()
    sockets = [await database_sync_to_async(socket_of)(admin_client) for _ in range(3)]
    for socket in sockets:
        await socket.connect()
    while (found := await sockets[0].receive_output(timeout=30))["type"] != "websocket.close":
        continue
    assert found["code"] == ELSEWHERE
    for socket in sockets[1:]:
        assert 'id="live-summary"' in await socket.receive_from(timeout=30)
        await socket.disconnect()


@pytest.mark.django_db(transaction=True)
async def test_who_connects_again_and_again_is_refused_for_a_while(
    quick: None, admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    buckets = TokenBuckets(lambda: TokenBucket(0.5, 2, lambda: now[0]))
    monkeypatch.setattr(live_study_page, "_connection_buckets", buckets)
    await database_sync_to_async(make_study)()

    async def first_of_a_connection() -> dict[str, Any]:
        socket = await database_sync_to_async(socket_of)(admin_client)
        await socket.connect()
        found: dict[str, Any] = await socket.receive_output(timeout=30)
        await socket.disconnect()
        return found

    kinds = [(await first_of_a_connection())["type"] for _ in range(2)]
    assert kinds == ["websocket.send"] * 2
    assert await first_of_a_connection() == {"type": "websocket.close", "code": RATE_CLOSE_CODE}
    now[0] = 2.0
    assert (await first_of_a_connection())["type"] == "websocket.send"


@pytest.mark.django_db(transaction=True)
async def test_a_page_that_asks_on_and_on_waits_for_its_answers(
    quick: None, admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []  # no other time goes by

    async def wait(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(live_study_page, "PINGS", lambda: TokenBucket(1.0, 2, lambda: sum(waits), wait))
    await database_sync_to_async(make_study)()
    socket = await database_sync_to_async(socket_of)(admin_client)
    await socket.connect()
    for _ in range(6):
        await socket.send_to(text_data="{}")
    while len(waits) < 2:
        await socket.receive_from(timeout=30)
    await socket.disconnect()


@pytest.mark.django_db(transaction=True)
async def test_a_study_that_is_gone_closes_the_socket(quick: None, admin_client: Client) -> None:
    study = await database_sync_to_async(make_study)()
    socket = await database_sync_to_async(socket_of)(admin_client)
    await socket.connect()
    await socket.receive_from(timeout=30)
    await database_sync_to_async(study.delete)()
    while (found := await socket.receive_output(timeout=30))["type"] != "websocket.close":
        continue
    assert found["code"] == GONE


@pytest.mark.django_db(transaction=True)
async def test_a_page_from_elsewhere_is_refused(quick: None, admin_client: Client) -> None:
    await database_sync_to_async(make_study)()
    cookie = f"{django_settings.SESSION_COOKIE_NAME}={admin_client.session.session_key}"
    headers = [(b"cookie", cookie.encode()), (b"origin", b"https://elsewhere.example")]
    socket = WebsocketCommunicator(whole_application, "/ws/staff/study/small/", headers)
    assert not (await socket.connect())[0]
