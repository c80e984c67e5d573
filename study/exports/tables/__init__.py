"""One module for each exported table or group of related tables."""
