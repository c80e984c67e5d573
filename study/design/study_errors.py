"""Define the errors that the study's services raise and its pages show.

Errors::

    Exception
    ├── DesignError        a design cannot be changed like that; the message is for the researcher
    ├── EntryPausedError   too many people begin at once, so entry is paused for a while
    ├── StudyClosedError   the study takes no new participants
    ├── TookPartError      this person took part before, and left afterwards
    └── TypeError
        └── FrozenError    a change would alter what stored data or active participants depend on
"""

from __future__ import annotations

from datetime import datetime


class DesignError(Exception):
    """The design cannot be changed as requested. The message gives the researcher the reason."""


class FrozenError(TypeError):
    """Raised when a change would alter something that stored data or active participants depend on."""


class StudyClosedError(Exception):
    """The study takes no new participants."""


class TookPartError(Exception):
    """The person who wants to enter finished the study before and had their data erased."""


class EntryPausedError(Exception):
    """No new participant can enter before the time `until`, because too many began at once."""

    def __init__(self, until: datetime) -> None:
        super().__init__(f"paused until {until:%H:%M}")
        self.until = until
