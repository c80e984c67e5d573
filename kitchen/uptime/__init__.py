"""Record that the app's processes are alive (heartbeats), and find outages from gaps between heartbeats."""
