"""Import all database models of the app `kitchen`, so that Django finds them.

Other code imports each model from its own package.
"""

from kitchen.experiments.models import Experiment, ExperimentEpisode, ExperimentLog, ModelBatch
from kitchen.money.models import Budget, EpisodeAllowance, Spending
from kitchen.play.models import (
    CallMessage,
    Decision,
    Episode,
    ImportedEpisode,
    Message,
    Mind,
    ModelCall,
    PendingQuestion,
    Prompt,
    Seal,
    Seat,
    SeatCommand,
    StateChange,
    Step,
    Ticking,
)
from kitchen.play.policies.models import UploadedPolicy
from kitchen.uptime.models import Outage, Sign

__all__ = [
    "Budget",
    "CallMessage",
    "Decision",
    "Episode",
    "EpisodeAllowance",
    "Experiment",
    "ExperimentEpisode",
    "ExperimentLog",
    "ImportedEpisode",
    "Message",
    "Mind",
    "ModelBatch",
    "ModelCall",
    "Outage",
    "PendingQuestion",
    "Prompt",
    "Seal",
    "Seat",
    "SeatCommand",
    "Sign",
    "Spending",
    "StateChange",
    "Step",
    "Ticking",
    "UploadedPolicy",
]
