"""Bots that take part in a study through its pages and websockets, as people do.

Only the dry run itself reads the database.
"""
