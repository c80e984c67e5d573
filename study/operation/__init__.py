"""Report the health of the installation, for monitoring programs and on a status page for operators."""
