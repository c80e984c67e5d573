"""Pages and services with which staff watch a study live and act on its participants."""
