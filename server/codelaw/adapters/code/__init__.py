"""The index of the workspace's code: which files it holds, how it is kept, and its answers (X-5).

How places are ranked is in `ranking/code`.
"""
