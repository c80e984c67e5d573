"""What a process keeps of a turn saves it from reading, and decides nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.infra.append_only import erasure_allowed
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.episode.advance_episode import run_due_step
from kitchen.play.live import seat_view
from kitchen.play.live.page_session import OpenPage, PageAnswer, open_page
from kitchen.play.live.seat_view import seat_states
from kitchen.play.models import Decision as DecisionRow
from kitchen.play.models import Episode, Seat, SeatCommand, Step
from kitchen.play.turn import step_store, turn_cache
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.turn_cache import exclusive_turn, read_turn
from kitchen.play.turn.websocket_messages import CommandMessage
from kitchen.registry.agent_registry import AGENTS
from tests.kitchen.factories import make_episode, mind, submit

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


@pytest.fixture(autouse=True)
def committed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commits are at once, nobody is nudged or asked, and nothing is kept of other tests."""
    monkeypatch.setattr("django.db.transaction.on_commit", lambda act: act())
    monkeypatch.setattr("kitchen.play.turn.page_broadcast.nudge_pages", lambda *told: None)
    monkeypatch.setattr("kitchen.play.episode.advance_episode.ask_coplayers", lambda *told: None)
    monkeypatch.setattr(turn_cache, "_turns", type(turn_cache._turns)())


def page_of(episode: Episode, number: int = 0, **more: Any) -> OpenPage:
    page, answer = open_page(
        episode.seats.get(number=number).key, f"page-of-{number}", newest=True, json=True, **more
    )
    assert page and answer.texts
    return page


def command(page: OpenPage, step: int, *words: str) -> PageAnswer:
    answer = page.command(CommandMessage(step, words))
    assert isinstance(answer, PageAnswer)
    return answer


def replays(episode: Episode) -> bool:
    """Whether the log gives every hash again, and the state that is stored."""
    episode.refresh_from_db()
    world = OpenTurn(episode, ()).world
    world.reset(episode.seed)
    for row in Step.objects.filter(episode=episode).order_by("number"):
        world.step([(entry["seat"], tuple(entry["command"])) for entry in row.commands])
        if world.state_hash() != row.state_hash:
            return False
    return world.to_dict() == episode.state and world.state_hash() == episode.state_hash


def spoken(counted: CaptureQueriesContext) -> list[str]:
    """The statements, but for the marks that a test's own transaction sets in place of BEGIN and COMMIT."""
    said = [query["sql"].strip() for query in counted.captured_queries]
    return [sql for sql in said if not sql.startswith(("SAVEPOINT", "RELEASE SAVEPOINT"))]


def test_a_step_of_one_person_speaks_four_statements_in_its_transaction() -> None:
    page = page_of(make_episode())
    command(page, 1, "goto", "storage0")
    with CaptureQueriesContext(connection) as counted:
        command(page, 2, "get", "storage0", "salmon")
    said = spoken(counted)
    locked = [sql for sql in said if "FOR UPDATE" in sql]
    assert len(locked) == connection.features.has_select_for_update
    assert [sql.split()[0] for sql in said if sql not in locked] == ["SELECT", "INSERT", "UPDATE", "INSERT"]


def test_a_step_beside_instant_co_players_speaks_one_more() -> None:
    page = page_of(make_episode(seats=3, minds=(mind("random", 1), mind("random", 2))))
    command(page, 1, "noop")
    with CaptureQueriesContext(connection) as counted:
        command(page, 2, "noop")
    assert len(spoken(counted)) == 5 + connection.features.has_select_for_update
    assert Episode.objects.get().step == 2


def test_a_page_is_opened_with_few_statements() -> None:
    episode = make_episode()
    with CaptureQueriesContext(connection) as counted:
        open_page(episode.seats.get().key, "page", newest=True, json=True)
    assert len(spoken(counted)) <= 6


def test_a_look_at_what_is_kept_reads_one_statement() -> None:
    page = page_of(make_episode())
    with CaptureQueriesContext(connection) as counted:
        assert page.look() == PageAnswer()
    assert len(spoken(counted)) == 1


def test_a_step_that_another_process_took_is_seen_under_the_lock() -> None:
    episode = make_episode()
    with read_turn(episode.pk) as turn:
        pass
    stale = turn_cache._take(episode.pk)
    assert stale is turn
    submit(episode, 1, "goto", "storage0")
    turn_cache._put(stale)
    assert submit(episode, 1, "goto", "pot0").code == "late"
    assert submit(episode, 2, "get", "storage0", "salmon").accepted
    assert replays(episode)


def test_the_same_episode_played_in_turn_by_two_processes_replays() -> None:
    episode = make_episode()
    mine: OpenTurn | None = None
    theirs: OpenTurn | None = None
    for step in range(1, 13):
        with read_turn(episode.pk) as turn:
            legal = turn.world.legal_actions(0)
        assert submit(episode, step, *legal[step * 5 % len(legal)]).accepted
        if step % 3:
            mine, theirs = theirs, turn_cache._take(episode.pk)
            if mine:
                turn_cache._put(mine)
    assert replays(episode)


def test_a_command_that_another_process_took_counts_although_it_is_not_kept() -> None:
    episode = make_episode(seats=2)
    with read_turn(episode.pk):
        pass
    stale = turn_cache._take(episode.pk)
    assert stale
    submit(episode, 1, "goto", "pot0", seat=1)
    turn_cache._put(stale)
    assert submit(episode, 1, "goto", "storage0").accepted
    assert [entry["command"] for entry in Step.objects.get().commands] == [
        ["goto", "storage0"],
        ["goto", "pot0"],
    ]
    assert replays(episode)


def test_a_step_worked_out_with_a_command_that_is_not_stored_is_worked_out_again() -> None:
    episode = make_episode(seats=2)
    with exclusive_turn(episode.pk) as turn:
        turn.given = {1: SeatCommand(episode=episode, step=1, seat=1, command=["goto", "pot1"])}
    assert submit(episode, 1, "goto", "storage0").accepted
    assert not Step.objects.exists(), "the other seat has not commanded"
    assert submit(episode, 1, "goto", "pot0", seat=1).accepted
    assert Step.objects.get().commands[1]["command"] == ["goto", "pot0"]
    assert replays(episode)


def test_what_goes_wrong_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    episode = make_episode()
    submit(episode, 1, "noop")
    with monkeypatch.context() as broken, pytest.raises(ZeroDivisionError):
        broken.setattr(step_store, "_store_log_row", lambda *told: 1 / 0)
        submit(episode, 2, "goto", "storage0")
    assert episode.pk not in turn_cache._turns
    assert submit(episode, 2, "goto", "pot0").accepted
    assert replays(episode)


def test_what_is_kept_is_bounded_and_the_longest_unused_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_cache, "MAX_TURNS", 2)
    one, two, three = (make_episode() for _ in range(3))
    for episode in (one, two, one, three):
        with read_turn(episode.pk):
            pass
    assert list(turn_cache._turns) == [one.pk, three.pk]


def test_what_is_over_or_was_not_used_for_long_is_kept_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    ended, left, played = make_episode(steps=1), make_episode(), make_episode()
    with read_turn(left.pk):
        pass
    assert submit(ended, 1, "noop").accepted
    assert list(turn_cache._turns) == [left.pk]
    monkeypatch.setattr(turn_cache, "MAX_IDLE_MINUTES", 0.0)
    submit(played, 1, "noop")
    assert left.pk not in turn_cache._turns


def test_a_turn_is_taken_by_one_thread_at_a_time() -> None:
    episode = make_episode()
    with read_turn(episode.pk) as first, exclusive_turn(episode.pk) as second:
        assert first is not second


def test_a_key_that_was_changed_closes_the_page_and_a_newer_page_too() -> None:
    episode = make_episode()
    page = page_of(episode)
    Seat.objects.update(page="another")
    assert page.look().close == 4409
    Seat.objects.update(key="another")
    assert page.look().close == 4404


def test_an_episode_made_anew_under_the_same_number_is_not_taken_for_the_old_one() -> None:
    episode = make_episode(label="old")
    with read_turn(episode.pk):
        pass
    with erasure_allowed():
        Episode.objects.filter(pk=episode.pk).delete()
    anew = make_episode(label="new")
    Episode.objects.filter(pk=anew.pk).update(id=episode.pk)
    Seat.objects.update(episode=episode.pk)
    with read_turn(episode.pk) as turn:
        assert turn.episode.label == "new"


def test_all_pages_of_a_process_are_compared_in_one_statement(
    django_assert_num_queries: Any,
) -> None:
    pages = [page_of(make_episode(step_seconds=30)), page_of(make_episode(seats=2))]
    command(pages[1], 1, "noop")
    with django_assert_num_queries(1):
        stored = seat_states([page.seat.pk for page in pages])
    assert stored == {page.seat.pk: (page.seat.key, page.name, page.stamp) for page in pages}
    submit(pages[0].seat.episode, 1, "noop")
    assert seat_states([pages[0].seat.pk])[pages[0].seat.pk][2] != pages[0].stamp


@pytest.mark.parametrize(("seats", "told"), [(1, 0), (2, 1)])
def test_only_pages_that_wait_for_no_answer_are_nudged(
    seats: int, told: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    nudged: list[Any] = []
    page = page_of(make_episode(seats=seats))
    monkeypatch.setattr("kitchen.play.turn.page_broadcast.nudge_pages", lambda *said: nudged.append(said))
    command(page, 1, "noop")
    assert nudged == [(page.seat.episode_id, page.stamp)] * told


class Counting(Agent):
    """Remembers how often it was asked."""

    kind = "counting"

    async def decide(self, situation: Situation) -> Decision:
        return Decision({}, memory=(situation.memory or 0) + 1)


def test_what_a_mind_remembers_is_read_anew_after_a_step_that_another_process_decided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(AGENTS, "counting", f"{__name__}:Counting")
    monkeypatch.setattr("kitchen.play.episode.advance_episode.run_step_later", lambda *told: None)
    one, two = type(turn_cache._turns)(), type(turn_cache._turns)()
    episode = make_episode(seats=2, minds=(mind("counting", 1),), thinking_seconds=30)
    for step, decides in enumerate((one, two, one), start=1):
        monkeypatch.setattr(turn_cache, "_turns", type(turn_cache._turns)())
        submit(episode, step, "noop")
        monkeypatch.setattr(turn_cache, "_turns", decides)
        decide_step(episode_id=episode.pk, step=step)
        monkeypatch.setattr(turn_cache, "_turns", one)
        Episode.objects.update(thinking_seconds=0)
        assert run_due_step(episode_id=episode.pk, step=step)
        Episode.objects.update(thinking_seconds=30)
    assert list(DecisionRow.objects.values_list("memory", flat=True)) == [1, 2, 3]


def test_a_page_that_could_not_be_drawn_is_sent_all_of_it_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    page = page_of(make_episode())
    submit(page.seat.episode, 1, "noop")
    with monkeypatch.context() as broken, pytest.raises(ZeroDivisionError):
        broken.setattr(seat_view, "seat_view_in_turn", lambda *told: 1 / 0)
        page.look()
    assert json.loads(page.look().texts[0])["step"] == 1
