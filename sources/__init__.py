"""The walk of one question: `client` has its arguments checked by `asking.arguments`,
`asking.search` plans it for each archive and has `asking.together` ask them at once,
`transport.flights` sends in the turn of each lane, `transport.verdict` judges what came,
`asking.notes` says what is special, `asking.log` keeps what was asked, `telling.fit` cuts it to
what a host takes and `telling.text_block` says it.

Nothing here knows a protocol, and nothing is imported here, since hosts wait at every start. For a
program: `BooksClient` of client, `Settings` of settings, `SourceError` of errors; for an archive of
one's own, `Archive` of contract.
"""
