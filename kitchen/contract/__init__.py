"""Define the interfaces that worlds, pages, agents and language models implement. Read this package first.

Nothing in this package imports Django.
"""
