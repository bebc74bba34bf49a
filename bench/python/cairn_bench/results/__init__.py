"""Records of a run, and the figures that they give."""
