"""One archive is two modules: X asks (identifiers, plans, requests) and X_records reads what came.

Nothing outside this folder knows an archive but by its entry in the registry; nothing in it opens a
connection or writes a line that a reader sees. What two archives need stands in the modules without
an archive's name.
"""
