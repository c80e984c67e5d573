"""Providers of language models, one module each. A provider's SDK is imported at its first call, because it
takes seconds."""
