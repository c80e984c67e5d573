"""Language models: providers, wrappers, costs, and recorded calls."""
