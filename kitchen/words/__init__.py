"""English phrases, and translation into the reader's language."""
