"""Run SQL statements on PostgreSQL together and by name, with a third of the work of psycopg's cursors.

The server parses and plans a statement once for each connection, and then runs it by name. Statements that
run together are sent at once, in libpq's pipeline mode, and their results are read together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from psycopg import errors, generators
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ExecStatus, TransactionStatus

MAX_NAMED_STATEMENTS = 200
"""Maximum number of statements that one connection keeps by name."""
MAX_NAMED_VALUES = 128
"""A statement with more parameter values is not kept by name. Most such statements insert many rows, and are
rarely repeated."""


@dataclass(slots=True)
class StatementNames:
    """The names of the statements that the server keeps for one connection, by their text."""

    known: dict[str, bytes] = field(default_factory=dict)
    is_stale: bool = False
    """True if it is unknown which statements the server keeps."""

    def forget(self) -> None:
        """Forget all names, because a statement failed."""
        self.known, self.is_stale = {}, True


_names: WeakKeyDictionary[psycopg.Connection[Any], StatementNames] = WeakKeyDictionary()


class PostgresPipeline:
    """Runs statements on one connection of psycopg by their names."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection
        self._transformer: Any = Transformer(connection)
        self._names = _names.setdefault(connection, StatementNames())

    def run(
        self, statements: Sequence[tuple[str, Sequence[Any]]]
    ) -> Iterator[tuple[int, list[tuple[Any, ...]]]]:
        """Run statements with their parameter values in this order. Return for each the number of rows that
        it read or changed, and the rows that it read.

        The text has `%s` for each value. The types of values follow from the statement, so each value stands
        where the server knows its type: in an INSERT, or beside a column. Outside a transaction block, a new
        transaction begins, or with autocommit all statements are one transaction.

        Raises psycopg's errors. If a statement fails, the iterator first returns the results of those before
        it. If the connection fails, it is closed.
        """
        with self.connection.lock:
            dumped = [(text, self._dumped(values)) for text, values in statements]  # nothing is sent yet
            sent, answers = self._exchange(dumped)
            if any(answer.status == ExecStatus.FATAL_ERROR for answer in answers):
                self._names.forget()
        return self._results(sent, answers)

    def _exchange(self, statements: list[tuple[str, list[bytes | None]]]) -> tuple[list[bool], list[Any]]:
        """Send the statements. Return the answers, and for each whether it is that of a statement."""
        pgconn: Any = self.connection.pgconn
        answers: list[Any] = []
        pgconn.enter_pipeline_mode()
        try:
            sent = self._send_first(pgconn)
            for text, values in statements:
                sent += self._send(pgconn, text, values)
            sent.append(False)
            pgconn.pipeline_sync()
            self.connection.wait(_read_answers(pgconn, answers, len(sent)))
            pgconn.exit_pipeline_mode()
        except BaseException as error:
            self.connection.close()  # else its next statement would read the answers that are left
            if isinstance(error, Exception):
                list(self._results([False] * len(answers), answers))  # raises the first error
            raise
        return sent, answers

    def _results(self, sent: list[bool], answers: list[Any]) -> Iterator[tuple[int, list[tuple[Any, ...]]]]:
        for is_asked, answer in zip(sent, answers, strict=True):
            if answer.status == ExecStatus.FATAL_ERROR:
                raise errors.error_from_result(answer, encoding=self._transformer.encoding)
            if is_asked:
                yield self._result(answer)

    def _dumped(self, values: Sequence[Any]) -> list[bytes | None]:
        dumped: list[bytes | None] = self._transformer.dump_sequence(values, [PyFormat.TEXT] * len(values))
        return dumped

    def _send_first(self, pgconn: Any) -> list[bool]:
        """Send what must come before the statements. Return False for each answer that will come."""
        first = []
        if not self.connection.autocommit and pgconn.transaction_status == TransactionStatus.IDLE:
            first.append(self.connection._get_tx_start_command())
        if self._names.is_stale or len(self._names.known) >= MAX_NAMED_STATEMENTS:
            self._names.known, self._names.is_stale = {}, False
            first.append(b"DEALLOCATE ALL")
        for each in first:
            pgconn.send_query_params(each, None)
        return [False] * len(first)

    def _send(self, pgconn: Any, text: str, values: list[bytes | None]) -> list[bool]:
        """Send a statement. Return, for each answer that will come, whether it is that of the statement."""
        if len(values) > MAX_NAMED_VALUES:
            pgconn.send_query_params(_numbered.__wrapped__(text), values)
            return [True]
        if name := self._names.known.get(text):
            pgconn.send_query_prepared(name, values)
            return [True]
        name = self._names.known[text] = b"brigade_%d" % len(self._names.known)
        pgconn.send_prepare(name, _numbered(text))
        pgconn.send_query_prepared(name, values)
        return [False, True]

    def _result(self, answer: Any) -> tuple[int, list[tuple[Any, ...]]]:
        if answer.status != ExecStatus.TUPLES_OK:
            return answer.command_tuples or 0, []
        self._transformer.set_pgresult(answer)
        return answer.ntuples, self._transformer.load_rows(0, answer.ntuples, tuple)


def _read_answers(pgconn: Any, answers: list[Any], count: int) -> Any:
    """Send what was prepared for sending, and add the first `count` answers to `answers` (a generator for
    psycopg's `wait`). The last one is that of the end of the pipeline."""
    yield from generators.send(pgconn)
    while len(answers) < count:
        found = yield from generators.fetch_many(pgconn)
        if not found:
            raise psycopg.OperationalError("the server sent fewer answers than statements")
        answers.append(found[0])


@lru_cache(maxsize=MAX_NAMED_STATEMENTS)
def _numbered(text: str) -> bytes:
    """Return the statement as the server reads it, with `$1` for the first `%s`."""
    first, *rest = text.split("%s")
    numbered = "".join([first, *(f"${number}{part}" for number, part in enumerate(rest, start=1))])
    return numbered.replace("%%", "%").encode()
