"""Limit and record the money that is spent on calls of language models."""
