"""This node: its MPIs, kernels, memory and media."""
