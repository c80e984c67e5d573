"""Record heartbeats of the app's processes, and find outages from them."""
