"""Define the errors that worlds raise.

Errors::

    WorldError
    ├── SettingsError   settings, level files or data that cannot be played
    └── StateError      a stored state that this version cannot read
"""

from __future__ import annotations


class WorldError(Exception):
    """The base class of errors that a caller can correct, such as wrong settings. The message is one line."""


class SettingsError(WorldError):
    """Settings or data that cannot be played. The message names the setting or file, and the reason."""


class StateError(WorldError):
    """A stored state that is damaged or was written by another version of the rules."""
