"""Making golden sets, and checking them before they are used."""
