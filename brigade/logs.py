"""Log lines without secrets. Whoever knows a participant's or a seat's key is that person, so no log may
hold one: not in a message, not in its arguments, not in a traceback.

Lines are for people (`LineFormatter`) or for programs (`JsonFormatter`); both say what they are about, as far
as it is known (`kitchen.machine.about`).
"""

from __future__ import annotations

import json
import logging
import re
from copy import copy
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import WatchedFileHandler
from pathlib import Path

from kitchen.machine.about import known
from kitchen.machine.storage import trouble_of

_ADDRESS = r"(?:(?<![\w-])|(?<=%2F))(?:p|ws/seat|ws%2Fseat)(?:/|%2F)"
"""What stands before the key in `/p/<key>/` and `/ws/seat/<key>/`, also where it is quoted in a query."""
_NAMED = r"\bkey\b[\"')]*\s*[=:]\s*[\"'(]*(?=[\w-]{22}(?![\w-]))"
"""What stands before a key in `key='…'`, `'key': '…'` and PostgreSQL's `Key (key)=(…)`."""
_PROGRAM = r"brigade_(?=[\w-]{43})"
"""How a token of the API begins, whatever stands before and after it: `%20brigade_…` is a quoted one."""
_SECRET = re.compile(rf"({_ADDRESS}|{_NAMED}|{_PROGRAM})([\w-]{{4}})[\w-]{{4,}}", re.IGNORECASE)


def shortened(text: str) -> str:
    """The text with the keys in it cut to four characters, enough to tell two people apart."""
    return _SECRET.sub(r"\1\2…", text)


class DiscreetFormatter(logging.Formatter):
    """Shortens what comes out of it: message, arguments, traceback and stack alike, whoever logs."""

    def format(self, record: logging.LogRecord) -> str:
        """The whole entry, without secrets. A line is enough where somebody was refused, or the database or
        Redis is away."""
        return shortened(super().format(_as_told(record)))


class LineFormatter(DiscreetFormatter):
    """For people: what it is about stands behind the message, in brackets."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        """The line before a traceback."""
        about = " ".join(f"{name}={value}" for name, value in known().items())
        return super().formatMessage(record) + (f" [{about}]" if about else "")


class JsonFormatter(DiscreetFormatter):
    """For programs: an entry is one line of JSON, its traceback in it."""

    def format(self, record: logging.LogRecord) -> str:
        """`time` (UTC), `level`, `logger`, `message`, what it is about, and `traceback` if there is one."""
        record = _as_told(record)
        traceback = self.formatException(record.exc_info) if record.exc_info else record.exc_text or ""
        said = {"message": record.getMessage(), "traceback": traceback, "stack": record.stack_info or ""}
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            **known(),
            **{name: shortened(text) for name, text in said.items() if text or name == "message"},
        }
        return json.dumps(entry, ensure_ascii=False)


def _as_told(record: logging.LogRecord) -> logging.LogRecord:
    refused = record.name == "django.request" and record.levelno < logging.ERROR
    if refused or record.name == "django.security.DisallowedHost":
        return _in_one_line(record)
    if record.exc_info and (why := trouble_of(record.exc_info[1])):
        return _in_one_line(record, why=f": {why}")
    if record.name.startswith("channels_redis.") and record.exc_info:
        return _in_one_line(record, why=f": {type(record.exc_info[1]).__name__}: {record.exc_info[1]}")
    return record


def _in_one_line(record: logging.LogRecord, why: str = "") -> logging.LogRecord:
    """The entry without its traceback; `why` is added to its words."""
    short = copy(record)
    short.msg, short.args = " ".join((record.getMessage() + why).split()), ()
    short.exc_info = short.exc_text = None
    return short


class OwnFile(WatchedFileHandler):
    """A log of its own, made with its folder when the first line is written, and made anew when it was put
    aside. Where nothing can be written the line goes to standard error, and nobody's page fails for it."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the line, as far as that is possible."""
        try:
            super().emit(record)
        except OSError:
            self.handleError(record)

    def _open(self) -> TextIOWrapper:
        Path(self.baseFilename).parent.mkdir(parents=True, exist_ok=True)
        return super()._open()
