"""The conversation on a page and over its websocket: what its person may read, and nothing of the others'."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import RequestFactory

from kitchen.contract.organisation import make_organisation
from kitchen.play.episode.create_episode import members_of_plans
from kitchen.play.episode.end_episode import end_episode
from kitchen.play.live.page_session import OpenPage, open_page
from kitchen.play.live.render_page import page_context, play_page_response
from kitchen.play.live.seat_view import current_seat_view, world_page_of
from kitchen.play.models import Episode, Message
from kitchen.play.turn.turn_cache import read_turn
from kitchen.play.turn.websocket_messages import MessageError, SayMessage, read_message
from tests.kitchen.factories import make_episode, mind
from tests.kitchen.play.turn.test_conversation import team

pytestmark = pytest.mark.django_db
EVIL = '<script>alert("rice")</script> & <b>'


def page_of(episode: Episode, seat: int, *, json: bool = False, language: str = "en") -> OpenPage:
    key = episode.seats.get(number=seat).key
    page, _ = open_page(key, f"page-of-test-{seat}", newest=True, json=json, language=language)
    assert page is not None
    return page


def say(page: OpenPage, text: str, *to: int, kind: str = "say") -> str:
    """What the page is sent for it."""
    return "".join(page.say(SayMessage(text, to, kind)).texts)


def test_a_page_says_who_reads_no_messages_and_who_does_jobs_all_the_same() -> None:
    minds = (mind("random", 1), mind("follower", 2), mind("planner", 3))
    made = make_organisation("graph", members_of_plans(minds, seats=4), seats=4)
    episode = make_episode(seats=4, minds=minds, organisation=made)
    seat = episode.seats.select_related("episode").get(number=0)
    view = current_seat_view(seat)
    assert (view.talk.unread, view.talk.only_jobs) == ((1, 2), (2,))
    html = play_page_response(RequestFactory().get("/"), seat=seat, continue_url="/").content.decode()
    (note,) = re.findall(r'id="talk-unread"[^>]*>([^<]*)<', html)
    assert note == (
        "These players do not read messages: Robot 3. "
        "They do the jobs that are chosen for them from the list. "
        "These players do not read messages: Robot 2."
    )


def whole_page(episode: Episode, seat: int = 0) -> str:
    """Return the HTML of the whole page of this seat."""
    row = episode.seats.select_related("episode").get(number=seat)
    return play_page_response(RequestFactory().get("/"), seat=row, continue_url="/").content.decode()


def team_of(kind: str, *, readers: int = 0) -> Episode:
    """Return an episode with a person, a program that reads no messages, and further ones that read them."""
    minds = (mind("random", 1), *(mind("planner", 2 + number) for number in range(readers)))
    made = make_organisation(kind, members_of_plans(minds, seats=2 + readers), seats=2 + readers)
    return make_episode(seats=2 + readers, minds=minds, organisation=made)


def test_where_nobody_reads_messages_there_is_no_box_to_write_them() -> None:
    html = whole_page(team_of("graph"))
    assert "These players do not read messages: Robot 2." in html
    assert 'id="talk-form"' not in html and "data-reply" not in html


def test_the_box_offers_only_those_who_read_messages() -> None:
    html = whole_page(team_of("graph", readers=2))
    options = re.findall(
        r"<option[^>]*>([^<]*)</option>", html.split('id="talk-to"')[1].split("</select>")[0]
    )
    assert options == ["everybody who reads messages", "Robot 3", "Robot 4"]


def test_replies_are_made_from_the_orders_of_the_moment() -> None:
    html = whole_page(team_of("graph", readers=1))
    assert re.findall(r"data-reply>([^<]*)<", html) == ["Tuna sushi first", "What are you doing?"]


def test_the_same_message_sent_twice_at_once_is_one_message() -> None:
    episode = team("graph")
    page = page_of(episode, 0)
    for _ in range(2):
        page.say(SayMessage("rice, please", (1,), after=0))
    assert [row.text for row in episode.sent.all()] == ["rice, please"]
    page.say(SayMessage("rice, please", (1,), after=1))
    page.say(SayMessage("and tuna", (1,), after=1))
    assert [row.text for row in episode.sent.order_by("number")] == ["rice, please"] * 2 + ["and tuna"]


def test_organisation_rights_who_is_written_to_is_shown_it_and_a_third_one_sees_nothing() -> None:
    episode = team("graph")
    pages = [page_of(episode, seat) for seat in range(3)]
    answer = say(pages[0], "meet me at the pot", 1)
    assert "meet me at the pot" in answer and 'class="said is-yours"' in answer and "to Robot 2" in answer
    heard = "".join(pages[1].look().texts)
    assert "meet me at the pot" in heard and "<b>Robot 1</b>" in heard and "is-yours" not in heard
    assert "".join(pages[2].look().texts) == ""
    assert "meet me" not in "".join(pages[2].show().texts)


def test_a_worker_reads_the_words_of_a_job_once_on_its_card() -> None:
    episode = team("tree")
    say(page_of(episode, 0), "chop the onion", 1, kind="inform")
    shown = "".join(page_of(episode, 1).show().texts)
    assert shown.count(">chop the onion</p>") == 1 and 'class="said job is-given"' in shown
    assert 'class="said is-yours"' in "".join(page_of(episode, 0).show().texts)


def test_a_program_is_told_the_same_and_no_more() -> None:
    episode = team("tree")
    pages = [page_of(episode, seat, json=True) for seat in range(3)]
    state = json.loads(say(pages[1], "done here", 0))
    assert pages[2].look().texts == ()  # not even that something was said
    assert len(pages[0].look().texts) == 1
    assert (state["member"], state["addressees"]) == (1, [0, 2])
    assert [(one["sender"], one["to"], one["text"]) for one in state["messages"]] == [(1, [0], "done here")]
    others = [json.loads(pages[seat].show().texts[0])["messages"] for seat in (0, 2)]
    assert [len(one) for one in others] == [1, 0]


def test_what_was_written_is_text_wherever_it_is_shown() -> None:
    episode = team("graph")
    page = page_of(episode, 0)
    assert EVIL not in say(page, EVIL)
    shown = "".join(page_of(episode, 1).show().texts)
    assert "<script>" not in shown and "&lt;script&gt;alert(&#34;rice&#34;)" in shown


def test_only_what_is_new_is_sent_and_the_whole_page_holds_no_word_of_it() -> None:
    episode = team("graph")
    page = page_of(episode, 0)
    say(page, "first")
    answer = say(page, "second")
    assert "second" in answer and "first" not in answer and '<template id="said-1"' in answer
    seat = episode.seats.select_related("episode").get(number=0)
    context = page_context(world_page_of(seat), current_seat_view(seat))
    assert "second" not in str(context["panels"]["talk"])  # it is squeezed with the key of the seat (BREACH)
    assert context["addressees"] == [(1, "Robot 2"), (2, "Robot 3")]


def test_who_may_not_is_told_why_in_their_language_and_nothing_is_sent() -> None:
    episode = team("tree", messages_a_step=1)
    page = page_of(episode, 1, language="es")
    assert "No puedes enviarles ese mensaje" in say(page, "chop", 0, kind="inform")
    say(page, "hello")
    assert "en el paso siguiente" in say(page, "hello again")
    assert Message.objects.count() == 1
    other = page_of(episode, 1)
    other.name = "an-older-page"
    assert "another tab" in say(other, "hello")
    end_episode(episode_id=episode.pk, reason="enough")
    assert "has ended" in say(page_of(episode, 0), "hello")


def test_where_nobody_writes_the_page_is_as_it_was() -> None:
    for episode in (make_episode(seats=2), team("each", people=2)):
        view = current_seat_view(episode.seats.get(number=0))
        assert (view.talk.member, view.talk.messages, view.talk.addressees) == (None, (), ())
        page = page_of(episode, 0)
        assert 'id="talk"' not in "".join(page.show().texts)
        assert "You cannot send them that message" in say(page, "hello")


def test_after_the_end_it_can_still_be_read() -> None:
    episode = team("graph")
    say(page_of(episode, 0), "well played")
    end_episode(episode_id=episode.pk, reason="enough")
    shown = "".join(page_of(episode, 1).show().texts)
    assert "well played" in shown
    with read_turn(episode.pk) as turn:
        assert not turn.is_open


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ({"text": "hello"}, SayMessage("hello", ())),
        ({"text": "hello", "to": ""}, SayMessage("hello", ())),
        ({"text": "hello", "to": "2", "kind": "ask"}, SayMessage("hello", (2,), "ask")),
        ({"text": "hello", "to": [1, 2]}, SayMessage("hello", (1, 2))),
        ({"text": "hello", "after": "3"}, SayMessage("hello", (), after=3)),
        ({"text": "hello", "after": [3]}, None),
        ({"text": 7}, None),
        ({"text": "hello", "to": "all"}, None),
        ({"text": "hello", "to": ["1", "2"]}, SayMessage("hello", (1, 2))),
        ({"text": "hello", "to": ["1000"]}, None),
        (
            {"kind": "inform", "aim": '["fetch","rice"]'},
            SayMessage("", (), "inform", {"aim": ["fetch", "rice"]}),
        ),
        ({"kind": "inform", "text": "hurry", "aim": ""}, SayMessage("hurry", (), "inform")),
        ({"kind": "inform", "aim": "rice"}, None),
        ({"kind": "inform", "aim": [["rice"]]}, None),
        ({"text": "hello", "to": [True]}, None),
        ({"text": "hello", "to": {"1": 1}}, None),
        ({"text": "hello", "to": [1] * 65}, None),
        ({"text": "hello", "kind": None}, None),
        (
            {"kind": "report", "job": "3", "status": "done"},
            SayMessage("", (), "report", {"job": 3, "status": "done"}),
        ),
        ({"text": "hello", "spoken": "1"}, SayMessage("hello", (), data={"spoken": True})),
        ({"text": "hello", "spoken": ""}, SayMessage("hello", ())),
        ({"kind": "accept", "job": [3]}, None),
        ({"text": "hello", "after": -5}, None),
        ({"kind": "report", "job": 3, "status": 1}, None),
    ],
)
def test_what_a_browser_says_is_read_or_refused(sent: dict[str, Any], read: SayMessage | None) -> None:
    text = json.dumps({"type": "say", **sent})
    if read is None:
        with pytest.raises(MessageError):
            read_message(text)
    else:
        assert read_message(text) == read


def job(page: OpenPage, kind: str, number: int, *to: int, status: str = "") -> str:
    data = {"job": number, **({"status": status} if status else {})}
    return "".join(page.say(SayMessage("", to, kind, data)).texts)


def test_a_job_is_given_taken_and_done_and_a_third_one_sees_no_card() -> None:
    episode = team("tree")
    leader, worker, third = (page_of(episode, seat) for seat in range(3))
    given = say(leader, "fetch rice", 1, kind="inform")
    assert "not answered yet" in given and "Take back" in given and "Accept" not in given
    card = "".join(worker.look().texts)
    assert 'id="job-1-1"' in card and "Accept" in card and "Decline" in card and "Take back" not in card
    assert "fetch rice" not in "".join(third.show().texts)
    assert "accepted" in job(worker, "accept", 1) and "accepted" in "".join(leader.look().texts)
    done = job(worker, "report", 1, status="done")
    assert "is-done" in done and 'id="job-1-1-failed"' not in done
    assert "no longer exists" in job(leader, "withdraw", 1, 1)


def test_a_browser_is_let_use_the_microphone_only_where_people_may_speak() -> None:
    for spoken in (False, True):
        episode = team("graph", spoken=spoken)
        seat = episode.seats.select_related("episode").get(number=0)
        answer = play_page_response(RequestFactory().get("/"), seat=seat, continue_url="/")
        assert ("microphone=(self)" in answer.headers.get("Permissions-Policy", "")) is spoken
        assert (b"data-speak" in answer.content) is spoken
    page = page_of(episode, 0)
    page.say(SayMessage("hello", (), data={"spoken": True}))
    assert Message.objects.get().data == {"spoken": True}


def test_who_leads_has_a_form_for_jobs_and_who_is_led_has_none() -> None:
    episode = team("tree")
    for number, workers in ((0, [(1, "Robot 2"), (2, "Robot 3")]), (1, [])):
        seat = episode.seats.select_related("episode").get(number=number)
        context = page_context(world_page_of(seat), current_seat_view(seat))
        assert context["workers"] == workers and ("jobs" if number else "roster") in context["panels"]
    seat = team("graph").seats.select_related("episode").get(number=0)
    assert page_context(world_page_of(seat), current_seat_view(seat))["panels"].keys() >= {"jobs", "roster"}
    seat = team("pair", people=2).seats.select_related("episode").get(number=0)
    assert "jobs" not in page_context(world_page_of(seat), current_seat_view(seat))["panels"]
