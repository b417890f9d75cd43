"""How a question becomes an answer: arguments checked, wordings derived, archives asked together,
rows made one list.

It knows archives by their contract alone, and the text a reader sees not at all; no address, no
socket, no protocol.
"""
