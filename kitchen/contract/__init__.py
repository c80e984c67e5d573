"""Define the interfaces that worlds, pages, agents and language models implement. Read this package first.

It is plain Python: nothing here imports Django.
"""
