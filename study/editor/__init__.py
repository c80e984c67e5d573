"""Setting a study up in the console: forms, what changed, freezing."""
