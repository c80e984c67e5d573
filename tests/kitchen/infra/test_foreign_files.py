"""Files from outside are read in a child process, which ends if one takes too long or needs too much."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from brigade.middleware import read_foreign_files_in_pool
from kitchen.contract.data_limits import (
    MAX_VALUES,
    DataLimitError,
    TooDeepError,
    read_foreign,
    read_json,
    read_toml_text,
)
from kitchen.infra import foreign_files
from kitchen.infra.foreign_files import read_in_pool, reading_in_pool
from kitchen.infra.process_pool import ChildLimits, ProcessPool
from kitchen.replay.episode_content import episode_content
from tests.kitchen.infra import pool_functions

MUCH = '[{"a":1}' + ',{"a":1}' * 200_000 + "]"
"""A text with fewer values than are allowed, which need some fifty megabytes."""


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProcessPool]:
    """A child process that may use little, in place of that of the app."""
    pool = ProcessPool(lambda: 1, waiting=1, limits=ChildLimits(60, memory=24 * 2**20))
    monkeypatch.setattr(foreign_files, "_pool", pool)
    yield pool


@pytest.mark.parametrize("path", ["/staff/replay/", "/admin/", "/api/studies/", "/s/demo/", "/"])
def test_pages_of_staff_read_in_the_child_and_all_others_here(path: str) -> None:
    page = read_foreign_files_in_pool(lambda request: HttpResponse(str(read_foreign(os.getpid))))
    answer = page(RequestFactory().get(path))
    assert isinstance(answer, HttpResponse)
    is_here = int(answer.content) == os.getpid()
    assert is_here == (not path.startswith(("/staff/", "/admin/", "/api/")))


def test_the_child_reads_as_this_process_and_needs_no_libraries() -> None:
    with reading_in_pool():
        child = read_foreign(os.getpid)
        assert child == read_foreign(os.getpid) != os.getpid()
        assert read_foreign(read_toml_text, 'a = ["b"]') == {"a": ["b"]}
        with pytest.raises(ValueError, match="Expecting value"):
            read_foreign(read_json, "?")
        with pytest.raises(TooDeepError, match="is nested deeper than 50 levels"):
            read_foreign(read_json, "[" * 60 + "]" * 60)
        with pytest.raises(DataLimitError, match="has more than 1,000,000 values"):
            read_foreign(read_json, "[" + "1," * MAX_VALUES + "1]")
        with pytest.raises(ValueError, match="it is not JSON"):
            read_foreign(episode_content, b"?")
        assert read_foreign(pool_functions.packages) & {"django", "pydantic", "numpy", "study"} == set()


def test_a_file_that_needs_too_much_memory_ends_the_child_and_the_next_one_is_read(
    small: ProcessPool,
) -> None:
    child = read_in_pool(os.getpid)
    with pytest.raises(DataLimitError, match="needs more than 24 MiB of memory to be read"):
        read_in_pool(read_json, MUCH)
    assert read_in_pool(read_json, "[1]") == [1] and read_in_pool(os.getpid) != child
    with pytest.raises(DataLimitError, match="needs more than 24 MiB of memory to be read"):
        read_in_pool(pool_functions.end_at_once)  # as the system does it
    assert read_in_pool(read_json, "[2]") == [2]


def test_a_file_that_takes_too_long_ends_the_child_and_the_next_one_is_read(small: ProcessPool) -> None:
    small.limits = ChildLimits(0.2)
    with pytest.raises(DataLimitError, match=r"takes longer than 0\.2 s to read"):
        read_in_pool(pool_functions.wait_for, "/nowhere/never")
    small.limits = ChildLimits(60)
    assert read_in_pool(read_json, "[1]") == [1]


def test_a_file_is_refused_if_too_many_wait(small: ProcessPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small, "_start", lambda: None)
    small.submit(abs, 1)
    with pytest.raises(DataLimitError, match="cannot be read now, because many files are being read"):
        read_in_pool(read_json, "[1]")
