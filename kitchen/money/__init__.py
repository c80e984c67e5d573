"""Budgets, and what was spent of them."""
