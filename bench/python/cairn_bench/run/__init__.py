"""Runs the cells and limits of a plan in rounds."""
