"""Create backups of the database and the secret key, and restore them."""
