"""Run live play in real time. Clock processes compute the steps (ticks); websockets send them to pages."""
