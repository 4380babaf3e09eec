"""How tool calls are spelt to the model: `react` text or the vendor's own tool use.

What is said in them is decided in `context`.
"""
