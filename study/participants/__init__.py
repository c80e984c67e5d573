"""Store participants with their rounds and answers, find their next page, and end their participation.

A round is an episode (one game) with its survey.
"""
