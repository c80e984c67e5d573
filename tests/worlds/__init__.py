"""Worlds of the tests' own: each a folder that holds all it has, known where `BRIGADE_WORLDS` names it."""
