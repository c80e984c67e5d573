"""Check an episode from a file by a replay, also in a child process that has not loaded Django yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import django
from django.apps import apps
from django.utils.module_loading import import_string

CHECK = "kitchen.replay.episode_file.check_content"
"""Path of the function that replays. Its module imports models, so Django must be loaded before."""


def check_by_replay(content: Mapping[str, Any], seconds: float) -> None:
    """Replay the episode with this content of a file. Raises EpisodeFileError with the reason if it is
    invalid, or if the replay takes longer than `seconds` seconds."""
    if not apps.ready:  # in a child process
        django.setup()
    import_string(CHECK)(content, seconds)
