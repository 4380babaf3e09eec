"""What people bring along as files, found in the workspace and in the folders of its user (X-2, X-7).

The files are read here; what they say is understood in `skills`.
"""
