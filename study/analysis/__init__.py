"""Which participants and measures are analysed, and the cached results."""
