"""One module for each exported table."""
