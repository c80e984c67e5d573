"""How much of a study outages touched, and what is left out of files for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kitchen.words.counting import counted
from study.design.models import Study
from study.exports.chosen import EVERYBODY, Chosen
from study.exports.tables.sittings import episodes_once, in_pieces, touched_steps
from study.people.outages import downtime_of


@dataclass(frozen=True, slots=True)
class TouchedCount:
    """How many episodes, steps in them, and of these steps that were touched themselves."""

    episodes: int = 0
    episodes_steps: int = 0
    steps: int = 0

    def left_out(self, chosen: Chosen) -> str:
        """What is not in the files for it, in words; empty if nothing is."""
        if not chosen.outage_episodes:
            return f"{counted(self.episodes, 'episode')} that an outage touched, {self._steps_in_them}"
        if not chosen.outage_steps:
            return f"{counted(self.steps, 'step')} that an outage touched, in {self._episodes}"
        return ""

    @property
    def _steps_in_them(self) -> str:
        return f"with {counted(self.episodes_steps, 'step')}"

    @property
    def _episodes(self) -> str:
        return counted(self.episodes, "episode")


def touched_count(study: Study, chosen: Chosen = EVERYBODY) -> TouchedCount:
    """Of those who were chosen; an episode that several share counts once."""
    downtime = downtime_of(study)
    if not downtime:
        return TouchedCount()
    everything = replace(chosen, outage_steps=True, outage_episodes=True)
    episodes = held = steps = 0
    for piece in in_pieces(episodes_once(study, everything, downtime)):
        hit = [sitting for sitting in piece if sitting.touch]
        episodes, held = episodes + len(hit), held + sum(sitting.steps for sitting in hit)
        steps += sum(map(len, touched_steps(hit, downtime).values()))
    return TouchedCount(episodes, held, steps)
