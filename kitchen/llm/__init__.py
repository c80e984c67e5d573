"""The one door to language models: messages in; text or a structured list of commands, and usage, out.

`kitchen.contract.model` is the contract, `providers` keep it, `wrappers` (retry, budget, transcript) go
around them; `registry` finds them and puts them together, `prices.toml` says what they cost. Plain Python;
keys come from the environment only.
"""
