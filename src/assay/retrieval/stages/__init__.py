"""The stages of the reference pipeline, one small class behind one protocol each."""
