"""One file for each API, named after it; each has one `handle`, and says on top how the API behaves, and since when."""
