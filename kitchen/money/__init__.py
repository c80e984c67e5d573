"""Keep budgets and the cost of model calls."""
