"""Words: counting, Markdown."""
