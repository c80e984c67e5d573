"""Compare Overcooked agents that play without people with published results."""
