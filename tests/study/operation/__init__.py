"""Test `study/operation`."""
