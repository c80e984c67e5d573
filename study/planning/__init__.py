"""Plan a study before data collection: sample size, prompts and costs."""
