"""Plan in stages and give jobs to others, as a leader or as a worker: the hourglass agent of S-Agents (arXiv
2402.04578, section 3.2)."""
