"""Messages and refused commands are counted from the log."""

from __future__ import annotations

from kitchen.contract.episode_log import EpisodeLog, LoggedStep
from kitchen.contract.team_messages import TeamMessage
from kitchen.contract.world import Event
from kitchen.worlds.blocks.goal_worlds import MESSAGE_METRICS


def test_messages_of_members_and_refused_commands_are_counted() -> None:
    said = [
        TeamMessage(1, 1, 0, (1,), "say", "What do you have?"),
        TeamMessage(2, 1, None, (0, 1), "say", "from the platform"),
        TeamMessage(3, 2, 1, (0,), "end", ""),
    ]
    events = (Event("refused", 0, {"command": ["stop"], "reasons": ["nothing_there"]}), Event("done", 1))
    log = EpisodeLog("blocks_crafting", {}, 2, 0, (LoggedStep(1, (), events, {}),), tuple(said))
    assert MESSAGE_METRICS.measure(log) == {"messages_sent": 1, "refused_commands": 1}
