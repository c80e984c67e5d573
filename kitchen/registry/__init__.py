"""The names under which worlds and agents are found: one line each."""
