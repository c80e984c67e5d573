"""Let steps wait for people who lead without a seat, where the schedule asks them.

The schedule says in which steps a leader is asked. Such a step waits until every worker has a job, until the
leader says that there are no more jobs now, or until the time limit ends. The end of each wait is stored as
an empty message of the kind `end` to nobody.
"""

from __future__ import annotations

from kitchen.contract.assigned_jobs import BY_PLATFORM
from kitchen.contract.mailbox import RAN_OUT_KEY
from kitchen.contract.organisation import END
from kitchen.contract.team_messages import MessageDraft
from kitchen.contract.world import Json
from kitchen.play.turn.conversation import add_platform_message, mailbox_of
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.step_store import await_answer


def is_leader_awaited(turn: OpenTurn, seat: int) -> bool:
    """Return whether the open step waits for the leader with this seat number, who has no seat in the
    world."""
    return seat in turn.leaders & turn.people_to_answer


def have_all_workers_jobs(turn: OpenTurn, seat: int) -> bool:
    """Return whether every member whom this leader commands has an open job."""
    mailbox, team = mailbox_of(turn), turn.episode.team
    if mailbox is None or team is None:
        return False
    return set(team.commanded_by(seat)) <= {job.worker for job in mailbox.open_jobs}


def stop_waiting_for_leader(turn: OpenTurn, seat: int, *, ran_out: bool = False) -> None:
    """Store that this leader gives no more jobs in the open step, or that the time `ran_out`. The step no
    longer waits for the leader.

    Call this inside a transaction, with the turn refreshed and locked.
    """
    data: dict[str, Json] = {BY_PLATFORM: True, **({RAN_OUT_KEY: True} if ran_out else {})}
    add_platform_message(turn, seat, (), MessageDraft("", END, data=data))
    await_answer(turn, seat, waits=False)
