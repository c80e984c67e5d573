"""Run SQL statements on PostgreSQL together and by name, with a third of the work of psycopg's cursors.

The server parses and plans a statement once for each connection, and then runs it by name. Statements that
run together are sent at once, in libpq's pipeline mode, and their results are read together.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import psycopg
from psycopg import errors, generators
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ConnStatus, ExecStatus, TransactionStatus

MAX_NAMED_STATEMENTS = 200
"""Maximum number of statements that one connection keeps by name."""
MAX_NAMED_VALUES = 60
"""A statement with more parameter values is not kept by name: it inserts many rows and is rarely repeated."""


class PostgresPipeline:
    """Runs statements on one connection of psycopg, and keeps the names of its prepared statements."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection
        self._transformer: Any = Transformer(connection)
        self._names: dict[str, bytes] = {}
        self._is_stale = False

    def run(self, statements: Sequence[tuple[str, Sequence[Any]]]) -> list[tuple[int, list[tuple[Any, ...]]]]:
        """Run statements with their parameter values in this order. Return for each the number of rows that
        it read or changed, and the rows that it read.

        The text has `%s` for each value. The types of values follow from the statement, so each value stands
        where the server knows its type: in an INSERT, or beside a column. Raises psycopg's errors. Outside a
        transaction block, a new transaction begins, or with autocommit all statements are one transaction.
        """
        with self.connection.lock:
            try:
                answers = self._exchanged(statements)
            except psycopg.Error:
                self._names, self._is_stale = {}, True  # it is unknown which were prepared
                raise
        return [self._result(answer) for answer in answers]

    def _exchanged(self, statements: Sequence[tuple[str, Sequence[Any]]]) -> list[Any]:
        pgconn: Any = self.connection.pgconn
        dumped = [self._dumped(values) for _, values in statements]  # it may fail: nothing is sent yet
        pgconn.enter_pipeline_mode()
        try:
            sent = self._send_first(pgconn)
            for (text, _), values in zip(statements, dumped, strict=True):
                sent += self._send(pgconn, text, values)
            pgconn.pipeline_sync()
            answers = self.connection.wait(_answers(pgconn, len(sent) + 1))
        finally:
            if pgconn.status == ConnStatus.OK:
                pgconn.exit_pipeline_mode()
        for answer, *_ in answers:
            if answer.status == ExecStatus.FATAL_ERROR:
                raise errors.error_from_result(answer, encoding=self._transformer.encoding)
        return [answer for is_asked, (answer, *_) in zip(sent, answers, strict=False) if is_asked]

    def _dumped(self, values: Sequence[Any]) -> list[bytes | None]:
        dumped: list[bytes | None] = self._transformer.dump_sequence(values, [PyFormat.TEXT] * len(values))
        return dumped

    def _send_first(self, pgconn: Any) -> list[bool]:
        """Send what must come before the statements. Return False for each answer that will come."""
        first = []
        if not self.connection.autocommit and pgconn.transaction_status == TransactionStatus.IDLE:
            first.append(b"BEGIN")
        if self._is_stale or len(self._names) >= MAX_NAMED_STATEMENTS:
            self._names, self._is_stale = {}, False
            first.append(b"DEALLOCATE ALL")
        for each in first:
            pgconn.send_query_params(each, None)
        return [False] * len(first)

    def _send(self, pgconn: Any, text: str, values: list[bytes | None]) -> list[bool]:
        """Send a statement. Return, for each answer that will come, whether it is that of the statement."""
        if len(values) > MAX_NAMED_VALUES:
            pgconn.send_query_params(_numbered.__wrapped__(text), values)
            return [True]
        if name := self._names.get(text):
            pgconn.send_query_prepared(name, values)
            return [True]
        name = self._names[text] = b"brigade_%d" % len(self._names)
        pgconn.send_prepare(name, _numbered(text))
        pgconn.send_query_prepared(name, values)
        return [False, True]

    def _result(self, answer: Any) -> tuple[int, list[tuple[Any, ...]]]:
        if answer.status != ExecStatus.TUPLES_OK:
            return answer.command_tuples or 0, []
        self._transformer.set_pgresult(answer)
        return answer.ntuples, self._transformer.load_rows(0, answer.ntuples, tuple)


def _answers(pgconn: Any, count: int) -> Any:
    """Send what was prepared for sending, and return the first `count` answers (a generator for psycopg's
    `wait`). The last one is that of the end of the pipeline."""
    yield from generators.send(pgconn)
    answers: list[Any] = []
    while len(answers) < count:
        answers += [(yield from generators.fetch_many(pgconn))]
    return answers


@lru_cache(maxsize=MAX_NAMED_STATEMENTS)
def _numbered(text: str) -> bytes:
    """Return the statement as the server reads it, with `$1` for the first `%s`."""
    first, *rest = text.split("%s")
    numbered = "".join([first, *(f"${number}{part}" for number, part in enumerate(rest, start=1))])
    return numbered.replace("%%", "%").encode()
