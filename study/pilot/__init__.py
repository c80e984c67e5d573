"""Try out a study before participants come: previews by staff, dry runs by programs, and synthetic data."""
