"""Before people come: sample size, and what models will cost."""
