"""What this process counts is added to what its neighbours count (`kitchen.machine.tallies`)."""

from __future__ import annotations

import logging

from brigade import places


def count_together() -> None:
    """To be called before anything is counted. Where the folder cannot be written, this process counts for
    itself, and says so."""
    from kitchen.machine import tallies  # only who counts needs it

    try:
        tallies.share(places.metrics_dir())
    except OSError as error:
        said = "what this process does is not in /metrics: %s"
        logging.getLogger(__name__).warning(said, places.unwritable(places.metrics_dir(), error))
