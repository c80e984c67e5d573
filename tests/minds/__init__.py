"""Check agents with language models against a local server that answers in many ways: `make minds`."""
