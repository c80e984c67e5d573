"""Template filters of the Django app `kitchen`."""
