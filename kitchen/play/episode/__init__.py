"""Episodes as a whole: create, change, seal, verify, measure and monitor them."""
