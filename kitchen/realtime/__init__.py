"""Run live play in real time: clock processes compute steps (ticks), and websockets send them to pages."""
