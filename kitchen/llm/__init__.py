"""Call language models: providers, wrappers, costs, and recorded calls."""
