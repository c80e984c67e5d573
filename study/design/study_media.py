"""Return the media files of a study, and store such files, for the file of a whole study.

A study has no media in this version. Files that have some are refused, so that nothing is lost unseen.
"""

from __future__ import annotations

from collections.abc import Mapping

from kitchen.contract.data_files import DataError
from study.design.models import Study


def media_of(study: Study) -> dict[str, bytes]:
    """Return the media of a study: the content of each file by its name."""
    return {}


def store_media(study: Study, files: Mapping[str, bytes]) -> None:
    """Store media of a study, by name. Raises DataError if a file is refused."""
    for name in files:
        raise DataError(f"media/{name}: this version of Brigade stores no media")
