"""The pages: one file each, named as in the bar on top."""
