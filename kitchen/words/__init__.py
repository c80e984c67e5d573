"""Words: how numbers of things are said, and in which language."""
