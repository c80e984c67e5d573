"""What staff may do to a participant: each with a reason, recorded, and only once."""

from __future__ import annotations

from typing import Any

import pytest
from channels.db import database_sync_to_async
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from kitchen.infra.append_only import AppendOnlyError
from kitchen.play.live import page_watchdog
from kitchen.play.live.page_session import NO_SEAT_CLOSE_CODE
from kitchen.play.live.seat_consumer import JSON_PROTOCOL
from kitchen.play.models import Episode, Seat
from kitchen.urls import websocket_urlpatterns
from study.design.models import Study
from study.monitor import staff_actions
from study.monitor.staff_actions import ReasonError, link_fingerprint
from study.participants.end_and_erase_participation import participant_withdraw
from study.participants.models import Participant, StaffAction
from study.participation.page_progress import finish_page
from tests.study.factories import complete, enter, make_study
from tests.study.participation.test_views import agree, begin, field, text_of

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


@pytest.fixture
def study() -> Study:
    return make_study()


@pytest.fixture
def user() -> User:
    return User.objects.create_superuser("ada")


def playing(study: Study) -> Participant:
    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")
    return person


def act(client: Client, person: Participant, action: str, **more: str) -> Any:
    """Send the form of this action as the participant's page has it."""
    address = f"/staff/{person.study.slug}/participants/{person.code}/"
    page = text_of(client.get(address))
    start = page.find(f'name="action" value="{action}"')
    target = field(page[start:], "target") if start >= 0 else ""
    data = {"action": action, "target": target, "reason": "a test", "sure": "on", **more}
    return client.post(f"{address}act/", data)


def log_of(person: Participant) -> list[tuple[str, str, str]]:
    found = StaffAction.objects.filter(participant=person.pk)
    return [(one.user_name, one.action, one.reason) for one in found]


def test_an_exclusion_is_recorded_once_and_can_be_taken_back(study: Study, user: User) -> None:
    person = complete(study)
    said: dict[str, Any] = {"participant_id": person.pk, "user": user}
    assert staff_actions.participant_exclude(**said, reason=" did not try ")
    assert not staff_actions.participant_exclude(**said, reason="again")
    person.refresh_from_db()
    assert (person.excluded_reason, person.excluded_at is None) == ("did not try", False)
    assert staff_actions.participant_include(**said, reason="a mistake")
    assert not staff_actions.participant_include(**said, reason="again")
    person.refresh_from_db()
    assert (person.excluded_reason, person.excluded_at) == ("", None)
    assert log_of(person) == [("ada", "exclude", "did not try"), ("ada", "include", "a mistake")]


@pytest.mark.parametrize("reason", ["", "  ", "x" * 201])
def test_nothing_is_done_without_a_reason(study: Study, user: User, reason: str) -> None:
    person = playing(study)
    said: dict[str, Any] = {"participant_id": person.pk, "user": user, "reason": reason}
    for refused in (
        lambda: staff_actions.participant_exclude(**said),
        lambda: staff_actions.participant_stop(**said),
        lambda: staff_actions.link_reissue(**said, stamp=link_fingerprint(person)),
        lambda: staff_actions.episode_stop(**said, episode=str(Episode.objects.get().key)),
    ):
        with pytest.raises(ReasonError):
            refused()
    assert log_of(person) == []
    assert Participant.objects.get().key == person.key


def test_who_withdraws_meanwhile_is_withdrawn_and_no_trace_stays(study: Study, user: User) -> None:
    person = playing(study)
    staff_actions.participant_exclude(participant_id=person.pk, user=user, reason="their name is Bob")
    participant_withdraw(participant_id=person.pk)
    with pytest.raises(Participant.DoesNotExist):
        staff_actions.participant_stop(participant_id=person.pk, user=user, reason="too late")
    assert not StaffAction.objects.exists()


def test_what_staff_did_cannot_be_rewritten(study: Study, user: User) -> None:
    person = playing(study)
    staff_actions.participant_exclude(participant_id=person.pk, user=user, reason="why")
    with pytest.raises(AppendOnlyError):
        StaffAction.objects.update(reason="another")


def test_a_new_link_shuts_out_the_old_link_browser_and_form(
    client: Client, admin_client: Client, study: Study
) -> None:
    begun = begin(client, study)
    client.post(begun["Location"], {"page": "consent", "agree_0": "on"})
    person = Participant.objects.get()
    assert client.get("/s/small/")["Location"] == begun["Location"]
    page = text_of(act(admin_client, person, "reissue"))
    person.refresh_from_db()
    assert person.key in page
    assert client.get(begun["Location"]).status_code == 404
    assert client.get("/s/small/").status_code == 200
    assert Client().get(person.get_absolute_url()).status_code == 200
    assert person.key not in text_of(admin_client.get(f"/staff/small/participants/{person.code}/"))


def test_the_same_form_gives_one_new_link(study: Study, user: User) -> None:
    person = playing(study)
    said: dict[str, Any] = {"participant_id": person.pk, "user": user, "reason": "lost"}
    stamp = link_fingerprint(person)
    key = staff_actions.link_reissue(**said, stamp=stamp)
    assert key
    assert staff_actions.link_reissue(**said, stamp=stamp) == ""
    assert Participant.objects.get().key == key
    assert len(log_of(person)) == 1


@pytest.mark.django_db(transaction=True)
async def test_an_open_page_is_closed_when_the_link_is_given_anew(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    monkeypatch.setattr("kitchen.play.turn.page_broadcast.nudge_pages", lambda *told: None)
    monkeypatch.setattr("kitchen.play.episode.advance_episode.ask_coplayers", lambda *turn: None)
    monkeypatch.setattr(page_watchdog, "LOOK_SECONDS", 0.1)
    person = await database_sync_to_async(lambda: playing(make_study()))()
    user = await database_sync_to_async(User.objects.create_superuser)("ada")
    seat = await database_sync_to_async(Seat.objects.get)()
    path = f"/ws/seat/{seat.key}/"
    socket = WebsocketCommunicator(URLRouter(websocket_urlpatterns), path, subprotocols=[JSON_PROTOCOL])
    await socket.connect()
    await socket.receive_from(timeout=30)
    reissue = database_sync_to_async(staff_actions.link_reissue)
    assert await reissue(participant_id=person.pk, user=user, reason="lost", stamp=link_fingerprint(person))
    while (found := await socket.receive_output(timeout=30))["type"] != "websocket.close":
        continue
    assert found["code"] == NO_SEAT_CLOSE_CODE


def test_an_episode_is_ended_by_the_button_and_the_participant_led_on(
    client: Client, admin_client: Client, study: Study
) -> None:
    personal = agree(client, study)["Location"]
    client.post(personal, {"page": "guide"})
    person = Participant.objects.get()
    assert act(admin_client, person, "end_episode", reason="the stove hangs").status_code == 302
    assert Episode.objects.get().ended_because == "the stove hangs"
    assert "Item 0." in text_of(client.get(personal))
    act(admin_client, person, "end_episode", target="not-theirs")
    assert [one[1] for one in log_of(person)] == ["end_episode"]


def test_a_way_is_ended_with_the_episode_that_is_on(
    client: Client, admin_client: Client, study: Study
) -> None:
    personal = agree(client, study)["Location"]
    client.post(personal, {"page": "guide"})
    person = Participant.objects.get()
    act(admin_client, person, "end_way", reason="power cut")
    person.refresh_from_db()
    assert (person.status, person.end_reason) == ("technical", "power cut")
    assert Episode.objects.get().status == Episode.Status.ABORTED
    assert "technical reason" in text_of(client.get(personal))


@pytest.mark.parametrize("missing", [{"reason": " "}, {"sure": ""}])
def test_the_form_wants_a_reason_and_a_tick(
    admin_client: Client, study: Study, missing: dict[str, str]
) -> None:
    person = playing(study)
    response = act(admin_client, person, "exclude", **missing)
    assert response.status_code == 422
    assert "Nothing was done" in text_of(response)
    assert log_of(person) == []


@pytest.mark.parametrize(("action", "longest"), [("note", 200), ("message", 500)])
def test_a_line_break_counts_as_the_one_character_that_the_box_counts(
    admin_client: Client, study: Study, action: str, longest: int
) -> None:
    """Browsers count it once for `maxlength`, and send two characters."""
    person = playing(study)
    full = "a\r\n" + "b" * (longest - 2)
    assert act(admin_client, person, action, reason=full).status_code == 302
    assert f"At most {longest} characters" in text_of(act(admin_client, person, action, reason=full + "b"))


@pytest.mark.parametrize("action", ["bonus", "paid", "review", "other"])
def test_what_is_no_action_of_the_page_ends_nobodys_participation(
    admin_client: Client, study: Study, action: str
) -> None:
    person = playing(study)
    assert act(admin_client, person, action).status_code == 302
    person.refresh_from_db()
    assert person.status == Participant.Status.ACTIVE and log_of(person) == []


def test_a_viewer_sees_and_may_do_nothing(client: Client, study: Study) -> None:
    person, viewer = playing(study), User.objects.create_user("viewer", is_staff=True)
    study.memberships.create(user=viewer, role="viewer")
    client.force_login(viewer)
    page = text_of(client.get(f"/staff/small/participants/{person.code}/"))
    assert "Actions for" not in page
    assert act(client, person, "exclude").status_code == 403
    assert log_of(person) == []


def test_a_form_without_the_token_is_refused(study: Study, user: User) -> None:
    person, client = playing(study), Client(enforce_csrf_checks=True)
    client.force_login(user)
    data = {"action": "exclude", "reason": "x", "sure": "on"}
    assert client.post(f"/staff/small/participants/{person.code}/act/", data).status_code == 403
    assert log_of(person) == []


def test_the_list_is_cut_into_pages_and_narrowed(
    admin_client: Client, study: Study, django_assert_max_num_queries: Any
) -> None:
    person = complete(study)
    version = person.version
    Participant.objects.bulk_create(
        Participant(
            study=study, version=version, number=number, code=f"c{number}", key=f"k{number}",
            entry=f"e{number}", synthetic=number % 2 == 0,
        )
        for number in range(2, 301)
    )  # fmt: skip
    with django_assert_max_num_queries(14):
        page = text_of(admin_client.get("/staff/small/participants/"))
    assert page.count('<th scope="row">') == 50
    assert "page 1 of 6" in page
    one = text_of(admin_client.get("/staff/small/participants/?status=complete&kind=person"))
    assert "1 participant<" in one
    assert person.code in one
    assert "Nobody of this kind" in text_of(admin_client.get("/staff/small/participants/?kind=preview"))
    assert "page 6 of 6" in text_of(admin_client.get("/staff/small/participants/?page=999&kind=nonsense"))


def test_a_participants_page_shows_the_way_and_no_secret(admin_client: Client, study: Study) -> None:
    person = complete(study)
    person.visits.create(page="own-extra", done_at=timezone.now())
    page = text_of(admin_client.get(f"/staff/small/participants/{person.code}/"))
    assert "Measure 0: 3" in page
    assert "not shown, by its rule" in page and page.count("left out by its rule") == 1
    assert person.completion_code in page
    assert person.key not in page
    assert all(seat.key not in page for seat in Seat.objects.all())
