"""The HTML page and the charts of results."""
