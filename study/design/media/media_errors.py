"""Define the error for a file that a study's pages cannot show."""

from __future__ import annotations

from typing import NoReturn


class MediaError(ValueError):
    """Raised when a file is refused. The message is a sentence for the researcher."""


def refuse_type(wanted: str) -> NoReturn:
    """Raise MediaError: the content is not of the type that the name says."""
    raise MediaError(f"The content of this file is not {wanted}, although its name says so.")


def refuse_rest(wanted: str) -> NoReturn:
    """Raise MediaError: something else comes behind the content."""
    raise MediaError(f"Something else is hidden behind {wanted} in this file. Save it again and upload that.")
