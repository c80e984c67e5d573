"""Define the hourglass agent of S-Agents (arXiv 2402.04578, section 3.2). It plans in stages, and gives or
carries out jobs."""
