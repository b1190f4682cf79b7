"""What a cluster knows about itself: the records that say it, and the image that they add up to.

records    the values of the metadata log: frame, type, version, body
image      everything at one offset: immutable, cheap to change into the next one
delta      changes gathered on top of an image, and what they touched
replay     the log as it comes, with its transactions, into images
snapshot   an image as records, in the order Kafka writes them
features   which feature levels there are, and what each needs
placement  which brokers a new partition's replicas go to

Non-obvious
  - A partition's epoch rises with every change record; its leader epoch rises when the record names
    a leader, even the same one.
  - `isr` null in a change means unchanged, an empty list means nobody: with ELR that happens.
  - The level of kraft.version is not among these records; the quorum keeps it in control records.
"""
