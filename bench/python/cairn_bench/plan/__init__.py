"""What a matrix asks for: kernels, cells and limits, their sizes and their words."""
