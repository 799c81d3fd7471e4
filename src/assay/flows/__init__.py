"""One file a command: each names the rooms that it uses."""
