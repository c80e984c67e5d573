"""What a page sees of a message: step, phase and the commands offered, read with little work."""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass

_BAR = re.compile(rb'<[^<>]*\bid="bar"[^<>]*>')
_STEP = re.compile(rb'\bdata-step="(\d+)"')
_PHASE = re.compile(rb'\bdata-phase="(\w+)"')
_COMMAND = re.compile(rb'name="command" value="([^"]+)"')
_NOTICE = re.compile(rb'<[^<>]*\bid="notice"[^<>]*>\s*<p>')


@dataclass(slots=True)
class Sight:
    """What one message showed; None where it says nothing of it."""

    step: int | None = None
    phase: str | None = None
    options: list[bytes] | None = None
    """Commands, each as JSON text or, from HTML, as it stands in the attribute."""
    noticed: bool = False
    """Something was refused or said in words."""


def of_json(text: bytes) -> Sight:
    """A message of the subprotocol `brigade.json`."""
    sent = json.loads(text)
    if sent["type"] == "notice":
        return Sight(noticed=bool(sent["code"]))
    if sent["type"] != "state":
        return Sight()
    return Sight(sent["step"], sent["phase"], sent["legal"])


def of_html(text: bytes) -> Sight:
    """Fragments; panels that did not change need not be among them."""
    sight = Sight(noticed=_NOTICE.search(text) is not None)
    if bar := _BAR.search(text):
        step, phase = _STEP.search(bar[0]), _PHASE.search(bar[0])
        sight.step = int(step[1]) if step else None
        sight.phase = phase[1].decode() if phase else None
    sight.options = _COMMAND.findall(text) or None
    return sight


def said_json(step: int, option: object) -> bytes:
    """The command as a program sends it."""
    return b'{"type": "command", "step": %d, "command": %s}' % (step, json.dumps(option).encode())


def said_html(step: int, option: bytes) -> bytes:
    """The command as the page's form sends it."""
    command = json.dumps(html.unescape(option.decode())).encode()
    return b'{"type": "command", "step": "%d", "command": %s, "HEADERS": %s}' % (step, command, _HEADERS)


_HEADERS = json.dumps(
    {
        "HX-Request": "true",
        "HX-Trigger": "menu",
        "HX-Trigger-Name": None,
        "HX-Target": "menu",
        "HX-Current-URL": "http://127.0.0.1/",
    }
).encode()
