"""What every world, page, agent and language model promises. Read this first. Plain Python."""
