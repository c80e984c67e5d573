"""Format log lines as text or JSON, and shorten the secret keys in them.

A secret key is part of a participant's personal link, of an invitation of staff, or of a player's websocket
address. API tokens are secret, too. Keys are cut to four characters in messages, arguments and tracebacks.
Each line also shows context, such as the ids of the request and the task.
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

from kitchen.infra.db_errors import database_problem
from kitchen.infra.log_context import current_log_context

_ADDRESS = r"(?:(?<![\w-])|(?<=%2F))(?:p|invitation|ws/seat|ws%2Fseat)(?:/|%2F)"
"""Text before the key in `/p/<key>/`, `/invitation/<secret>/` and `/ws/seat/<key>/`, also if quoted in a
query."""
_NAMED = r"\bkey\b[\"')]*\s*[=:]\s*[\"'(]*(?=[\w-]{22}(?![\w-]))"
"""Text before a key in `key='…'`, `'key': '…'` and PostgreSQL's `Key (key)=(…)`."""
_PROGRAM = r"brigade_(?=[\w-]{43})"
"""Beginning of an API token, whatever is around it: `%20brigade_…` is a quoted one."""
_SECRET = re.compile(rf"({_ADDRESS}|{_NAMED}|{_PROGRAM})([\w-]{{4}})[\w-]{{4,}}", re.IGNORECASE)


def redact_keys(text: str) -> str:
    """Return the text with each secret key cut to its first four characters. Four characters are enough to
    distinguish two people."""
    return _SECRET.sub(r"\1\2…", text)


class RedactingFormatter(logging.Formatter):
    """The base formatter: it shortens keys in everything that is logged."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the log record as text, in which each secret key is cut to its first characters. Refused
        requests and unreachable services (database, Redis) are logged in one line without a traceback."""
        return redact_keys(super().format(_as_told(record)))


class LineFormatter(RedactingFormatter):
    """Write log lines for people. The context follows the message in brackets."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        """Return a log entry as one line of text, with its context (such as the request id) and without its
        traceback."""
        about = " ".join(f"{name}={value}" for name, value in current_log_context().items())
        return super().formatMessage(record) + (f" [{about}]" if about else "")


class JsonFormatter(RedactingFormatter):
    """Write each log entry as one line of JSON, including the traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the entry as a JSON object: `time` (UTC), `level`, `logger`, `message`, the fields of the
        context, and `traceback` if there is one."""
        record = _as_told(record)
        traceback = self.formatException(record.exc_info) if record.exc_info else record.exc_text or ""
        said = {"message": record.getMessage(), "traceback": traceback, "stack": record.stack_info or ""}
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            **current_log_context(),
            **{name: redact_keys(text) for name, text in said.items() if text or name == "message"},
        }
        return json.dumps(entry, ensure_ascii=False)


def _as_told(record: logging.LogRecord) -> logging.LogRecord:
    refused = record.name == "django.request" and record.levelno < logging.ERROR
    if refused or record.name == "django.security.DisallowedHost":
        return _in_one_line(record)
    if record.exc_info and (why := database_problem(record.exc_info[1])):
        return _in_one_line(record, why=f": {why}")
    if record.name.startswith("channels_redis.") and record.exc_info:
        return _in_one_line(record, why=f": {type(record.exc_info[1]).__name__}: {record.exc_info[1]}")
    return record


def _in_one_line(record: logging.LogRecord, why: str = "") -> logging.LogRecord:
    """Return the log entry without its traceback, and with `why` appended to its message."""
    short = copy(record)
    short.msg, short.args = " ".join((record.getMessage() + why).split()), ()
    short.exc_info = short.exc_text = None
    return short


class SeparateLogFile(WatchedFileHandler):
    """A handler that writes to a log file. The file and its folder are created at the first line, and again
    if the file was moved.

    If the file cannot be written, the line goes to standard error, and no exception is raised.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Write the line to the file, or to standard error if the file cannot be written."""
        try:
            super().emit(record)
        except OSError:
            self.handleError(record)

    def _open(self) -> TextIOWrapper:
        Path(self.baseFilename).parent.mkdir(parents=True, exist_ok=True)
        return super()._open()
