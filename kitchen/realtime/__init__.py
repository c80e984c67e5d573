"""Run live play in real time: clock processes take the steps (ticks), and websockets send them to pages."""
