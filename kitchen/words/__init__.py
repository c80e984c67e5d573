"""Write English phrases, and translate texts into the reader's language."""
