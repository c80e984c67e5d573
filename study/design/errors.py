"""What cannot be done with a study, raised by services and told by pages.

Errors::

    Exception
    ├── DesignError        a design cannot be changed like that; the message is for the researcher
    └── StudyClosedError   the study takes nobody new
"""

from __future__ import annotations


class DesignError(Exception):
    """It cannot be done; the message says why, for the researcher."""


class StudyClosedError(Exception):
    """The study takes nobody new."""
