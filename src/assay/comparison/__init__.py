"""Two runs side by side, and the gates that guard a repository."""
