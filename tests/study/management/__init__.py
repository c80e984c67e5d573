"""Tests of study/management."""
