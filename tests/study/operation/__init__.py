"""Tests of `study/operation/`."""
