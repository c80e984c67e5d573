"""Read plain sentences of people to program players, in English, Spanish and Chinese, by fixed rules."""
