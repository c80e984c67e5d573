"""The agent `written_policy`: a small decision tree, written as text, commands a cook."""
