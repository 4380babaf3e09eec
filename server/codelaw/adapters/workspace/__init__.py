"""The workspace on disk, seen through the editor's open buffers."""
