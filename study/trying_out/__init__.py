"""Trying a study out: previews, dry runs, and erasing what programs left."""
