"""Replay stored episodes: verify them, rebuild past pages, draw timelines, and export episode files."""
