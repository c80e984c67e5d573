"""Live play in real time: a clock takes the steps, whoever has commanded by then."""
