"""Errors that the study's services raise and its pages show.

Errors::

    Exception
    ├── DesignError        a design cannot be changed like that; the message is for the researcher
    ├── EntryPausedError   so many begin at once that nobody new is let in for a while
    ├── StudyClosedError   the study takes nobody new
    └── TookPartError      somebody of this name took part, and left afterwards
"""

from __future__ import annotations

from datetime import datetime


class DesignError(Exception):
    """It cannot be done; the message says why, for the researcher."""


class StudyClosedError(Exception):
    """The study takes nobody new."""


class TookPartError(Exception):
    """Who wants to enter took part before, and had the data erased."""


class EntryPausedError(Exception):
    """Nobody new is let in before `until`."""

    def __init__(self, until: datetime) -> None:
        super().__init__(f"paused until {until:%H:%M}")
        self.until = until
