"""Let staff watch a study live and act on its participants."""
