"""What is behind the door, one module each. The SDKs take seconds to import: only the first call does."""
