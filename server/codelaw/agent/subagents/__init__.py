"""Child turns: the kinds that `Task` can begin, what each is given, its run by the engine of every turn (X-4).

Which kinds people bring along is not read here but in `skills/agents`.
"""
