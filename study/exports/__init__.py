"""The data of a study as tidy tables: one module a file, `base` for what they share, `registry` for the list.

Every row of every file says whether it comes from a synthetic participant. Columns never change places: new
ones are added at the end. What opens somebody's page or seat is in none of them.
"""
