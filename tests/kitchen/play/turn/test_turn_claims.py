"""Who decides a step owns a claim: nobody decides over it, and a dead worker's is free at once."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import psycopg
import pytest
from django.db import Error, InterfaceError, OperationalError, connection

from kitchen import tasks
from kitchen.infra.append_only import erasure_allowed
from kitchen.infra.os_processes import process_is_gone, process_name
from kitchen.infra.renewal_watch import RenewalWatch
from kitchen.play.coplayers import agent_decisions
from kitchen.play.coplayers.agent_decisions import ask_mind, decide_step
from kitchen.play.coplayers.agent_situations import MindOutcome
from kitchen.play.episode import advance_episode
from kitchen.play.episode.advance_episode import submit_commands
from kitchen.play.models import Decision, Episode, Mind
from kitchen.play.turn import turn_claims
from kitchen.play.turn.decision_records import store_calls
from kitchen.play.turn.submitted_commands import Receipt
from kitchen.play.turn.turn_cache import read_turn
from kitchen.play.turn.turn_searches import turns_to_decide
from tests.kitchen.factories import make_episode, mind, submit

pytestmark = [pytest.mark.django_db, pytest.mark.servers, pytest.mark.sqlite]
LONG_AGO = "2020-01-01T00:00:00Z"


@pytest.fixture
def episode() -> Episode:
    """One that waits for its co-player."""
    found = make_episode(seats=2, minds=(mind("random", 1),))
    submit(found, 1, "noop")
    return found


def claim(episode: Episode) -> str:
    return turn_claims.claim_decision(episode_id=episode.pk, step=1)


def test_only_the_owner_keeps_a_claim(episode: Episode) -> None:
    mine = claim(episode)
    assert turn_claims.renew_claims({mine: episode.pk})
    Mind.objects.update(deciding_until=LONG_AGO)
    assert turn_claims.renew_claims({mine: episode.pk}), "lapsed, and nobody came"
    Mind.objects.update(deciding_until=LONG_AGO)
    assert (yours := claim(episode))
    assert not turn_claims.renew_claims({mine: episode.pk})
    assert Mind.objects.get().deciding_by == yours


def test_nobody_hands_in_a_decision_over_the_live_claim_of_another(
    episode: Episode, caplog: pytest.LogCaptureFixture
) -> None:
    mine = claim(episode)
    Mind.objects.update(deciding_until=LONG_AGO)
    yours = claim(episode)
    receipt = decide_step(episode_id=episode.pk, step=1, claim=mine)
    assert receipt and receipt.code == "taken"
    assert Decision.objects.get().dropped == "taken"
    assert "decided in vain (taken); 0 calls" in caplog.text
    receipt = decide_step(episode_id=episode.pk, step=1, claim=yours)
    assert receipt and receipt.accepted


def test_whoever_lost_a_claim_to_nobody_hands_in_all_the_same(episode: Episode) -> None:
    mine = claim(episode)
    Mind.objects.update(deciding_until=LONG_AGO)
    receipt = decide_step(episode_id=episode.pk, step=1, claim=mine)
    assert receipt and receipt.accepted
    assert turn_claims.claim_decision(episode_id=episode.pk, step=2), "a claim is of one step"


@pytest.mark.parametrize("failure", [InterfaceError("connection already closed"), OperationalError("away")])
def test_a_claim_outlives_a_database_that_is_away_for_a_moment(
    monkeypatch: pytest.MonkeyPatch, failure: Error
) -> None:
    kept, enough = [], threading.Event()

    def keep(held: dict[str, int]) -> int:
        kept.append(held)
        if len(kept) == 1:
            raise failure
        enough.set()
        return 1

    monkeypatch.setattr(turn_claims, "RENEW_SECONDS", 0.01)
    monkeypatch.setattr(turn_claims, "renew_claims", keep)
    monkeypatch.setattr(turn_claims, "_keeper", turn_claims._Keeper())
    with turn_claims.renewed_claim(1, "mine"), turn_claims.renewed_claim(2, "yours"):
        assert enough.wait(10)
    assert kept[1] == {"mine": 1, "yours": 2}


def test_a_dead_workers_claim_is_free_at_once_and_a_living_ones_is_not(episode: Episode) -> None:
    claim(episode)
    Episode.objects.update(turn_opened_at=LONG_AGO)
    tasks.pick_up_open_turns()
    assert turns_to_decide() == []
    Mind.objects.update(deciding_by=f"{name_of_a_dead_process()}#1")
    assert turn_claims.release_dead_claims() == 1
    assert turns_to_decide() == [(episode.pk, 1)]


def test_a_claim_of_another_machine_is_free_when_it_is_not_renewed_any_more(
    monkeypatch: pytest.MonkeyPatch, episode: Episode
) -> None:
    seconds = [0.0]
    monkeypatch.setattr(
        turn_claims, "_watch", RenewalWatch(turn_claims.VANISHED_SECONDS, clock=lambda: seconds[0])
    )
    claimed = f"another-machine/pid:[1]/2/3#{claim(episode)}"
    Mind.objects.update(deciding_by=claimed)
    for seconds[0] in (0.0, 1.5, 2.5):
        turn_claims.renew_claims({claimed: episode.pk})
        assert turn_claims.release_dead_claims() == 0
    for seconds[0] in (4.0, 5.4):
        assert turn_claims.release_dead_claims() == 0
    seconds[0] = 5.5
    assert turn_claims.release_dead_claims() == 1
    assert turn_claims.claim_decision(episode_id=episode.pk, step=1)


def test_a_claim_that_is_renewed_before_it_is_released_is_kept(
    monkeypatch: pytest.MonkeyPatch, episode: Episode
) -> None:
    claimed = f"another-machine/pid:[1]/2/3#{claim(episode)}"
    Mind.objects.update(deciding_by=claimed)

    def abandoned(ends: Mapping[str, Any]) -> list[str]:
        turn_claims.renew_claims({claimed: episode.pk})
        return list(ends)

    monkeypatch.setattr(turn_claims._watch, "abandoned", abandoned)
    assert turn_claims.release_dead_claims() == 0
    assert Mind.objects.get().deciding_by == claimed


@pytest.mark.skipif(not connection.features.has_select_for_update_skip_locked, reason="has no locks of rows")
@pytest.mark.django_db(transaction=True)
def test_a_locked_row_delays_no_renewal_and_is_not_released() -> None:
    locked, free = make_episode(minds=(mind("random", 0),)), make_episode(minds=(mind("random", 0),))
    claims = {each.pk: claim(each) for each in (locked, free)}
    ends = ends_of_claims()
    with psycopg.connect(**connection.get_connection_params()) as other:
        other.execute("UPDATE kitchen_mind SET kind = kind WHERE episode_id = %s", [locked.pk])
        assert turn_claims.renew_claims({by: pk for pk, by in claims.items()}) == 1
        dead = {by: ends[pk] for pk, by in claims.items()}
        assert turn_claims._release(Mind.objects.all(), dead) == 0
    renewed = ends_of_claims()
    assert renewed[free.pk] > ends[free.pk] and renewed[locked.pk] == ends[locked.pk]


def ends_of_claims() -> dict[int, datetime]:
    """By episode."""
    return {each.episode_id: each.deciding_until for each in Mind.objects.all() if each.deciding_until}


def name_of_a_dead_process() -> str:
    """Of a Python that has said its name and ended."""
    say = "from kitchen.infra.os_processes import process_name; print(process_name())"
    return subprocess.run(
        [sys.executable, "-c", say], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_a_process_is_gone_when_it_has_ended_and_not_when_it_cannot_be_seen() -> None:
    place, _, _ = process_name().rpartition("/")
    assert not process_is_gone(process_name())
    assert process_is_gone(f"{place}/1"), "the same number, another start"
    assert process_is_gone(name_of_a_dead_process())
    assert not process_is_gone("another-machine/pid:[1]/2/3")
    assert not process_is_gone("")


# Handing in


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("failures", [1, 3])
def test_what_was_paid_for_is_handed_in_again_and_no_model_is_asked_again(
    episode: Episode, monkeypatch: pytest.MonkeyPatch, failures: int
) -> None:
    asked: list[str] = []
    tries: list[int] = []

    def ask(kind: str, *told: Any) -> MindOutcome:
        asked.append(kind)
        return ask_mind(kind, *told)

    def store(decided: Any) -> None:
        tries.append(1)
        store_calls(decided)
        if len(tries) <= failures:
            break_connection()

    monkeypatch.setattr(advance_episode, "store_calls", store)
    monkeypatch.setattr("kitchen.infra.db_retry.RETRY_WAITS", (0.0, 0.0, 0.0))
    monkeypatch.setattr(agent_decisions, "ask_mind", ask)
    receipt = decide_step(episode_id=episode.pk, step=1)
    assert receipt and receipt.accepted
    assert (len(tries), asked) == (failures + 1, ["random"])
    assert Decision.objects.get().fallback == ""


def break_connection() -> None:
    """In the middle of the transaction, as when PostgreSQL starts anew; SQLite can only be locked."""
    if connection.vendor == "postgresql":
        connection.connection.close()
    else:
        raise OperationalError("database is locked")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("thinking", [0.0, 60.0], ids=["the step is over", "the step is to run later"])
def test_what_was_stored_and_not_said_is_handed_in_once_and_told(
    episode: Episode, thinking: float, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The commit happened, its answer was lost, and with it what was to be done after it."""
    Episode.objects.update(thinking_seconds=thinking)
    tries, nudged = list[int](), list[int]()

    def lost(**told: Any) -> Receipt:
        tries.append(1)
        if len(tries) > 1:
            return submit_commands(**told)
        with monkeypatch.context() as unsaid:
            unsaid.setattr("django.db.transaction.on_commit", lambda *told, **more: None)
            submit_commands(**told)
        raise OperationalError("the connection is closed")

    monkeypatch.setattr(agent_decisions, "submit_commands", lost)
    monkeypatch.setattr(agent_decisions, "nudge_pages", nudged.append)
    monkeypatch.setattr("kitchen.infra.db_retry.RETRY_WAITS", (0.0,))
    receipt = decide_step(episode_id=episode.pk, step=1)
    assert receipt and receipt.accepted and len(tries) == 2
    assert nudged == [episode.pk] and "decided in vain" not in caplog.text
    assert Decision.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_what_another_worker_stored_meanwhile_is_not_taken_for_ours(
    episode: Episode, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tries = list[int]()

    def overtaken(**told: Any) -> Receipt:
        tries.append(1)
        if len(tries) > 1:
            return submit_commands(**told)
        monkeypatch.setattr(agent_decisions, "submit_commands", submit_commands)
        decide_step(episode_id=episode.pk, step=1)
        raise OperationalError("the connection is closed")

    monkeypatch.setattr(agent_decisions, "submit_commands", overtaken)
    monkeypatch.setattr("kitchen.infra.db_retry.RETRY_WAITS", (0.0,))
    receipt = decide_step(episode_id=episode.pk, step=1)
    assert receipt and not receipt.accepted and "decided in vain" in caplog.text


@pytest.mark.parametrize("late", [False, True], ids=["not stored", "stored, and not said"])
def test_a_step_is_taken_up_although_the_database_was_away_at_that_moment(
    episode: Episode, late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody else could take it up for as long as the claim holds."""
    take, tries = turn_claims._take, list[int]()

    def stored(*told: Any) -> bool:
        tries.append(1)
        taken = take(*told) if late or len(tries) > 1 else True
        if len(tries) == 1:
            raise OperationalError("the connection is closed")
        return taken

    monkeypatch.setattr(turn_claims, "_take", stored)
    monkeypatch.setattr("kitchen.infra.db_retry.RETRY_WAITS", (0.0,))
    monkeypatch.setattr("kitchen.infra.db_retry.close_failed_connection", lambda trouble: None)
    mine = claim(episode)
    assert mine and Mind.objects.get().deciding_by == mine


def test_a_step_is_read_again_where_the_database_was_away(
    episode: Episode, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, tries = read_turn, list[int]()

    def away(episode_id: int) -> Any:
        tries.append(1)
        if len(tries) == 1:
            raise OperationalError("the connection is closed")
        return read(episode_id)

    monkeypatch.setattr(agent_decisions, "read_turn", away)
    monkeypatch.setattr("kitchen.infra.db_retry.RETRY_WAITS", (0.0,))
    monkeypatch.setattr("kitchen.infra.db_retry.close_failed_connection", lambda trouble: None)
    receipt = decide_step(episode_id=episode.pk, step=1, claim=claim(episode))
    assert receipt and receipt.accepted


def test_a_database_that_stays_away_is_not_tried_for_ever(
    episode: Episode, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []

    def away(**told: object) -> Receipt:
        tries.append(1)
        raise OperationalError("away")

    monkeypatch.setattr(agent_decisions, "submit_commands", away)
    monkeypatch.setattr("kitchen.infra.db_retry.RETRY_WAITS", (0.0, 0.0))
    with pytest.raises(OperationalError):
        decide_step(episode_id=episode.pk, step=1)
    assert len(tries) == 3


def test_a_person_who_left_meanwhile_spoils_nothing(
    episode: Episode, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ask = agent_decisions.ask_mind

    def ask_and_leave(*told: object) -> MindOutcome:
        with erasure_allowed():
            Episode.objects.all().delete()
        return ask(*told)  # type: ignore[arg-type]

    monkeypatch.setattr(agent_decisions, "ask_mind", ask_and_leave)
    assert decide_step(episode_id=episode.pk, step=1) is None
    assert "decided in vain (gone)" in caplog.text
