"""`quire topic`: make, list, describe, grow and delete topics."""
