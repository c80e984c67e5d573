"""What others measured in the grids, for comparison. Plain Python."""
