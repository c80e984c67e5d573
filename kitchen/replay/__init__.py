"""Replay stored episodes: verification, past pages, timelines, and episode files."""
