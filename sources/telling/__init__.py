"""What a reader sees: text blocks, the cut to what a host can take, foreign text made harmless,
citations.

It knows payloads; it asks nothing, and knows no archive and no terminal.
"""
