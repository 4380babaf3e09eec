"""The few Protocols through which the engine reaches the world.

A port exists where two real implementations do, or where it keeps an arrow pointing down.
"""
