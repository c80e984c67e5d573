"""How many people a within-subject study needs. Plain Python: numpy and scipy, nothing of Django."""
