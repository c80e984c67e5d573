"""Describe a policy file: its encoding, the order of its actions, and what it was trained on.

The description is in the file's metadata (`brigade.encoding`, `brigade.actions`, `brigade.settings`,
`brigade.world`, `author`, `licence`, `trained_with`), or a researcher gives it when uploading the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Self

from kitchen.contract.encoding import Encoding
from kitchen.contract.world import Command, Json

MAX_TEXT = 200
"""Maximum number of characters of a text of the description."""
MAX_MESSAGE = 300
"""Maximum number of characters of a message about a file."""
MAX_LISTED = 4096
"""Maximum number of actions, and of characters of the settings."""
LAYOUT = "layout"
"""The setting that a plain list in `brigade.settings` names."""


class PolicyFileError(ValueError):
    """Raised if a policy file cannot be used. `code` is one of `upload_checks.CODES`. Long messages are
    cut."""

    def __init__(self, code: str, message: str) -> None:
        text = message if len(message) <= MAX_MESSAGE else f"{message[:MAX_MESSAGE]}…"
        super().__init__(code, text)
        self.code, self.message = code, text

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class PolicyCard:
    """The description of a policy file."""

    encoding: str = ""
    """Name of the encoding with its version."""
    actions: tuple[Command, ...] = ()
    """The command of each action, in the order of the logits. Empty: the encoding's order."""
    settings: Mapping[str, Json] = field(default_factory=dict)
    """The world's settings in training: a value, or a list of values, by name."""
    world: str = ""
    """The world for which it was trained; empty for every world that has the encoding."""
    author: str = ""
    licence: str = ""
    trained_with: str = ""

    @classmethod
    def from_metadata(cls, given: Mapping[str, str]) -> Self:
        """Return the description in the metadata of a file. Raises PolicyFileError if it cannot be read."""
        return cls(
            encoding=given.get("brigade.encoding", "").strip(),
            actions=_actions(given.get("brigade.actions", "")),
            world=given.get("brigade.world", "").strip()[:MAX_TEXT],
            settings=_settings(given.get("brigade.settings", "")),
            **{
                name: given.get(name, "").strip()[:MAX_TEXT] for name in ("author", "licence", "trained_with")
            },
        )

    @classmethod
    def from_json(cls, stored: Mapping[str, Json]) -> Self:
        """Return the description that `to_json` returned."""
        return cls(**{**stored, "actions": tuple(map(tuple, stored.get("actions", ())))})

    def to_json(self) -> dict[str, Json]:
        """Return the description as JSON."""
        return {**asdict(self), "actions": [list(command) for command in self.actions]}

    def order(self, encoding: Encoding, commands: Sequence[Command]) -> list[int]:
        """Return, for each command of the encoding, the number of the network's action. Raises
        PolicyFileError if the file's actions are not the encoding's commands."""
        if not self.actions:
            return list(range(len(commands)))
        places = {command: number for number, command in enumerate(self.actions)}
        if sorted(places) != sorted(commands) or len(places) != len(self.actions):
            raise PolicyFileError(
                "wrong_output",
                f"brigade.actions does not list the {len(commands)} commands of {encoding.name}",
            )
        return [places[command] for command in commands]

    def unlike(self, settings: Mapping[str, Json]) -> list[str]:
        """Return the settings of a world with which the policy was not trained, each as `layout ring`."""
        found = []
        for name, trained in self.settings.items():
            values = trained if isinstance(trained, list) else [trained]
            if name in settings and settings[name] not in values:
                found.append(f"{name} {settings[name]}")
        return found

    @property
    def trained_on(self) -> str:
        """Return the settings in training as text, such as `layout: cramped_room`."""
        return "; ".join(
            f"{name}: {', '.join(map(str, value if isinstance(value, list) else [value]))}"
            for name, value in self.settings.items()
        )


def _actions(text: str) -> tuple[Command, ...]:
    """Return the commands in a JSON list of texts or of lists, or in a text with spaces or commas between."""
    listed = _json(text) if text.lstrip().startswith("[") else text.replace(",", " ").split()
    if not isinstance(listed, list) or len(listed) > MAX_LISTED:
        raise PolicyFileError("wrong_output", "brigade.actions is no list of commands")
    return tuple(tuple(one.split()) if isinstance(one, str) else _words(one) for one in listed)


def _words(given: Json) -> Command:
    if not isinstance(given, list) or not all(isinstance(word, str) for word in given):
        raise PolicyFileError("wrong_output", "brigade.actions is no list of commands")
    return tuple(given)


def _settings(text: str) -> dict[str, Json]:
    """Return the settings in a JSON object. A list, or a text that is no JSON, names layouts."""
    text = text.strip()
    if not text:
        return {}
    if len(text) > MAX_LISTED:
        raise PolicyFileError("unreadable", f"brigade.settings has more than {MAX_LISTED} characters")
    value = _json(text) if text[0] in "[{" else text.replace(",", " ").split()
    if isinstance(value, list):
        value = {LAYOUT: value}
    return dict(value)


def _json(text: str) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise PolicyFileError("unreadable", "it is no JSON") from None
