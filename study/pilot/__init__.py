"""Try a study out before people come: previews, dry runs and synthetic participants."""
