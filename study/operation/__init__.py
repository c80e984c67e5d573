"""Report the health of the installation: endpoints for monitoring programs, and a status page for
operators."""
