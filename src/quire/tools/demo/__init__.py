"""`make demo`: what Quire can do, done before your eyes in a few seconds.

node      the first act: a node, killed while it is written to
log       the second: a log of several segments, torn, recovered, compacted, dumped
telling   how an act says what it did, and that a promise was broken

Every line that is printed was measured on the way; the demo ends with exit code 1 when a promise was broken.
"""
