"""Define Tunnel, a small world in which a macro (a command of several steps) can be stopped, and three seats
can talk."""
