"""The commands of a person at a terminal. It may use every room below it; nothing below may use
it."""
