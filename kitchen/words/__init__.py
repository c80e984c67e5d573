"""Words: how numbers of things are said."""
