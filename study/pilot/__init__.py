"""Try out a study before participants come: previews, dry runs and synthetic participants."""
