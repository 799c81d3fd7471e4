"""Where each miss was lost, why, and which fix was tried and brought it back."""
