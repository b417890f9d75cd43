"""Bytes, turns and deadlines: the one way out of the process.

It knows lanes and addresses, and neither a tool, a question nor what an answer means.
"""
