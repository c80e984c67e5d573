"""Define Lane, the smallest real-time world: seats walk on cells in a row."""
