"""Call language models: providers, retries, budgets, costs, and recorded calls."""
