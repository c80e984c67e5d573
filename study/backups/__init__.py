"""Create and restore backups."""
