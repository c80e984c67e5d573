"""scored_events.csv: each event with its values, in the rows of those who know all of its messages."""

from __future__ import annotations

from kitchen.contract.episode_log import ScoredEvent
from kitchen.play.models import Message
from kitchen.registry.world_metrics import event_columns
from kitchen.registry.world_registry import WORLDS
from study.exports.tables.messages_tables import Share
from study.exports.tables.scored_events_table import COLUMNS, event_rows

EVENTS = (
    ScoredEvent(3, "right", (1, 2), {"gain": 0.5, "plan": ""}, ()),
    ScoredEvent(4, "wrong", (3,), {"gain": 0.0, "plan": "cut"}, ()),
)
READERS = [(Message(number=1), {0}), (Message(number=2), {0, 1}), (Message(number=3), set[int]())]


def test_worlds_name_their_values_unlike_the_other_columns_and_share_equal_ones_only() -> None:
    values = [column for world in WORLDS for column in event_columns([world])]
    assert values and {column.name for column in values}.isdisjoint(column.name for column in COLUMNS)
    assert len(set(values)) == len({column.name for column in values})


def rows(member: int) -> list[tuple[object, ...]]:
    share = Share(member, {0, 1}, 0, {}, READERS, EVENTS)
    return list(event_rows(["gain", "plan", "of_another_world"], share))


def test_an_event_is_in_the_rows_of_those_who_know_all_of_its_messages() -> None:
    assert rows(0) == [
        (3, 1, "right", [1, 2], 0.5, None, None, True),
        (4, 2, "wrong", [3], 0.0, "cut", None, False),
    ]
    assert rows(1) == [], "it could not read message 1"
