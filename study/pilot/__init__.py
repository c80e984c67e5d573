"""Try a study out before participants come: previews, dry runs and synthetic participants."""
