"""How tool calls are spelt to the model: `react` text or the vendor's own tool use."""
