"""Define template filters of the Django app `kitchen`."""
