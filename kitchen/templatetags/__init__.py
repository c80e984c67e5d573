"""Define Django template filters of the app `kitchen`."""
