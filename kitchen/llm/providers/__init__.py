"""Connect to the providers of language models, with one module per provider.

A provider's SDK (its Python package) is imported at the first call, because the import takes seconds.
"""
