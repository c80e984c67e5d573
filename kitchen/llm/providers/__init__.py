"""Connect to providers of language models, one module each. A provider's SDK (its Python package) is imported
at its first call, because this takes seconds."""
