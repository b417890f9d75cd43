"""What knows archives and no protocol.

Nothing is imported here, since hosts wait at every start; each module is named where it is used.

For a program: `client.BooksClient`, `settings.Settings`, `errors.SourceError`; for an
archive of one's own: `contract.Archive`.
"""
