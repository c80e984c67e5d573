"""What live play stores. The log (`Step`, `SeatCommand`, `Decision`) is append-only and is the truth;
`Episode.state` is where it has led to."""

from kitchen.models.append_only import AppendOnlyError
from kitchen.models.calls import CallMessage, ModelCall, Prompt
from kitchen.models.episodes import Episode, Mind, Seat, new_key
from kitchen.models.experiments import Experiment, ExperimentEpisode
from kitchen.models.log import Decision, SeatCommand, Step
from kitchen.models.money import Budget, Spending

__all__ = [
    "AppendOnlyError",
    "Budget",
    "CallMessage",
    "Decision",
    "Episode",
    "Experiment",
    "ExperimentEpisode",
    "Mind",
    "ModelCall",
    "Prompt",
    "Seat",
    "SeatCommand",
    "Spending",
    "Step",
    "new_key",
]
