"""Reading the logs of experiments again: is each what was written while it was played?"""

from __future__ import annotations

from collections.abc import Iterator

from kitchen.experiments.log import LogError, read_log
from kitchen.experiments.models import ExperimentEpisode
from kitchen.experiments.stored_logs import log_data

OTHER = "its log is not what was written"
AT_ONCE = 100


def logs_verify() -> Iterator[str]:
    """A line for each episode that was played and whose log is gone, damaged or another one."""
    played = ExperimentEpisode.objects.filter(row__isnull=False).select_related("experiment")
    for episode in played.order_by("pk").iterator(AT_ONCE):
        wanted = (episode.row or {}).get("log")
        if wanted and _hash(episode) != wanted:
            yield f"experiment {episode.experiment.pk}, {episode}: {OTHER}"


def _hash(episode: ExperimentEpisode) -> str:
    try:
        return read_log(log_data(episode)).hash
    except LogError:
        return ""
