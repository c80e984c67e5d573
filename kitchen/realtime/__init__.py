"""Run live play in real time: clock processes that take ticks, and their websocket."""
