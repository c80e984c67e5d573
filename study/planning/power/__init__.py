"""How many people a within-subject study needs. Plain Python: numpy and statsmodels, nothing of Django."""
