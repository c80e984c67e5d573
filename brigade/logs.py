"""Log lines without secrets. Whoever knows a participant's or a seat's key is that person, so no log may
hold one: not in a message, not in its arguments, not in a traceback. Plain Python, no Django."""

from __future__ import annotations

import logging
import re
from copy import copy
from io import TextIOWrapper
from logging.handlers import WatchedFileHandler
from pathlib import Path

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
        """The whole entry, without secrets. A line is enough where somebody was refused or Redis is
        away."""
        refused = record.name == "django.request" and record.levelno < logging.ERROR
        if refused or record.name == "django.security.DisallowedHost":
            record = _in_one_line(record)
        if record.name.startswith("channels_redis.") and record.exc_info:
            record = _in_one_line(record, why=f": {type(record.exc_info[1]).__name__}: {record.exc_info[1]}")
        return shortened(super().format(record))


def _in_one_line(record: logging.LogRecord, why: str = "") -> logging.LogRecord:
    """The entry without its traceback; `why` is added to its words."""
    short = copy(record)
    short.msg, short.args = " ".join((record.getMessage() + why).split()), ()
    short.exc_info = short.exc_text = None
    return short


class OwnFile(WatchedFileHandler):
    """A log of its own, made with its folder when the first line is written, and made anew when it was put
    aside."""

    def _open(self) -> TextIOWrapper:
        Path(self.baseFilename).parent.mkdir(parents=True, exist_ok=True)
        return super()._open()
