"""Play as people do: useful commands, pauses and detours, at rates that were measured on people."""
