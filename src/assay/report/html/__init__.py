"""A run as one HTML file that opens anywhere: no network, no build step, readable without its script."""
