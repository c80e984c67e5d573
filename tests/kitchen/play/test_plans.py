"""Several commands given ahead: the next one follows by itself while it is legal, else the seat is asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import pytest
from django.template.loader import render_to_string

from kitchen.contract.agent import KNOWLEDGE_LABELS, MAX_PLAN_STEPS, Agent, Decision, Situation
from kitchen.contract.world import Command, Event
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.coplayers.agent_situations import checked_decision
from kitchen.play.coplayers.instant_decisions import InstantDecisions
from kitchen.play.episode.advance_episode import submit_commands
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.episode.play_monitoring import last_command_at
from kitchen.play.live.page_session import OpenPage, PageAnswer, open_page, replace_plan
from kitchen.play.live.render_page import page_context
from kitchen.play.live.seat_view import current_seat_view, state_message
from kitchen.play.models import Decision as DecisionRow
from kitchen.play.models import Episode, Seal, SeatCommand, Step
from kitchen.play.turn import page_broadcast
from kitchen.play.turn.submitted_commands import SubmittedCommand
from kitchen.play.turn.turn_cache import exclusive_turn
from kitchen.play.turn.websocket_messages import CommandMessage, MessageError, PlanMessage, read_message
from kitchen.registry import agent_registry
from kitchen.registry.world_registry import get_page, get_world
from kitchen.worlds.cuisine.world import CuisineWorld
from tests.kitchen.factories import make_episode, mind, submit

pytestmark = [pytest.mark.django_db, pytest.mark.servers]

BOARD, STORAGE, TABLE = ("goto", "chopboard0"), ("goto", "storage0"), ("goto", "servingtable0")
TAKE: Command = ("get", "chopboard0", "salmon")


class Ahead(Agent):
    """Gives what it is told to: by step, what seats do and what follows. It remembers when it was asked."""

    kind = "ahead"
    told: ClassVar[dict[int, Mapping[int, Sequence[Command]]]] = {}

    async def decide(self, situation: Situation) -> Decision:
        told = self.told.get(situation.step + 1, {})
        plans = {str(seat): [list(each) for each in left] for seat, left in situation.plans.items()}
        asked = [situation.step + 1, list(situation.request.asked or ()), plans]
        return Decision(
            {seat: commands[0] for seat, commands in told.items() if commands},
            memory=[*(situation.memory or []), asked],
            plans={seat: commands[1:] for seat, commands in told.items()},
        )


@pytest.fixture(autouse=True)
def told(monkeypatch: pytest.MonkeyPatch) -> dict[int, Mapping[int, Sequence[Command]]]:
    """What the mind gives."""
    monkeypatch.setitem(agent_registry.AGENTS, "ahead", f"{__name__}:Ahead")
    fresh: dict[int, Mapping[int, Sequence[Command]]] = {}
    monkeypatch.setattr(Ahead, "told", fresh)
    monkeypatch.setattr(CuisineWorld, "planned_step_seconds", 0.0)  # nobody looks on
    return fresh


Told = dict[int, Mapping[int, Sequence[Command]]]


def take(episode: Episode, *command: str) -> None:
    """The person commands, the mind decides if it is asked."""
    step = Episode.objects.get(pk=episode.pk).step + 1
    assert submit(episode, step, *(command or ("noop",))).accepted
    decide_step(episode_id=episode.pk, step=step)


def did(episode: Episode, seat: int) -> list[tuple[str, str, int | None]]:
    """What this seat was commanded, by whom, and in which step that was planned."""
    taken = Step.objects.filter(episode=episode).order_by("number").values_list("commands", flat=True)
    return [
        (" ".join(one["command"]), one["chosen_by"], one.get("planned_in"))
        for entries in taken
        for one in entries
        if one["seat"] == seat
    ]


def broken(episode: Episode) -> list[tuple[int, dict[str, Any]]]:
    """Events of dropped plans with the step after which they were."""
    steps = Step.objects.filter(episode=episode).order_by("number").values_list("number", "events")
    return [(number, one) for number, events in steps for one in events if one["kind"] == "plan_broken"]


def asked(episode: Episode) -> list[Any]:
    memory: list[Any] = DecisionRow.objects.filter(mind__episode=episode).order_by("-step")[0].memory
    return memory


def test_what_was_planned_follows_and_the_mind_is_asked_when_it_is_done(told: Told) -> None:
    told[1] = {1: [STORAGE, ("get", "storage0", "salmon"), BOARD]}
    episode = make_episode(seats=2, minds=(mind("ahead", 1),))
    for _ in range(4):
        take(episode)
    assert did(episode, 1) == [
        ("goto storage0", "ahead", None),
        ("get storage0 salmon", "ahead", 1),
        ("goto chopboard0", "ahead", 1),
        ("noop", "ahead", None),
    ]
    assert [step for step, _, _ in asked(episode)] == [1, 4]
    assert Episode.objects.get(pk=episode.pk).plans is None and broken(episode) == []
    assert all(verdict.holds for verdict in verify_episode_logs(Episode.objects.all()))


def test_organisation_plans_one_is_broken_where_the_thing_is_gone_and_its_seat_is_asked(told: Told) -> None:
    """A command that a plan has no longer is never given."""
    told[5] = {1: [BOARD, TAKE, TABLE]}
    episode = make_episode(seats=2, minds=(mind("ahead", 1),))
    for command in (STORAGE, ("get", "storage0", "salmon"), BOARD, ("put", "chopboard0"), TAKE, ()):
        take(episode, *command)
    assert did(episode, 1)[4:] == [("goto chopboard0", "ahead", None), ("noop", "ahead", None)]
    data = {"why": "illegal", "left": [list(TAKE), list(TABLE)], "planned_in": 5}
    assert broken(episode) == [(5, {"kind": "plan_broken", "seat": 1, **data})]
    assert asked(episode)[-1] == [6, [1], {}]
    because = dict(DecisionRow.objects.values_list("step", "because"))
    assert (because[5], because[6]) == ("seat", "plan_broken")
    first = SeatCommand.objects.get(episode=episode, seat=1, step=5)
    assert first.to_follow == [list(TAKE), list(TABLE)]
    assert all(verdict.holds for verdict in verify_episode_logs(Episode.objects.all()))


def test_playing_the_commands_again_gives_the_same_states(told: Told) -> None:
    told[1] = {1: [BOARD, TAKE]}
    episode = make_episode(seats=2, minds=(mind("ahead", 1),))
    take(episode)
    take(episode)
    world = get_world("cuisine").create(seats=2, settings=episode.settings)
    world.reset(episode.seed)
    for step in Step.objects.filter(episode=episode).order_by("number"):
        events = world.step([(one["seat"], tuple(one["command"])) for one in step.commands])
        assert world.state_hash() == step.state_hash
        own = [one for one in step.events if one["kind"] != "plan_broken"]
        assert [event.to_json() for event in events] == own


def test_a_plan_waits_while_its_seat_has_nothing_to_choose(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    told[1] = {1: [STORAGE, BOARD]}
    monkeypatch.setattr(CuisineWorld, "asks", lambda world, seat: (world.clock, seat) != (1, 1))
    episode = make_episode(seats=2, minds=(mind("ahead", 1),))
    take(episode)
    take(episode)
    take(episode)
    assert did(episode, 1)[1:] == [("noop", "world", None), ("goto chopboard0", "ahead", 1)]
    assert did(episode, 0) == [("noop", "person", None)] * 3


def test_a_mind_may_give_another_plan_for_a_seat_that_has_one(told: Told) -> None:
    told[1] = {1: [STORAGE, BOARD, TABLE], 2: [STORAGE]}
    told[2] = {1: [("noop",), BOARD, ("goto", "pot0")], 2: [BOARD]}
    episode = make_episode(seats=3, minds=(mind("ahead", 1, 2),))
    for _ in range(4):
        take(episode)
    assert [command for command, _, _ in did(episode, 1)] == [
        "goto storage0",
        "goto chopboard0",
        "goto chopboard0",
        "goto pot0",
    ]
    assert [planned for _, _, planned in did(episode, 1)] == [None, 1, 2, 2]
    data = {"why": "replaced", "left": [list(TABLE)], "planned_in": 1}
    assert broken(episode) == [(2, {"kind": "plan_broken", "seat": 1, **data})]
    assert asked(episode)[1] == [2, [2], {"1": [list(TABLE)]}]


@pytest.mark.parametrize("knowing", KNOWLEDGE_LABELS)
def test_a_mind_knows_what_its_own_seats_go_on_with_whatever_else_it_is_told(
    told: Told, knowing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told[1] = {1: [STORAGE, BOARD], 2: [STORAGE]}
    heard: list[Mapping[int, Command]] = []
    decide = Ahead.decide

    async def listening(mind: Ahead, situation: Situation) -> Decision:
        heard.append({seat: situation.commanded[seat] for seat in situation.commanded if seat})
        return await decide(mind, situation)

    monkeypatch.setattr(Ahead, "decide", listening)
    episode = make_episode(seats=3, minds=(mind("ahead", 1, 2),), knowing=knowing)
    take(episode)
    take(episode)
    assert heard == [{}, {1: BOARD}]


def test_plans_of_several_steps_run_by_themselves_where_nobody_else_is_asked(told: Told) -> None:
    episode = make_episode(seats=1, offers_plans=True)
    given = SubmittedCommand(0, STORAGE, then=(BOARD, TABLE, BOARD))
    assert submit_commands(episode_id=episode.pk, step=1, commands=[given]).accepted
    assert Episode.objects.get(pk=episode.pk).step == 4
    assert [planned for _, _, planned in did(episode, 0)] == [None, 1, 1, 1]
    chosen = SeatCommand.objects.get(episode=episode, step=1)
    assert last_command_at([(episode.pk, 0)]) == chosen.received_at  # that is when the person was there


def test_what_is_left_of_a_plan_is_shown_to_whom_it_may_be(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    told[1] = {1: [STORAGE, BOARD, TABLE]}
    shown = []
    for shows_intents in (False, True):
        episode = make_episode(seats=2, minds=(mind("ahead", 1),), shows_intents=shows_intents)
        take(episode)
        seat = episode.seats.get(number=0)
        shown.append(state_message("cuisine", current_seat_view(seat)).plans)
    assert shown == [{}, {"1": [list(TABLE)]}]
    context = page_context(get_page("cuisine"), current_seat_view(seat), socket_path="/")
    assert "<li>Go to the serving table</li>" in str(context["panels"]["plans"])

    def visible(world: CuisineWorld, seat: int, event: Event) -> bool:
        return event.kind != "plans"

    monkeypatch.setattr(CuisineWorld, "visible", visible)
    assert current_seat_view(seat).plans.by_seat == {}


def test_what_somebody_plans_with_a_command_is_shown_to_others_when_that_has_run() -> None:
    episode = make_episode(seats=2, offers_plans=True, shows_intents=True)
    given = SubmittedCommand(1, STORAGE, then=(BOARD, TABLE))
    submit_commands(episode_id=episode.pk, step=1, commands=[given])
    seats = {seat.number: seat for seat in episode.seats.all()}
    assert [dict(current_seat_view(seats[number]).plans.by_seat) for number in (0, 1)] == [
        {},
        {1: (BOARD, TABLE)},
    ]
    submit(episode, 1, "noop")
    assert [dict(current_seat_view(seats[number]).plans.by_seat) for number in (0, 1)] == [{1: (TABLE,)}] * 2


def test_the_end_leaves_no_plan_and_seals_what_was_planned(told: Told) -> None:
    told[2] = {1: [STORAGE, BOARD, TABLE]}
    episode = make_episode(seats=2, steps=2, minds=(mind("ahead", 1),))
    take(episode)
    take(episode)
    assert Episode.objects.get(pk=episode.pk).plans is None and broken(episode) == []
    assert Seal.objects.filter(episode=episode).exists()
    assert all(verdict.holds for verdict in verify_episode_logs(Episode.objects.all()))


@pytest.mark.parametrize("plan", ["go", [["go"]], [("go", 1)], [("noop",)] * (MAX_PLAN_STEPS + 1)])
def test_what_is_no_plan_is_refused(plan: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="seat 1"):
        checked_decision(Decision({}, plans={1: plan}))


def person(episode: Episode) -> OpenPage:
    page, _ = open_page(episode.seats.get(number=0).key, "page-of-test", newest=True, json=True)
    assert page
    return page


def codes(answer: PageAnswer | InstantDecisions) -> list[str]:
    assert isinstance(answer, PageAnswer)
    return [told["code"] for told in map(json.loads, answer.texts) if told["type"] == "notice"]


def test_a_person_plans_and_stops_what_is_left(told: Told) -> None:
    episode = make_episode(seats=2, minds=(mind("ahead", 1),), offers_plans=True)
    page = person(episode)
    assert codes(page.plan(PlanMessage(then=()))) == ["not_offered"]  # that goes with a command
    assert codes(page.command(CommandMessage(1, STORAGE, then=(BOARD, TABLE, STORAGE)))) == []
    decide_step(episode_id=episode.pk, step=1)
    view = current_seat_view(episode.seats.get(number=0))
    assert (view.phase, view.choice.chosen, view.plans.by_seat) == ("thinking", BOARD, {0: (TABLE, STORAGE)})
    assert codes(page.command(CommandMessage(2, TABLE))) == ["double"]
    assert codes(page.plan(PlanMessage(then=()))) == []
    decide_step(episode_id=episode.pk, step=2)
    assert [planned for _, _, planned in did(episode, 0)] == [None, 1]
    assert current_seat_view(episode.seats.get(number=0)).phase == "choose"
    data = {"why": "replaced", "left": [list(TABLE), list(STORAGE)], "planned_in": 1}
    assert broken(episode) == [(2, {"kind": "plan_broken", "seat": 0, **data})]
    assert all(verdict.holds for verdict in verify_episode_logs(Episode.objects.all()))


def test_a_plan_that_is_stopped_in_the_last_step_is_in_the_log_too(told: Told) -> None:
    episode = make_episode(seats=2, steps=2, minds=(mind("ahead", 1),), offers_plans=True)
    page = person(episode)
    page.command(CommandMessage(1, STORAGE, then=(BOARD, TABLE)))
    decide_step(episode_id=episode.pk, step=1)
    page.plan(PlanMessage((), 2))
    decide_step(episode_id=episode.pk, step=2)
    data = {"why": "replaced", "left": [list(TABLE)], "planned_in": 1}
    assert broken(episode) == [(2, {"kind": "plan_broken", "seat": 0, **data})]
    assert all(verdict.holds for verdict in verify_episode_logs(Episode.objects.all()))


def test_stopping_that_arrives_late_stops_the_plan_that_was_meant_and_no_other(told: Told) -> None:
    episode = make_episode(seats=2, minds=(mind("ahead", 1),), offers_plans=True)
    page = person(episode)
    page.command(CommandMessage(1, STORAGE, then=(BOARD, TABLE, STORAGE, BOARD)))
    for step in (1, 2):
        decide_step(episode_id=episode.pk, step=step)
    assert codes(page.plan(PlanMessage((TABLE,), 2))) == ["late"]  # its first would be done in another step
    assert codes(page.plan(PlanMessage((), 4))) == ["early"]
    assert codes(page.plan(PlanMessage((), 2))) == []
    decide_step(episode_id=episode.pk, step=3)
    page.command(CommandMessage(4, BOARD, then=(STORAGE,)))
    assert codes(page.plan(PlanMessage((), 2))) == ["late"]  # the same once more
    assert [planned for _, _, planned in did(episode, 0)] == [None, 1, 1]
    decide_step(episode_id=episode.pk, step=4)
    assert did(episode, 0)[-1][2] is None and Episode.objects.get(pk=episode.pk).step == 4
    assert SeatCommand.objects.get(episode=episode, seat=0, step=5).planned_in == 4


def test_others_look_when_a_plan_is_stopped(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    nudged: list[object] = []
    monkeypatch.setattr(page_broadcast, "nudge_pages", lambda *told: nudged.append(told))
    for minds in ((mind("ahead", 1),), ()):
        episode = make_episode(seats=2, minds=minds, offers_plans=True)
        given = SubmittedCommand(0, STORAGE, then=(BOARD, TABLE))
        submit_commands(episode_id=episode.pk, step=1, commands=[given])
        with django_capture_on_commit_callbacks(execute=True), exclusive_turn(episode.pk) as turn:
            assert replace_plan(turn, seat=0, then=(), page="").accepted
        assert nudged == ([] if minds else [(episode.pk,)])


def test_a_person_whose_plan_could_not_go_on_chooses_again_and_is_told_why() -> None:
    episode = make_episode(seats=1, offers_plans=True)
    page = person(episode)
    assert codes(page.command(CommandMessage(1, BOARD, then=(TAKE, TABLE)))) == []
    view = current_seat_view(episode.seats.get(number=0))
    assert (view.phase, view.step, view.plans.by_seat) == ("choose", 1, {})
    shown = str(page_context(get_page("cuisine"), view, socket_path="/")["panels"]["plan"])
    assert "This was not possible any more: Take salmon from chopping board 1" in shown
    assert codes(page.command(CommandMessage(2, STORAGE))) == []
    shown = str(
        page_context(get_page("cuisine"), current_seat_view(page.seat), socket_path="/")["panels"]["plan"]
    )
    assert "not possible:" not in shown


def test_where_plans_are_not_offered_nobody_can_make_one() -> None:
    episode = make_episode(seats=1)
    page = person(episode)
    assert codes(page.command(CommandMessage(1, STORAGE, then=(BOARD,)))) == ["not_offered"]
    assert not SeatCommand.objects.exists()
    assert codes(page.command(CommandMessage(1, STORAGE))) == []
    assert codes(page.plan(PlanMessage(then=(BOARD,)))) == ["not_offered"]


def test_another_page_and_an_episode_that_is_over_change_no_plan() -> None:
    episode = make_episode(seats=2, steps=1, offers_plans=True)
    old, new = person(episode), person(episode)
    new.name = "another"
    with exclusive_turn(episode.pk) as turn:
        assert replace_plan(turn, seat=0, then=(), page="another").code == "elsewhere"
    submit(episode, 1, "noop")
    submit(episode, 1, "noop", seat=1)
    assert codes(old.plan(PlanMessage(then=()))) == ["over"]


def test_what_can_be_planned_is_what_can_be_done_at_some_time() -> None:
    world = get_world("cuisine").create(seats=1, settings={"level": "level_3"})
    offered = world.plannable(0)
    assert len(offered) == len(set(offered))
    assert set(world.legal_actions(0)) <= set(offered)
    world.step({0: STORAGE})
    legal = {command for command in world.legal_actions(0) if command[-1] in {"salmon", "tuna", "rice"}}
    assert legal and legal <= set(offered)


def test_a_page_has_the_list_only_where_plans_are_offered() -> None:
    shown = {}
    for offers_plans in (False, True):
        episode = make_episode(seats=1, offers_plans=offers_plans)
        view, page = current_seat_view(episode.seats.get(number=0)), get_page("cuisine")
        html = render_to_string("kitchen/play/play.html", page_context(page, view, socket_path="/"))
        shown[offers_plans] = ("data-plan-add" in html, "js/plan.js" in html)
    assert shown == {False: (False, False), True: (True, True)}


@pytest.mark.parametrize("then", ["go", [["go"]] * (MAX_PLAN_STEPS + 1), [[]], [3], {"a": 1}])
def test_what_a_browser_sends_and_is_no_plan_is_refused(then: Any) -> None:
    with pytest.raises(MessageError):
        read_message(json.dumps({"type": "command", "step": 1, "command": ["noop"], "then": then}))


def test_a_form_sends_one_command_of_a_plan_or_several() -> None:
    for sent, count in ((json.dumps(BOARD), 1), ([json.dumps(BOARD), json.dumps(TABLE)], 2), ([], 0)):
        message = read_message(json.dumps({"type": "plan", "then": sent}))
        assert message == PlanMessage((BOARD, TABLE)[:count])
