"""One file for each step; a step that was published never changes."""
