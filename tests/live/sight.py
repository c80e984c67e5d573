"""Read step, phase and offered commands from a page's messages, with little processor time."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_BAR = re.compile(rb'<[^<>]*\bid="bar"[^<>]*>')
_STEP = re.compile(rb'\bdata-step="(\d+)"')
_PHASE = re.compile(rb'\bdata-phase="(\w+)"')
_NOTICE = re.compile(rb'<[^<>]*\bid="notice"[^<>]*>\s*<p>')
_TAG = re.compile(rb"<(/?)([a-z][a-z0-9]*)([^<>]*?)(/?)>")
_ID = re.compile(rb'\bid="([^"]+)"')
_COMMAND = re.compile(rb'\bname="command" value="([^"]+)"')
_CONCERNS_MENU = re.compile(rb'"command"|<template|\bid="menu')
_VOID = {b"input", b"br", b"hr", b"img"}


@dataclass(slots=True)
class Sight:
    """The content of one message; a field is None if the message does not contain it."""

    step: int | None = None
    phase: str | None = None
    options: list[Any] | None = None
    """The offered commands: lists of words or, from HTML, JSON texts of such lists."""
    noticed: bool = False
    again: bool = False
    """True if the command could not be stored and must be sent again."""
    """Something was refused or said in words."""


class JsonSight:
    """Reads messages of the subprotocol `brigade.json`."""

    def read(self, text: bytes) -> Sight:
        """Read one message."""
        sent = json.loads(text)
        if sent["type"] == "notice":
            return Sight(noticed=bool(sent["code"]), again=sent["again"])
        if sent["type"] != "state":
            return Sight()
        return Sight(sent["step"], sent["phase"], sent["legal"])

    def say(self, step: int, option: Any) -> bytes:
        """Return a command in the form in which a program sends it."""
        return b'{"type": "command", "step": %d, "command": %s}' % (step, json.dumps(option).encode())


class HtmlSight:
    """Reads HTML fragments, and remembers the page's menu.

    A message has only what changed. In a `template`, it names elements that the page has already.
    """

    def __init__(self) -> None:
        self._parts: dict[bytes, list[bytes]] = {}
        self._commands: dict[bytes, bytes] = {}

    def read(self, text: bytes) -> Sight:
        """Read one message."""
        said = _NOTICE.search(text)
        sight = Sight(noticed=said is not None, again=said is not None and b"data-again" in said[0])
        if bar := _BAR.search(text):
            step, phase = _STEP.search(bar[0]), _PHASE.search(bar[0])
            sight.step = int(step[1]) if step else None
            sight.phase = phase[1].decode() if phase else None
        if _CONCERNS_MENU.search(text):
            self._note(text)
            sight.options = list(self._offered(b"menu"))
        return sight

    def _note(self, text: bytes) -> None:
        """Record by id which element contains which other elements."""
        holders: list[bytes] = [b""]
        for closing, name, rest, closed in _TAG.findall(text):
            if closing:
                holders.pop()
                continue
            found = _ID.search(rest)
            ids = found[1].split() if found else []
            self._parts.setdefault(holders[-1], []).extend(ids)
            if name == b"input":
                if command := _COMMAND.search(rest):
                    self._commands[holders[-1]] = command[1]
            elif ids and name != b"template":
                self._parts[ids[0]] = []
            if not closed and name not in _VOID:
                holders.append(ids[0] if ids and name != b"template" else holders[-1])
        self._parts.pop(b"", None)

    def _offered(self, holder: bytes) -> Iterator[bytes]:
        if command := self._commands.get(holder):
            yield command
        for part in self._parts.get(holder, ()):
            yield from self._offered(part)

    def say(self, step: int, option: bytes) -> bytes:
        """Return a command in the form in which the page's form sends it."""
        command = json.dumps(html.unescape(option.decode())).encode()
        return b'{"type": "command", "step": "%d", "command": %s, "HEADERS": %s}' % (step, command, _HEADERS)


Reader = JsonSight | HtmlSight

_HEADERS = json.dumps(
    {
        "HX-Request": "true",
        "HX-Trigger": "menu",
        "HX-Trigger-Name": None,
        "HX-Target": "menu",
        "HX-Current-URL": "http://127.0.0.1/",
    }
).encode()
