"""One module for each provider. The SDKs take seconds to import, so only the first call imports them."""
