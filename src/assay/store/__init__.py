"""Everything that touches the disk: golden sets, runs, labels, other people's files."""
