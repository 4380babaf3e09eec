"""What a server that is killed leaves behind: how the next one knows of it, and cleans up."""
