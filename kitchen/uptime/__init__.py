"""Record heartbeats of our processes, and find outages from them."""
