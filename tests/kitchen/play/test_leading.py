"""A person leads robots without having one: jobs with aims of the world, and steps that wait for nobody."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.utils import timezone

from kitchen.contract.assigned_jobs import jobs_in
from kitchen.contract.organisation import Member, make_organisation
from kitchen.contract.page import Page as WorldPage
from kitchen.contract.page_view import SeatView
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.team_schedules import FREE, IN_ROUNDS, RELAY, TOGETHER
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.coplayers.answer_messages import send_message
from kitchen.play.episode.advance_episode import close_expired_turn
from kitchen.play.episode.create_episode import create_episode, members_of_plans
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.episode.play_monitoring import episode_facts, last_command_at
from kitchen.play.live.common_panels import talk_panel
from kitchen.play.live.job_panels import roster_panel
from kitchen.play.live.leader_panels import USUAL_AIMS, leader_panels, offered_aims
from kitchen.play.live.page_session import OpenPage, PageAnswer, open_page, replace_plan
from kitchen.play.live.render_page import page_context, render_panel
from kitchen.play.live.seat_view import current_seat_view, world_page_of
from kitchen.play.models import Episode, Message, Seat, SeatCommand, Step
from kitchen.play.turn.conversation import mailbox_of, member_message
from kitchen.play.turn.turn_cache import read_turn
from kitchen.play.turn.turn_searches import overdue_turns, turns_to_decide, undecided_turns
from kitchen.play.turn.websocket_messages import CommandMessage, SayMessage
from kitchen.registry.world_registry import get_page
from tests.kitchen.factories import make_episode, mind, submit
from tests.kitchen.play.turn.test_conversation import team

pytestmark = [pytest.mark.django_db, pytest.mark.servers]

LEAD = 3


def led(
    *,
    step_seconds: float | None = 60,
    steps: int = 60,
    sees: str = "all",
    schedule: str = TOGETHER,
    **more: Any,
) -> Episode:
    """Three followers and a person who has no robot."""
    minds = tuple(mind("follower", seat, **more) for seat in range(LEAD))
    members = [Member(LEAD, (), is_person=True, name="Lead"), *members_of_plans(minds, seats=LEAD)]
    made = make_organisation("tree", members, seats=LEAD, settings={"sees": sees, "schedule": schedule})
    return make_episode(seats=LEAD, minds=minds, organisation=made, step_seconds=step_seconds, steps=steps)


def give(episode: Episode, *to: int, aim: tuple[str, ...] = (), text: str = "") -> str:
    data = {"aim": list(aim)} if aim else {}
    return send_message(episode_id=episode.pk, seat=LEAD, say=MessageDraft(text, "inform", to, data)).code


def opened(episode: Episode, *, json: bool = False, language: str = "en") -> OpenPage:
    key = episode.seats.get(number=LEAD).key
    page, _ = open_page(key, "page-of-lead", newest=True, json=json, language=language)
    assert page is not None
    return page


def take(episode: Episode, steps: int = 1) -> None:
    """The time of so many steps is over; a worker looks."""
    for _ in range(steps):
        past = timezone.now() - timedelta(seconds=1)
        Episode.objects.filter(pk=episode.pk).update(turn_closes_at=past, turn_opened_at=past)
        step = Episode.objects.get(pk=episode.pk).step + 1
        close_expired_turn(episode_id=episode.pk, step=step)
        decide_step(episode_id=episode.pk, step=step)


def states(episode: Episode) -> dict[int, str]:
    with read_turn(episode.pk) as turn:
        return {job.number: job.state for job in jobs_in(map(member_message, turn.sent))}


def test_steps_wait_for_the_time_of_who_leads_and_for_no_command() -> None:
    episode = led()
    decide_step(episode_id=episode.pk, step=1)
    assert (Step.objects.count(), SeatCommand.objects.count()) == (0, 0)  # nobody has come yet
    opened(episode)
    episode.refresh_from_db()
    assert episode.turn_closes_at is not None
    decide_step(episode_id=episode.pk, step=1)
    assert not close_expired_turn(episode_id=episode.pk, step=1) and not Step.objects.exists()
    take(episode, 2)
    assert Episode.objects.get().step == 2
    assert {row.seat for row in SeatCommand.objects.all()} == {0, 1, 2}
    assert {row.chosen_by for row in SeatCommand.objects.all()} == {"follower"}
    assert [verdict.holds for verdict in verify_episode_logs(Episode.objects.all())] == [True]


@pytest.mark.parametrize("schedule", [RELAY, IN_ROUNDS, FREE])
def test_in_every_schedule_the_step_timer_drives_the_steps_of_who_leads(schedule: str) -> None:
    """No step that waits for the leader runs before its time is over. A job is done although the leader does
    nothing after it."""
    episode = led(schedule=schedule)
    opened(episode)
    decide_step(episode_id=episode.pk, step=1)
    assert not close_expired_turn(episode_id=episode.pk, step=1) and not Step.objects.exists()
    take(episode, 2)
    assert Episode.objects.get().step == 2
    give(episode, 1, aim=("fetch", "rice"))
    take(episode, 12)
    assert (Episode.objects.get().step, [*states(episode).values()]) == (14, ["done"])
    assert [verdict.holds for verdict in verify_episode_logs(Episode.objects.all())] == [True]


def test_a_step_whose_time_is_over_is_found_by_whoever_looks() -> None:
    episode = led()
    long_ago = timezone.now() - timedelta(minutes=2)
    Episode.objects.update(turn_opened_at=long_ago)
    assert turns_to_decide() == []  # who leads has not come
    opened(episode)
    Episode.objects.update(turn_opened_at=long_ago)
    assert (turns_to_decide(), overdue_turns(), undecided_turns(timedelta(0))) == ([], [], [])
    Episode.objects.update(turn_closes_at=timezone.now() - timedelta(minutes=1))
    assert turns_to_decide() == undecided_turns(timedelta(0)) == [(episode.pk, 1)]
    (facts,) = episode_facts([episode.pk]).values()
    assert (facts.people_missing, facts.minds_missing, facts.opened) == ((), (0, 1, 2), True)


def test_a_job_with_an_aim_is_accepted_begun_and_done_and_the_house_reports_it() -> None:
    episode = led()
    opened(episode)
    assert give(episode, 1, aim=("fetch", "rice")) == "accepted"
    told = Message.objects.get()
    assert (told.text, told.data["plain"]) == ("Fetch rice", True)
    found = []
    for _ in range(4):
        take(episode)
        found.append(states(episode)[1])
    assert found == ["accepted", "done", "done", "done"]
    last = Message.objects.last()
    assert last is not None and (last.kind, last.sender, last.to) == ("report", 1, [LEAD])
    assert last.data == {"job": 1, "status": "done", "house": True}
    assert last_command_at([(episode.pk, LEAD)]) == told.sent_at  # to write is to do something


def test_ones_own_words_are_offered_only_where_somebody_reads_them() -> None:
    episode = led()
    seat = Seat.objects.select_related("episode").get(episode=episode, number=LEAD)
    page, view = world_page_of(seat), current_seat_view(seat)
    form = page_of(page, view)
    assert "only what I write" not in form and "your team only follows the list" in form
    assert "only what I write" in page_of(page, replace(view, talk=replace(view.talk, unread=())))


def page_of(page: WorldPage, view: SeatView) -> str:
    return render_to_string("kitchen/play/play.html", page_context(page, view))


def test_what_cannot_be_done_is_reported_with_why() -> None:
    episode = led(patience=3)
    opened(episode)
    give(episode, 0, aim=("fetch", "salmonSashimi"))
    give(episode, 1, aim=("serve", "salmonSushi"))
    give(episode, 2, text="be quick")
    take(episode)
    assert list(states(episode).values()) == ["failed", "accepted", "declined"]
    take(episode, 3)
    assert list(states(episode).values()) == ["failed", "failed", "declined"]
    shown = "".join(opened(episode).show().texts)
    assert "I do not have what I need for it." in shown and "It took too long." in shown
    assert "I can only do jobs from the list." in shown
    told = "Robot 1: not possible: Fetch salmon sashimi. I do not have what I need for it."
    assert f'data-told="{told} Robot 1 has no job now."' in shown


def test_a_job_that_was_not_done_is_offered_to_be_given_again() -> None:
    episode = led()
    page = opened(episode)
    give(episode, 0, aim=("fetch", "salmonSashimi"), text="quickly")
    give(episode, 1, aim=("fetch", "rice"))
    take(episode, 2)
    shown = unescape("".join(page.show().texts))
    assert 'data-again data-aim="["fetch","salmonSashimi"]" data-text="quickly"' in shown
    assert shown.count("data-again") == 1, "the other job was done"
    seat = Seat.objects.select_related("episode").get(episode=episode, number=LEAD)
    aims = offered_aims(world_page_of(seat), current_seat_view(seat))
    assert '["fetch","salmonSashimi"]' in {value for _, listed in aims for value, _ in listed}
    give(episode, 0, aim=("fetch", "rice"))
    assert "data-again" not in "".join(page.show().texts), "an open job takes its place"


def test_a_job_that_another_worker_got_is_not_offered_again() -> None:
    episode = led()
    page = opened(episode)
    give(episode, 0, aim=("fetch", "salmonSashimi"))
    take(episode)
    assert states(episode)[1] == "failed"
    assert 'id="worker-0-again-1"' in "".join(page.show().texts)
    give(episode, 1, aim=("fetch", "rice"))
    assert 'id="worker-0-again-1"' in "".join(opened(episode).show().texts), "it is another job"
    give(episode, 2, aim=("fetch", "salmonSashimi"))
    shown = "".join(opened(episode).show().texts)
    assert 'id="worker-0-again-1"' not in shown
    take(episode)
    shown = "".join(opened(episode).show().texts)
    assert shown.count("data-again") == 1 and 'id="worker-2-again-' in shown, "only the last one"


@pytest.mark.parametrize(("running", "ended"), [(0, 1), (1, 0)])
def test_a_job_is_not_offered_again_while_a_copy_of_it_runs(running: int, ended: int) -> None:
    """Whichever of the two copies was given first."""
    episode = led()
    opened(episode)
    for worker in (0, 1):
        give(episode, worker, aim=("serve", "salmonSushi"))
    take(episode)
    withdraw(episode, ended)
    assert "data-again" not in "".join(opened(episode).show().texts)
    withdraw(episode, running)
    assert f'id="worker-{running}-again-{running + 1}"' in "".join(opened(episode).show().texts)


def withdraw(episode: Episode, worker: int) -> None:
    say = MessageDraft("", "withdraw", (worker,), {"job": worker + 1})
    assert send_message(episode_id=episode.pk, seat=LEAD, say=say).code == "accepted"


def test_a_withdrawn_job_is_offered_to_be_given_again_but_no_words_that_nobody_reads() -> None:
    episode = led()
    opened(episode)
    give(episode, 0, text="be quick")
    give(episode, 1, aim=("serve", "salmonSushi"), text="now")
    take(episode)
    say = MessageDraft("", "withdraw", (1,), {"job": 2})
    assert send_message(episode_id=episode.pk, seat=LEAD, say=say).code == "accepted"
    assert states(episode) == {1: "declined", 2: "withdrawn"}
    shown = unescape("".join(opened(episode).show().texts))
    assert shown.count("data-again") == 1, "programs that follow the list decline words alone, each time"
    assert 'data-again data-aim="["serve","salmonSushi"]" data-text="now"' in shown


def test_the_list_of_a_team_says_which_of_its_members_leads_others() -> None:
    minds = tuple(mind("follower", seat) for seat in (1, 2))
    members = members_of_plans(minds, seats=3)
    made = make_organisation("chain", members, seats=3, settings={"sees": "all"})
    episode = make_episode(seats=3, minds=minds, organisation=made)
    page, _ = open_page(episode.seats.get(number=0).key, "page", newest=True, json=False, language="en")
    assert page is not None
    shown = "".join(page.show().texts)
    assert '<b>Robot 2</b> <span class="worker-leads">leads Robot 3</span>' in shown
    assert "worker-leads" not in "".join(opened(led()).show().texts), "followers lead nobody"


def leader_page(episode: Episode, **changes: Any) -> dict[str, str]:
    """The leader's panels, by id; `changes` are fields of the view."""
    seat = episode.seats.select_related("episode").get(number=LEAD)
    view = replace(current_seat_view(seat), **changes)
    return {panel.id: unescape(render_panel(panel)) for panel in leader_panels(world_page_of(seat), view)}


def test_usual_jobs_are_buttons_that_keep_their_places_and_show_what_is_ordered() -> None:
    episode = led()
    opened(episode)
    before = leader_page(episode)["job_aims"]
    assert before.count("<button") == USUAL_AIMS and before.count("ordered</small>") == 1
    assert before.index('data-aim="["serve","salmonSushi"]" data-for="0 1 2">') < before.index("job-aim-1")
    take(episode, 12)
    after = leader_page(episode)["job_aims"]
    places = re.compile(r'data-aim="(.*?)" data-for')
    assert places.findall(after) == places.findall(before)
    assert after.count("ordered</small>") == 2


def test_the_last_job_is_told_and_can_be_taken_back_with_one_press_from_all_who_have_it() -> None:
    episode = led()
    page = opened(episode)
    assert "Press a job to give it at once." in leader_page(episode)["job_given"]
    give(episode, 0, 1, aim=("fetch", "rice"), text="please")
    shown = leader_page(episode)["job_given"]
    assert 'data-told="Given to Robot 1, Robot 2: Fetch rice: please."' in shown
    back = [('value="withdraw"', 1), ('name="job" value="1"', 1), ('name="to" value="0"', 1)]
    assert [(part, shown.count(part)) for part, _ in back] == back
    say = SayMessage("", (0, 1), "withdraw", {"job": 1})
    assert "Taken back from Robot 1, Robot 2: Fetch rice: please." in "".join(page.say(say).texts)
    assert "<form" not in leader_page(episode)["job_given"]


def test_the_last_job_tells_who_declined_it_or_could_not_do_it_instead_of_who_got_it() -> None:
    episode = led()
    opened(episode)
    give(episode, 1, aim=("fetch", "salmonSashimi"))
    assert ">Given to Robot 2: Fetch salmon sashimi.</p>" in leader_page(episode)["job_given"]
    take(episode)
    shown = leader_page(episode)["job_given"]
    refused = "Robot 2: not possible: Fetch salmon sashimi. I do not have what I need for it."
    assert f">{refused}</p>" in shown and 'data-told=""' in shown, "the list of members announces it"
    give(episode, 0, 1, text="sing")
    take(episode)
    shown = leader_page(episode)["job_given"]
    assert (
        "Given to" not in shown
        and "Robot 1: declined: sing." in shown
        and "Robot 2: declined: sing." in shown
    )
    assert '"text": "sing", "to": [0, 1]' in unescape(shown)


def test_a_page_that_is_not_connected_yet_calls_nobody_idle() -> None:
    episode = led()
    seat = episode.seats.get(acts=False)
    give(episode, 0, aim=("fetch", "rice"))
    panels = page_context(world_page_of(seat), current_seat_view(seat))["panels"]
    assert not [name for name, html in panels.items() if "no job" in html or "is idle" in html]
    assert "Robot 1" in panels["roster"]


def test_beside_the_form_a_leader_reads_the_latest_news_and_who_is_idle() -> None:
    episode = led()
    page = opened(episode)
    assert ">Without a job: Robot 1, Robot 2, Robot 3.</a>" in leader_page(episode)["team_news"]
    assert 'data-pick="0">Robot 1 is idle</a>' in leader_page(episode)["team_idle"]
    give(episode, 0, aim=("fetch", "rice"))
    assert "Robot 2 is idle" in leader_page(episode)["team_idle"]
    assert ">Without a job: Robot 2, Robot 3.</a>" in leader_page(episode)["team_news"]
    give(episode, 1, aim=("fetch", "salmonSashimi"))
    take(episode)
    told = "Robot 2: not possible: Fetch salmon sashimi. I do not have what I need for it. "
    news = leader_page(episode)["team_news"]
    assert 'class="team-news is-bad"><a href="#worker-1"' in news
    assert f">{told}Robot 2 has no job now. Without a job: Robot 3.</a>" in news
    assert "Robot 2 failed and is idle" in leader_page(episode)["team_idle"], "a failure comes first"
    take(episode, 4)
    done = "Robot 1: done: Fetch rice. Robot 1 has no job now."
    assert f">{done} Without a job: Robot 2, Robot 3.</a>" in leader_page(episode)["team_news"]
    give(episode, 0, 1, 2, text="wait")
    late = leader_page(episode, step=40)
    assert 'href="#worker-0">Robot 1 is late</a>' in late["team_idle"]
    assert ">Robot 1: no news for 30 steps: wait.</a>" in late["team_news"]
    assert (
        "hidden" in leader_page(episode)["team_idle"]
        and "hidden" in leader_page(episode, phase="over")["team_idle"]
    )
    assert "is idle" not in "".join(page.look().texts)


def test_the_roster_says_since_when_a_worker_has_no_job() -> None:
    episode = led()
    page = opened(episode)
    assert "since step" not in "".join(page.show().texts), "nobody has had a job"
    give(episode, 1, aim=("fetch", "rice"))
    take(episode, 4)
    shown = "".join(opened(episode).show().texts)
    assert 'data-told="Robot 2: done: Fetch rice. Robot 2 has no job now."' in shown
    ended = '<span class="worker-free">has no job</span> <span class="quiet">since step 3</span>'
    assert ended in shown
    assert "no tiene encargo ahora." in "".join(opened(episode, language="es").show().texts)


@pytest.mark.parametrize(("steps", "silent"), [(29, 0), (30, 30), (60, 30), (90, 90), (210, 210)])
def test_the_roster_says_when_a_job_is_late_with_doubling_patience(steps: int, silent: int) -> None:
    episode = led()
    opened(episode)
    give(episode, 1, aim=("fetch", "rice"))
    seat = episode.seats.select_related("episode").get(number=LEAD)
    view, page = current_seat_view(seat), world_page_of(seat)
    shown, over = (
        render_panel(roster_panel(page, replace(view, step=steps, phase=phase)).parts[1])
        for phase in (view.phase, "over")
    )
    told = f"Robot 2: no news for {silent} steps: Fetch rice." if silent else ""
    assert f'data-told="{told}"' in shown
    assert (f"No news for {silent} steps" in shown) == bool(silent) and "No news" not in over


def test_who_writes_to_followers_reads_that_they_take_jobs_only() -> None:
    episode = led()
    page = opened(episode)
    seat = episode.seats.select_related("episode").get(number=LEAD)
    assert page_context(world_page_of(seat), current_seat_view(seat))["unread"] == [
        "Robot 1",
        "Robot 2",
        "Robot 3",
    ]
    for text in ("robot 1, fetch rice", "please"):
        assert send_message(episode_id=episode.pk, seat=LEAD, say=MessageDraft(text, to=(0,))).accepted
        take(episode)
    assert [(one.sender, one.kind) for one in Message.objects.exclude(sender=LEAD)] == [(0, "answer")]
    assert "No leo los mensajes" in "".join(opened(episode, language="es").show().texts)
    assert "I do not read messages." in "".join(page.show().texts)


def test_a_job_is_taken_back_and_a_newer_one_goes_first() -> None:
    episode = led()
    opened(episode)
    give(episode, 0, aim=("serve", "salmonSushi"))
    take(episode, 2)
    give(episode, 0, aim=("fetch", "rice"))
    take(episode, 4)
    now = list(states(episode).values())
    assert now[0] == "started" and now[1] == "done"
    say = MessageDraft("", "withdraw", (0,), {"job": 1})
    assert send_message(episode_id=episode.pk, seat=LEAD, say=say).code == "accepted"
    take(episode)
    assert states(episode)[1] == "withdrawn"
    assert SeatCommand.objects.filter(seat=0).latest("step").command == ["noop"]


def test_three_followers_serve_a_dish_for_who_leads_them() -> None:
    episode = led()
    opened(episode)
    with read_turn(episode.pk) as turn:
        dish = turn.world.observe(0)["orders"][0]["dish"]
    assert give(episode, aim=("serve", dish)) == "accepted"
    for _ in range(40):
        take(episode)
        if set(states(episode).values()) == {"done"}:
            break
    assert Episode.objects.get().score["completed"] >= 1
    assert [verdict.holds for verdict in verify_episode_logs(Episode.objects.all())] == [True]


def test_a_co_player_with_several_seats_has_done_a_job_with_whichever_of_them() -> None:
    minds = (mind("follower", 0, 1, 2),)
    members = [Member(LEAD, (), is_person=True, name="Lead"), *members_of_plans(minds, seats=LEAD)]
    made = make_organisation("tree", members, seats=LEAD)
    episode = make_episode(seats=LEAD, minds=minds, organisation=made, step_seconds=3)
    opened(episode)
    for item in ("rice", "tuna"):  # two jobs are for two of its seats
        assert give(episode, aim=("fetch", item)) == "accepted"
    data: Any = Message.objects.first()
    assert data.data["marks"] == {"1": None, "2": None}
    take(episode, 4)
    with read_turn(episode.pk) as turn:
        held = {agent["holds"] for agent in turn.world.observe(0)["agents"]}
        mailbox = mailbox_of(turn)
        assert mailbox and mailbox.open_jobs == () and len(mailbox.posted) == len(turn.sent)
    assert set(states(episode).values()) == {"done"} and {"rice", "tuna"} <= held


def test_what_is_no_aim_of_theirs_cannot_be_asked() -> None:
    episode = led()
    opened(episode)
    for aim in (("serve", "moon"), ("eat", "rice"), ("serve",)):
        assert give(episode, 0, aim=aim) == "no_such_aim"
    assert give(episode, 0) == "no_aim"
    assert not Message.objects.exists()
    say = MessageDraft("hurry", "inform", (0,), {"since": 3, "plain": True, "house": True})
    assert send_message(episode_id=episode.pk, seat=LEAD, say=say).code == "accepted"
    assert Message.objects.get().data == {}  # what only the house says


def test_the_page_of_who_leads_has_a_team_and_no_menu() -> None:
    episode = led()
    seat = Seat.objects.select_related("episode").get(number=LEAD)
    context = page_context(world_page_of(seat), current_seat_view(seat))
    assert context["panels"].keys() >= {"roster", "talk", "orders"}
    assert context["panels"].keys().isdisjoint({"menu", "hint", "jobs"})
    assert "data-actions" not in context["layout"] + "".join(context["panels"].values())
    assert [group for group, _ in context["aims"]][:2] == ["Serve a dish", "Make something"]
    view = current_seat_view(seat)
    assert (view.phase, view.acts, view.looks_on, [*view.choice.legal]) == ("lead", False, True, [])
    assert [player.is_you for player in view.players] == [False] * LEAD
    take(episode)
    assert "Robot 2 waited." in "".join(opened(episode).show().texts)


def test_who_leads_sees_no_more_of_the_world_than_the_organisation_lets_them() -> None:
    episode = led(sees="private")
    page = opened(episode, json=True)
    state = json.loads(page.show().texts[0])
    assert (state["observation"], state["phase"], state["member"]) == ({}, "lead", LEAD)
    assert state["aims"].keys() == {"0", "1", "2"}
    seat = Seat.objects.select_related("episode").get(number=LEAD)
    assert "orders" not in page_context(world_page_of(seat), current_seat_view(seat))["panels"]


def test_nobody_commands_from_a_seat_that_is_none() -> None:
    episode = led()
    page = opened(episode, json=True)
    sent = {"type": "command", "step": 1, "command": ["noop"]}
    answer = page.command(CommandMessage.read(sent))
    assert isinstance(answer, PageAnswer) and "not_offered" in answer.texts[0]
    assert not SeatCommand.objects.exists()


def test_nobody_plans_from_a_seat_that_is_none() -> None:
    episode = led()
    Episode.objects.filter(pk=episode.pk).update(offers_plans=True)
    page = opened(episode, json=True).name
    with read_turn(episode.pk) as turn:
        assert replace_plan(turn, seat=LEAD, then=[("noop",)], page=page).code == "not_offered"
    episode.refresh_from_db()
    assert not episode.plans


def test_who_leads_reads_their_own_language_and_no_plain_english() -> None:
    episode = led()
    give(episode, 1, aim=("fetch", "rice"))
    key = episode.seats.get(number=LEAD).key
    page, answer = open_page(key, "page-of-lead", newest=True, json=False, language="es")
    shown = "".join(answer.texts)
    assert page is not None and "Traer arroz" in shown and "Fetch rice" not in shown
    assert "sin respuesta todavía" in shown


def test_what_a_person_was_asked_for_is_reported_as_soon_as_it_is_so() -> None:
    episode = team("tree", people=2)
    job = MessageDraft("", "inform", (1,), {"aim": ["fetch", "rice"]})
    assert send_message(episode_id=episode.pk, seat=0, say=job).code == "accepted"
    for step, command in enumerate((("goto", "storage0"), ("get", "storage0", "rice")), 1):
        assert set(states(episode).values()) == {"given"}
        submit(episode, step, "noop")
        submit(episode, step, *command, seat=1)
    assert states(episode) == {1: "done"}


def test_the_words_of_a_job_go_to_the_conversation_when_its_card_is_gone() -> None:
    episode = team("tree", people=2)
    job = MessageDraft("Quickly, please", "inform", (1,), {"aim": ["fetch", "rice"]})
    assert send_message(episode_id=episode.pk, seat=0, say=job).code == "accepted"
    view = current_seat_view(episode.seats.get(number=1))
    assert talk_panel(get_page("cuisine"), view).parts == ()
    older = replace(view, jobs=replace(view.jobs, listed=()))
    (line,) = talk_panel(get_page("cuisine"), older).parts
    assert "Quickly, please" in str(line.shows)


@pytest.mark.parametrize(
    ("world", "settings", "aim", "words", "headings"),
    [
        (
            "overcooked",
            {"layout": "forced_coordination"},
            ("pickup", "onion"),
            "Take an onion",
            ["Take something", "Cook · Cook 1", "Put down or deliver", "Put down or deliver · Cook 1"],
        ),
        (
            "collab_overcooked",
            {"task": "boiled_egg"},
            ("bring", "egg"),
            "Put egg on a shared counter",
            [
                *("Bring to a shared counter · Cook 1", "Put into a utensil · Cook 1"),
                *("Start a utensil · Cook 1", "Deliver · Cook 1", "Bring to a shared counter · Cook 2"),
                *("Put into a utensil · Cook 2", "Start a utensil · Cook 2"),
            ],
        ),
        (
            "blocks_crafting",
            {"task": "craft_2_02_lime_wool"},
            ("give_all", "0"),
            "Give Player 1 all that you hold",
            ["Get things", "Give everything · Player 1", "Give everything · Player 2"],
        ),
    ],
)
def test_who_leads_cooks_picks_what_each_of_them_can_do(
    world: str, settings: dict[str, Any], aim: tuple[str, ...], words: str, headings: list[str]
) -> None:
    minds = (mind("follower", 0), mind("follower", 1))
    members = [Member(2, (), is_person=True, name="Lead"), *members_of_plans(minds, seats=2)]
    team = make_organisation("tree", members, seats=2, settings={"sees": "all"})
    episode = create_episode(
        world=world, settings=settings, seats=2, seed=7, minds=minds, organisation=team, step_seconds=3
    )
    seat = episode.seats.get(number=2)
    open_page(seat.key, "page-of-lead", newest=True, json=False, language="en")
    view = current_seat_view(seat)
    offered = offered_aims(world_page_of(seat), view)
    assert [heading for heading, _ in offered] == headings
    say = MessageDraft("", "inform", (1,), {"aim": list(aim)})
    assert send_message(episode_id=episode.pk, seat=2, say=say).code == "accepted"
    assert Message.objects.get().text == words
    take(episode, 12)
    assert states(episode) == {1: "done"}


@pytest.mark.parametrize(
    ("world", "usual"),
    [
        ("collab_overcooked", ["Cook in the pot", "Bake in the oven"]),
        ("blocks_gather", ["Get 25 oak log", "Get 5 oak log"]),
        (
            "blocks_kitchen",
            [f"Make it and put it into the chest: cooked {one}" for one in ("chicken", "mutton")],
        ),
    ],
)
def test_usual_jobs_follow_the_goal_of_their_world(world: str, usual: list[str]) -> None:
    minds = (mind("follower", 0), mind("follower", 1))
    members = [Member(2, (), is_person=True, name="Lead"), *members_of_plans(minds, seats=2)]
    team = make_organisation("tree", members, seats=2, settings={"sees": "all"})
    settings = {"task": "baked_potato_slices"} if world == "collab_overcooked" else {}
    episode = create_episode(
        world=world, settings=settings, seats=2, seed=7, minds=minds, organisation=team, step_seconds=3
    )
    view, page = current_seat_view(episode.seats.get(number=2)), get_page(world)
    texts = [part.shows[1] for part in leader_panels(page, view)[0].parts]
    assert texts[:2] == usual
    if world == "collab_overcooked":
        with read_turn(episode.pk) as turn:
            knows = replace(view, brief=turn.world.brief(0))
        usual_aims = page.usual_aims(knows, view.jobs.aims[1])
        assert usual_aims == [
            ("bring", "potato"),
            ("bring", "potato_slices"),
            ("put_in", "potato", "chopping_board0"),
            ("cut", "chopping_board0"),
        ]
