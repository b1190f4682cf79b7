"""The quorum that agrees on the metadata log: a pure machine, told what happened, that says what to do."""
