"""Long-term memory: what is remembered, what is refused, what is shown."""
