"""Open worlds: environments for programs that learn, foreign environments as worlds, and datasets."""
