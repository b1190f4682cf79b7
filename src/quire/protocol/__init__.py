"""The wire: messages declared once, compiled per version, and the frames they travel in.

schema       the language of declarations
messages/    the declarations, one file per API, and those of the internal topics and files
apis         which APIs there are: versions, listeners, forwarding
compiler     `codec(message class, version)`: encode and decode
primitives   variable-length numbers and tagged sections
connection   frames and headers of a connection, without a socket

To see what a codec runs: `python -m quire.protocol FetchRequest 12`.

Non-obvious
- A tagged section that is empty is one zero byte; codecs read it together with the fixed-width
  fields before it, and only a byte other than zero leads to the slow path.
- A run of fixed-width fields reads the first byte of the length behind it as well.
- The field an error names comes from the line of generated source that failed.
"""
