"""Replay stored episodes to verify them, rebuild past pages, draw timelines, and export episode files."""
