"""Define the errors that the services of `study` raise. Pages show their messages.

Errors::

    Exception
    ├── DesignError        a change of the design is not possible; the message tells the researcher why
    ├── EntryPausedError   too many people begin at once, so entry is paused for a while
    ├── StudyClosedError   the study takes no new participants
    ├── TookPartError      this person took part before, and left afterwards
    └── TypeError
        └── FrozenError    a change would alter what stored data or active participants depend on
"""

from __future__ import annotations

from datetime import datetime


class DesignError(Exception):
    """Raised when the design cannot be changed as requested. The message gives the researcher the reason."""


class FrozenError(TypeError):
    """Raised when a change would alter something that stored data or active participants depend on."""


class StudyClosedError(Exception):
    """Raised when the study takes no new participants."""


class TookPartError(Exception):
    """Raised when a person wants to enter who finished the study before and whose data were erased on
    request."""


class EntryPausedError(Exception):
    """Raised when no new participant can enter before the time `until`, because too many began at once."""

    def __init__(self, until: datetime) -> None:
        super().__init__(f"paused until {until:%H:%M}")
        self.until = until
