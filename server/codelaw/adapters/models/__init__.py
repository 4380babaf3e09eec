"""The models codelaw can talk to, and what is known about them by name."""
