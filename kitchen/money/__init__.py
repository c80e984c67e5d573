"""Budgets, and what model calls have cost."""
