"""The one door to language models: messages in; text or a structured list of commands, and usage, out.

`base` is the contract, `providers` are behind it, `wrappers` (retry, budget, transcript) around it, `registry`
is how they are found, `prices.toml` what they cost. Plain Python; keys come from the environment only.
"""
