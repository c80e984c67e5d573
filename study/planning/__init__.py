"""Plan a study before data collection: sample size, prompts of language models, and costs."""
