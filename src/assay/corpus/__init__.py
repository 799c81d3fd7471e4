"""Reading documents and cutting them into chunks."""
