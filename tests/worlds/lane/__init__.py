"""A world as small as can be in which a clock takes the steps: cells in a row, on which seats walk."""
