"""An episode of agents alone under way: its world, what its members remember, and what was said."""

from __future__ import annotations

import json

from kitchen.agents.episode_loop import EpisodeLoop
from kitchen.agents.teams import DecisionMade, StepMade, Team
from kitchen.contract.agent import Agent
from kitchen.contract.organisation import Organisation
from kitchen.contract.world import Json, World
from kitchen.experiments.entries import Entry, Head
from kitchen.experiments.log import Log, LogError
from kitchen.registry.agents import make_agents
from kitchen.registry.figures import with_log_metrics
from kitchen.registry.worlds import get_world


class Course(EpisodeLoop):
    """Where an episode is. It begins at its start."""

    def __init__(self, head: Head) -> None:
        """WorldError where its world or its team cannot be made."""
        self.head = head
        super().__init__(game_of(head), head.seed, team_of(head), head.world_settings)

    def agents(self) -> dict[int, Agent]:
        """Make the agent of each member, by its number. SettingsError, UnknownNameError."""
        numbers = (member.number for member in self.team.members)
        return dict(zip(numbers, make_agents(self.team.kinds, self.head.settings), strict=True))

    def score(self) -> dict[str, Json]:
        """Return the score of the episode, with the figures that follow from its log."""
        return with_log_metrics(self.game.score(), self.log())

    def repeat(self, entry: Entry) -> bool:
        """Take one step as it was kept; return whether it leads to the same state and the same reports."""
        reports = self.take(self.kept(entry))
        kept = tuple(said for said in entry.messages if said.step > entry.step)
        return self.game.state_hash() == entry.state_hash and reports == kept

    def kept(self, entry: Entry) -> StepMade:
        """Return the coming step as this entry of its log keeps it; LogError where it cannot be one."""
        if not self._is_of_team(entry):
            raise LogError(f"has other members in step {entry.step}")
        said = tuple(each for each in entry.messages if each.step == entry.step)
        if entry.decisions or not entry.asked:
            return StepMade(entry.commands, entry.decisions, said)
        joint = DecisionMade(
            self.team.members[0].number,
            self.joint_reason,
            entry.played_by,
            entry.fallback,
            entry.milliseconds,
            entry.memory,
            entry.note,
            entry.calls,
            entry.plans,
        )
        return StepMade(entry.commands, (joint,))

    def _is_of_team(self, entry: Entry) -> bool:
        """Whether those who decided and remember are this team."""
        numbers = {member.number for member in self.team.members}
        if self.team.organisation is not None:
            made = {each.member for each in entry.decisions}
            return entry.asked == bool(made) and made <= numbers
        if entry.decisions or len(numbers) == 1 or not entry.asked:
            return not entry.decisions
        return isinstance(entry.memory, list) and len(entry.memory) == len(numbers)

    def catch_up(self, log: Log) -> None:
        """Go to where this log of it ends, whichever version of Brigade wrote it; LogError where it is
        another episode's, or leads elsewhere."""
        if _told(log.head) != json.loads(json.dumps(_told(self.head))):
            raise LogError(f"is not the log of {self.head}, as it is played now")
        for entry in log.entries:
            if not self.repeat(entry):
                raise LogError(f"leads elsewhere from step {entry.step} on")


def game_of(head: Head) -> World:
    """Make the world of an episode at its start; WorldError where that cannot be."""
    game = get_world(head.world).create(seats=head.agents, settings=head.world_settings)
    game.reset(head.seed)
    return game


def team_of(head: Head) -> Team:
    """Return who plays an episode; SettingsError where they do not fit its seats."""
    organisation = None if head.organisation is None else Organisation.from_json(head.organisation)
    return Team.of(head.coplayer, head.agents, organisation, head.knowing)


def _told(head: Head) -> dict[str, Json]:
    return {**head.to_json(), "program": ""}
