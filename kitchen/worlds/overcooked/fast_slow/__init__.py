"""The agent `fast_and_slow`: a fast mind acts in every tick, and a slow mind sets its aims."""
