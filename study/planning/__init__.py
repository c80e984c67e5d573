"""Plan a study before people come: sample size, prompts and costs."""
