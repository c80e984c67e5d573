"""Measuring and breaking live play: the product's own stack, played over its own websockets."""
