"""What knows archives and no protocol. Import from its modules; `BooksClient` is the way in for a program."""
