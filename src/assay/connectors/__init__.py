"""Other people's retrievers behind one protocol."""
