"""Measure live play, and test it under faults: programs play over the product's own websockets."""
