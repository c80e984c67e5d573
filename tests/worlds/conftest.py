"""Provide the fixtures that the tests of whole worlds share."""

from __future__ import annotations

from tests.study.conftest import local_cache

__all__ = ["local_cache"]
