"""Watch a study live, and act on its participants."""
