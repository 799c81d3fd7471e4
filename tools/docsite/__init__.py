"""Builds the documentation site: the pages of docs/, and those that are generated from the program itself."""
