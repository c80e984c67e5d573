"""Run live play in real time. Clock processes compute the steps (ticks), and websockets send them to pages."""
