"""What commands make anew under names that other programs obey: seen, taken away, kept, and brought back (S-8).

What exists before a command stays as it is by the rules it runs under, in `adapters/processes/rules`.
"""

from __future__ import annotations
