# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, embedsignature=False
"""The record section of a batch in Cython: the twin of `reference`, function by function.

All reads go through pointers, and no bounds are checked but the ones written here: every function that
reads takes the end of what it may read and compares before it moves. Parsing, hashing and probing hold no
Python object and run without the GIL where a cleaner's thread calls them.

Invariants
  I1  A position never passes its end; a length or count is compared with the rest before it is used.
  I2  While records are encoded no Python code runs, so the caller's list cannot change under the loop.
See        docs/formats/record-batch.md, docs/decisions/0003-kernels.md
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_GET_SIZE, PyByteArray_Resize
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_Check, PyBytes_GET_SIZE
from cpython.list cimport PyList_Check, PyList_GET_ITEM, PyList_GET_SIZE
from cpython.long cimport PyLong_Check
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_Check, PyTuple_GET_ITEM, PyTuple_GET_SIZE
from cpython.unicode cimport PyUnicode_Check, PyUnicode_DecodeUTF8
from libc.stdint cimport INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from quire.records.castagnoli cimport crc_folds, crc_lanes, crc_prepare, crc_ways
from quire.records.record import Record, RecordScan, Selection, record_fault

cdef extern from "Python.h":
    PyObject* PyType_GenericAlloc(PyTypeObject* type, Py_ssize_t count)
    PyObject* raw_long "PyLong_FromLongLong"(long long number)
    PyObject* raw_bytes "PyBytes_FromStringAndSize"(const char* data, Py_ssize_t size)
    PyObject* raw_list "PyList_New"(Py_ssize_t size)
    void raw_list_set "PyList_SET_ITEM"(PyObject* target, Py_ssize_t index, PyObject* item)
    void raw_tuple_set "PyTuple_SET_ITEM"(PyObject* target, Py_ssize_t index, PyObject* item)
    void raw_incref "Py_INCREF"(PyObject* item)
    void raw_decref "Py_DECREF"(PyObject* item)
    void PyObject_GC_UnTrack(PyObject* item)
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL
    long long PyLong_AsLongLong(object number) except? -1

cdef enum:
    HEADER_SIZE = 61
    TRANSACTIONAL = 0x10
    RECORD_SIZE_MIN = 7
    RECORD_HEADER_SIZE_MIN = 2
    NUMBERS_SIZE_MAX = 40  # of one record: length, attributes, two deltas, two lengths, a count
    REWRITE_GROWTH_MAX = 14  # of one record, when its timestamp delta and its length grow

cdef enum:  # record.Fault
    SOUND = 0
    COUNT = 1
    NUMBER_TRUNCATED = 2
    NUMBER_TOO_LONG = 3
    RECORD_LENGTH = 4
    KEY_LENGTH = 5
    VALUE_LENGTH = 6
    HEADER_COUNT = 7
    HEADER_KEY_LENGTH = 8
    HEADER_VALUE_LENGTH = 9
    RECORD_NOT_FILLED = 10
    TRAILING_BYTES = 11
    OFFSET_RANGE = 12
    TIMESTAMP_RANGE = 13


# --- numbers ---------------------------------------------------------------------------------


cdef extern from *:
    """
    #include <stdint.h>
    #if defined(__GNUC__)
    #define QUIRE_INLINE static inline __attribute__((always_inline))
    #else
    #define QUIRE_INLINE static inline
    #endif
    static int quire_read_long_number(const uint8_t *, Py_ssize_t *, Py_ssize_t, int, int64_t *);

    /* In C only to be inlined at every field: compilers call it otherwise, at twice the time. */
    QUIRE_INLINE int quire_read_number(
        const uint8_t *data, Py_ssize_t *position, Py_ssize_t end, int bits, int64_t *number)
    {
        Py_ssize_t at = *position;
        uint64_t raw;
        if (at >= end)
            return quire_read_long_number(data, position, end, bits, number);
        raw = data[at];
        if (raw >= 0x80) {
            if (++at >= end || data[at] >= 0x80)
                return quire_read_long_number(data, position, end, bits, number);
            raw = (raw & 0x7F) | ((uint64_t)data[at] << 7);
        }
        *number = (int64_t)((raw >> 1) ^ (0 - (raw & 1)));
        *position = at + 1;
        return 0;
    }
    """
    int read_number "quire_read_number"(
        const uint8_t* data, Py_ssize_t* position, Py_ssize_t end, int bits, int64_t* number
    ) noexcept nogil


cdef int read_long_number "quire_read_long_number"(
    const uint8_t* data, Py_ssize_t* position, Py_ssize_t end, int bits, int64_t* number
) noexcept nogil:
    """A zigzag number of at most `bits` bits. On a fault, `position` stays at its first byte."""
    cdef Py_ssize_t at = position[0]
    cdef uint64_t raw = 0
    cdef uint64_t byte
    cdef int shift = 0
    while True:
        if at >= end:
            return NUMBER_TRUNCATED
        byte = data[at]
        at += 1
        if shift == 63 and byte > 1:
            return NUMBER_TOO_LONG
        raw |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift >= bits:
            return NUMBER_TOO_LONG
    if bits == 32 and raw >> 32:
        return NUMBER_TOO_LONG
    number[0] = <int64_t>((raw >> 1) ^ (0 - (raw & 1)))
    position[0] = at
    return SOUND


cdef inline uint64_t zigzag(int64_t number) noexcept nogil:
    return (<uint64_t>number << 1) ^ (0 - (<uint64_t>number >> 63))


cdef inline int number_size(int64_t number) noexcept nogil:
    cdef uint64_t raw = zigzag(number)
    cdef int size = 1
    while raw > 0x7F:
        raw >>= 7
        size += 1
    return size


cdef inline uint8_t* write_number(uint8_t* out, int64_t number) noexcept nogil:
    cdef uint64_t raw = zigzag(number)
    while raw > 0x7F:
        out[0] = <uint8_t>(raw & 0x7F) | 0x80
        out += 1
        raw >>= 7
    out[0] = <uint8_t>raw
    return out + 1


cdef inline bint sum_overflows(int64_t left, int64_t right, int64_t* total) noexcept nogil:
    if right > 0:
        if left > INT64_MAX - right:
            return True
    elif left < INT64_MIN - right:
        return True
    total[0] = left + right
    return False


# --- the walk --------------------------------------------------------------------------------


cdef extern from *:
    """
    typedef struct {
        Py_ssize_t start, end, attributes, after_timestamp, key_start, value_start, headers_start;
        int64_t timestamp_delta, offset_delta, key_length, value_length, header_count;
    } quire_span;

    #define QUIRE_PLAIN_NUMBERS_SIZE 11 /* length 2, attributes 1, deltas 4 and 2, the key's length 2 */

    /* A number of one or two bytes, still zigzag; NULL when it is longer. */
    QUIRE_INLINE const uint8_t *quire_read_short(const uint8_t *at, int64_t *raw)
    {
        int64_t low = at[0], high;
        *raw = low;
        if (low < 0x80)
            return at + 1;
        high = at[1];
        *raw = (low & 0x7F) | high << 7;
        return high < 0x80 ? at + 2 : NULL;
    }

    /* The same for up to four bytes: 18 hours before or after, when it is a timestamp. */
    QUIRE_INLINE const uint8_t *quire_read_medium(const uint8_t *at, int64_t *raw)
    {
        const uint8_t *end = quire_read_short(at, raw);
        int64_t high;
        if (end)
            return end;
        high = at[2];
        *raw = (at[0] & 0x7F) | (int64_t)(at[1] & 0x7F) << 7 | (high & 0x7F) << 14;
        if (high < 0x80)
            return at + 3;
        high = at[3];
        *raw |= high << 21;
        return high < 0x80 ? at + 4 : NULL;
    }

    /* Whether `count` headers with short numbers end where the record does. */
    static int quire_plain_headers_fill(const uint8_t *at, const uint8_t *stop, int64_t count)
    {
        int64_t raw;
        while (count--) {
            if (stop - at < 2)
                return 0;
            at = quire_read_short(at, &raw);
            if (!at || raw & 1 || raw >> 1 >= stop - at)
                return 0;
            at += raw >> 1;
            if (*at >= 0x80 && stop - at < 2)
                return 0;
            at = quire_read_short(at, &raw);
            if (!at || (raw & 1 && raw != 1) || raw >> 1 > stop - at)
                return 0;
            at += raw >> 1;
        }
        return at == stop;
    }

    /* 1 with the record in `span` when it is sound and plain: all its numbers are short. 0 says nothing:
       the careful way decides. One comparison covers all numbers in front of the key, one the key and the
       number behind it, one the value and the number of headers. */
    QUIRE_INLINE int quire_read_plain(
        const uint8_t *data, Py_ssize_t position, Py_ssize_t end, quire_span *span)
    {
        const uint8_t *at = data + position, *stop;
        int64_t raw;
        if (end - position < QUIRE_PLAIN_NUMBERS_SIZE)
            return 0;
        span->start = position;
        at = quire_read_short(at, &raw);
        if (!at || raw & 1 || raw >> 1 > data + end - at)
            return 0;
        stop = at + (raw >> 1);
        span->end = stop - data;
        span->attributes = at - data;
        at = quire_read_medium(at + 1, &raw);
        if (!at)
            return 0;
        span->timestamp_delta = (raw >> 1) ^ -(raw & 1);
        span->after_timestamp = at - data;
        at = quire_read_short(at, &raw);
        if (!at)
            return 0;
        span->offset_delta = (raw >> 1) ^ -(raw & 1);
        at = quire_read_short(at, &raw);
        if (!at || (raw & 1 && raw != 1) || (raw >> 1) + 2 > stop - at)
            return 0;
        span->key_start = at - data;
        span->key_length = (raw >> 1) - (raw & 1);
        at = quire_read_short(at + (raw >> 1), &raw);
        if (!at || (raw & 1 && raw != 1) || raw >> 1 >= stop - at)
            return 0;
        span->value_start = at - data;
        span->value_length = (raw >> 1) - (raw & 1);
        at += raw >> 1;
        raw = *at++;
        span->headers_start = at - data;
        span->header_count = raw >> 1;
        if (!raw)
            return at == stop;
        return !(raw & 0x81) && quire_plain_headers_fill(at, stop, raw >> 1);
    }
    """
    ctypedef struct Span "quire_span":
        Py_ssize_t start
        Py_ssize_t end
        Py_ssize_t attributes
        int64_t timestamp_delta
        Py_ssize_t after_timestamp
        int64_t offset_delta
        Py_ssize_t key_start
        int64_t key_length
        Py_ssize_t value_start
        int64_t value_length
        int64_t header_count
        Py_ssize_t headers_start

    int read_plain "quire_read_plain"(
        const uint8_t* data, Py_ssize_t position, Py_ssize_t end, Span* span
    ) noexcept nogil


cdef struct Walk:
    const uint8_t* data
    Py_ssize_t end
    Py_ssize_t position
    Py_ssize_t index
    Py_ssize_t count
    int fault
    Py_ssize_t fault_position


cdef inline int fail(Walk* walk, int fault, Py_ssize_t position) noexcept nogil:
    walk.fault = fault
    walk.fault_position = position
    return -1


cdef int begin(
    Walk* walk, const void* data, Py_ssize_t size, Py_ssize_t count
) noexcept nogil:
    """0, or -1 with the fault in `walk`."""
    walk.data = <const uint8_t*>data
    walk.end = size
    walk.position = 0
    walk.index = 0
    walk.count = count
    walk.fault = SOUND
    walk.fault_position = 0
    if count < 0 or count > size // RECORD_SIZE_MIN:
        return fail(walk, COUNT, 0)
    return 0


cdef inline int advance(Walk* walk, Span* span) noexcept nogil:
    """1 with the next record in `span`; 0 after the last; -1 with the fault in `walk`."""
    if walk.index < walk.count and read_plain(walk.data, walk.position, walk.end, span):
        walk.position = span.end
        walk.index += 1
        return 1
    return advance_carefully(walk, span)


cdef int advance_carefully(Walk* walk, Span* span) noexcept nogil:
    cdef Py_ssize_t position = walk.position
    cdef Py_ssize_t end = walk.end
    cdef const uint8_t* data = walk.data
    cdef int64_t number = 0
    cdef int fault
    if walk.index == walk.count:
        if position != end:
            return fail(walk, TRAILING_BYTES, position)
        return 0
    span.start = position
    fault = read_number(data, &position, end, 32, &number)
    if fault:
        return fail(walk, fault, position)
    if number < RECORD_SIZE_MIN - 1 or number > end - position:
        return fail(walk, RECORD_LENGTH, span.start)
    end = position + <Py_ssize_t>number
    span.end = end
    span.attributes = position
    position += 1
    fault = read_number(data, &position, end, 64, &span.timestamp_delta)
    if fault:
        return fail(walk, fault, position)
    span.after_timestamp = position
    fault = read_number(data, &position, end, 32, &span.offset_delta)
    if fault:
        return fail(walk, fault, position)
    span.key_start = position
    fault = read_number(data, &span.key_start, end, 32, &span.key_length)
    if fault:
        return fail(walk, fault, position)
    if span.key_length < -1 or span.key_length > end - span.key_start:
        return fail(walk, KEY_LENGTH, position)
    position = span.key_start
    if span.key_length > 0:
        position += <Py_ssize_t>span.key_length
    span.value_start = position
    fault = read_number(data, &span.value_start, end, 32, &span.value_length)
    if fault:
        return fail(walk, fault, position)
    if span.value_length < -1 or span.value_length > end - span.value_start:
        return fail(walk, VALUE_LENGTH, position)
    position = span.value_start
    if span.value_length > 0:
        position += <Py_ssize_t>span.value_length
    span.headers_start = position
    fault = read_number(data, &span.headers_start, end, 32, &span.header_count)
    if fault:
        return fail(walk, fault, position)
    if (span.header_count < 0
            or span.header_count * RECORD_HEADER_SIZE_MIN > end - span.headers_start):
        return fail(walk, HEADER_COUNT, position)
    position = span.headers_start
    if span.header_count and skip_headers(walk, span.header_count, &position, end) < 0:
        return -1
    if position != end:
        return fail(walk, RECORD_NOT_FILLED, position)
    walk.position = end
    walk.index += 1
    return 1


cdef int skip_headers(
    Walk* walk, int64_t count, Py_ssize_t* position, Py_ssize_t end
) noexcept nogil:
    cdef Py_ssize_t at = position[0]
    cdef Py_ssize_t start
    cdef int64_t length = 0
    cdef int fault
    while count > 0:
        count -= 1
        start = at
        fault = read_number(walk.data, &at, end, 32, &length)
        if fault:
            return fail(walk, fault, start)
        if length < 0 or length > end - at:
            return fail(walk, HEADER_KEY_LENGTH, start)
        at += <Py_ssize_t>length
        start = at
        fault = read_number(walk.data, &at, end, 32, &length)
        if fault:
            return fail(walk, fault, start)
        if length < -1 or length > end - at:
            return fail(walk, HEADER_VALUE_LENGTH, start)
        if length > 0:
            at += <Py_ssize_t>length
    position[0] = at
    return 0


cdef object broken(Walk* walk):
    return record_fault(walk.fault, walk.index, walk.fault_position)


cdef object refused(int fault, Walk* walk, Span* span):
    """For a record whose form is right, and which `advance` has counted."""
    return record_fault(fault, walk.index - 1, span.start)


# --- the checksum ----------------------------------------------------------------------------

crc_prepare()
cdef int CRC_WAYS = crc_ways()

CRC32C_WAYS = ("lanes", "folds")[:CRC_WAYS]
"""How this processor can compute a checksum, the last is the best; empty: not with its instructions."""

cdef enum:
    GIL_KEPT_SIZE_MAX = 1 << 20  # about 20 us of checksum


cdef inline uint32_t checksum(const uint8_t* data, Py_ssize_t size) noexcept nogil:
    if CRC_WAYS == 2:
        return ~crc_folds(0xFFFFFFFF, data, <size_t>size)
    return ~crc_lanes(0xFFFFFFFF, data, <size_t>size)


def crc32c(data, Py_ssize_t start=0, end=None):
    """CRC-32C of the bytes from `start` to `end`; a caller has asked CRC32C_WAYS whether there is one."""
    cdef Py_buffer view
    cdef Py_ssize_t stop
    cdef uint32_t found
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    try:
        stop = view.len if end is None else end
        if not 0 <= start <= stop <= view.len:
            raise ValueError(f"no bytes {start} to {stop} in {view.len}")
        if stop - start <= GIL_KEPT_SIZE_MAX:
            found = checksum(<const uint8_t*>view.buf + start, stop - start)
        else:
            with nogil:
                found = checksum(<const uint8_t*>view.buf + start, stop - start)
    finally:
        PyBuffer_Release(&view)
    return found


def crc32c_by(str way, data):
    """The same by one way of CRC32C_WAYS, to compare them."""
    cdef Py_buffer view
    cdef uint32_t found
    if way not in CRC32C_WAYS:
        raise ValueError(f"this processor has no way called {way}")
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    if way == "folds":
        found = ~crc_folds(0xFFFFFFFF, <const uint8_t*>view.buf, <size_t>view.len)
    else:
        found = ~crc_lanes(0xFFFFFFFF, <const uint8_t*>view.buf, <size_t>view.len)
    PyBuffer_Release(&view)
    return found


# --- read ------------------------------------------------------------------------------------


def decode_records(
    section, Py_ssize_t count, int64_t base_offset, int64_t base_timestamp, append_time=None
):
    """All records; with `append_time`, that is the timestamp of each."""
    cdef Py_buffer view
    PyObject_GetBuffer(section, &view, PyBUF_SIMPLE)
    try:
        return decode_view(&view, count, base_offset, base_timestamp, append_time)
    finally:
        PyBuffer_Release(&view)


cdef list decode_view(
    const Py_buffer* view,
    Py_ssize_t count,
    int64_t base_offset,
    int64_t base_timestamp,
    object append_time,
):
    cdef Walk walk
    cdef Span span
    cdef PyTypeObject* record_type = <PyTypeObject*>Record
    cdef object timestamp = append_time
    cdef bint shared_timestamp = append_time is not None
    cdef int64_t shown_delta = 0
    cdef int64_t offset = 0
    cdef int64_t number = 0
    cdef object headers
    cdef PyObject* record
    cdef int state = begin(&walk, view.buf, view.len, count)
    if state < 0:
        raise broken(&walk)
    cdef PyObject* raw = raw_list(count)
    if raw is NULL:
        raise MemoryError
    cdef list records = <list>raw
    raw_decref(raw)
    while True:
        state = advance(&walk, &span)
        if state <= 0:
            break
        if sum_overflows(base_offset, span.offset_delta, &offset):
            raise refused(OFFSET_RANGE, &walk, &span)
        if not shared_timestamp and (timestamp is None or span.timestamp_delta != shown_delta):
            if sum_overflows(base_timestamp, span.timestamp_delta, &number):
                raise refused(TIMESTAMP_RANGE, &walk, &span)
            timestamp = number
            shown_delta = span.timestamp_delta
        headers = read_headers(&walk, &span) if span.header_count else ()
        record = make_record(record_type, walk.data, &span, offset)
        if record is NULL:
            raise MemoryError
        Py_INCREF(timestamp)
        raw_tuple_set(record, 1, <PyObject*>timestamp)
        Py_INCREF(headers)
        raw_tuple_set(record, 4, <PyObject*>headers)
        # Numbers, bytes and text form no cycles: the collector need not look at millions of these.
        PyObject_GC_UnTrack(record)
        raw_list_set(<PyObject*>records, walk.index - 1, record)
    if state < 0:
        raise broken(&walk)
    return records


cdef inline PyObject* make_record(
    PyTypeObject* record_type, const uint8_t* data, Span* span, int64_t offset
):
    """A record without timestamp and headers; NULL when there is no memory."""
    cdef PyObject* item
    cdef PyObject* record = PyType_GenericAlloc(record_type, 5)
    if record is NULL:
        return NULL
    item = raw_long(offset)
    if item is NULL:
        raw_decref(record)
        return NULL
    raw_tuple_set(record, 0, item)
    item = make_bytes(data + span.key_start, span.key_length)
    if item is NULL:
        raw_decref(record)
        return NULL
    raw_tuple_set(record, 2, item)
    item = make_bytes(data + span.value_start, span.value_length)
    if item is NULL:
        raw_decref(record)
        return NULL
    raw_tuple_set(record, 3, item)
    return record


cdef inline PyObject* make_bytes(const uint8_t* data, int64_t length):
    cdef PyObject* nothing
    if length >= 0:
        return raw_bytes(<const char*>data, <Py_ssize_t>length)
    nothing = <PyObject*>None
    raw_incref(nothing)
    return nothing


cdef tuple read_headers(Walk* walk, Span* span):
    """The headers of a record that the walk has found sound.

    Lengths are compared again: the buffer may be shared memory, and making text may run other code.
    """
    cdef Py_ssize_t position = span.headers_start
    cdef int64_t length = 0
    cdef list headers = []
    cdef object name
    cdef object content
    for _ in range(span.header_count):
        if (read_number(walk.data, &position, span.end, 32, &length)
                or length < 0 or length > span.end - position):
            raise refused(HEADER_KEY_LENGTH, walk, span)
        name = PyUnicode_DecodeUTF8(
            <char*>walk.data + position, <Py_ssize_t>length, b"replace"
        )
        position += <Py_ssize_t>length
        if (read_number(walk.data, &position, span.end, 32, &length)
                or length < -1 or length > span.end - position):
            raise refused(HEADER_VALUE_LENGTH, walk, span)
        content = None
        if length >= 0:
            content = (<const char*>walk.data + position)[:length]
            position += <Py_ssize_t>length
        headers.append((name, content))
    return tuple(headers)


cdef struct Scan:
    int64_t minimum
    int64_t maximum
    Py_ssize_t maximum_index
    Py_ssize_t keyless
    Py_ssize_t misplaced


cdef int scan_walk(Walk* walk, Scan* scan) noexcept nogil:
    """0; -1 with the fault in `walk`."""
    # A span of its own, whose address goes nowhere, stays in registers.
    cdef Span plain
    cdef Span span
    cdef int64_t delta
    cdef int64_t place
    cdef int64_t minimum = INT64_MAX
    cdef int64_t maximum = INT64_MIN
    cdef Py_ssize_t maximum_index = -1
    cdef Py_ssize_t keyless = 0
    cdef Py_ssize_t misplaced = -1
    cdef int state
    while True:
        if walk.index < walk.count and read_plain(walk.data, walk.position, walk.end, &plain):
            walk.position = plain.end
            walk.index += 1
            delta = plain.timestamp_delta
            place = plain.offset_delta
            keyless += plain.key_length < 0
        else:
            state = advance_carefully(walk, &span)
            if state <= 0:
                break
            delta = span.timestamp_delta
            place = span.offset_delta
            keyless += span.key_length < 0
        if delta < minimum:
            minimum = delta
        if delta > maximum or maximum_index < 0:
            maximum = delta
            maximum_index = walk.index - 1
        if place != walk.index - 1 and misplaced < 0:
            misplaced = walk.index - 1
    if maximum_index < 0:
        minimum = maximum = 0
    scan[0] = Scan(minimum, maximum, maximum_index, keyless, misplaced)
    return state


cdef object shown(Scan* scan):
    return RecordScan(
        scan.minimum, scan.maximum, scan.maximum_index, scan.keyless, scan.misplaced
    )


def scan_records(section, Py_ssize_t count):
    """Walk all records without making any: their form, timestamps, keys and places."""
    cdef Py_buffer view
    cdef Walk walk
    cdef Scan scan
    PyObject_GetBuffer(section, &view, PyBUF_SIMPLE)
    try:
        if begin(&walk, view.buf, view.len, count) < 0 or scan_walk(&walk, &scan) < 0:
            raise broken(&walk)
    finally:
        PyBuffer_Release(&view)
    return shown(&scan)


cdef inline uint64_t big_endian(const uint8_t* data, int size) noexcept nogil:
    cdef uint64_t number = 0
    cdef int index
    for index in range(size):
        number = number << 8 | data[index]
    return number


def admit_batch(
    buffer, int64_t max_bytes, int64_t oldest, int64_t newest, bint needs_keys
):
    """The 13 fields of the header, when `buffer` is one sound batch of a client that breaks no rule of its topic and
    is stored as it came.

    None says that it is anything else: look step by step. This is what nearly every produced batch goes through.
    """
    cdef Py_buffer view
    cdef const uint8_t* data
    cdef Walk walk
    cdef Scan scan
    cdef int32_t count, delta, sequence
    cdef int16_t attributes, epoch
    cdef int64_t base, first, last, producer
    PyObject_GetBuffer(buffer, &view, PyBUF_SIMPLE)
    try:
        data = <const uint8_t*>view.buf
        if not CRC_WAYS or view.len < HEADER_SIZE or view.len > max_bytes or view.len > INT32_MAX:
            return None
        attributes = <int16_t>big_endian(data + 21, 2)
        delta = <int32_t>big_endian(data + 23, 4)
        base = <int64_t>big_endian(data + 27, 8)
        producer = <int64_t>big_endian(data + 43, 8)
        epoch = <int16_t>big_endian(data + 51, 2)
        sequence = <int32_t>big_endian(data + 53, 4)
        count = <int32_t>big_endian(data + 57, 4)
        if (
            big_endian(data, 8)  # offsets of a client begin with 0
            or <Py_ssize_t>big_endian(data + 8, 4) != view.len - 12
            or data[16] != 2  # magic
            or attributes & ~TRANSACTIONAL
            or count < 1
            or delta != count - 1
            or (producer < 0 and attributes)
            or (producer >= 0 and (epoch < 0 or sequence < 0))
            or checksum(data + 21, view.len - 21) != big_endian(data + 17, 4)
            or begin(&walk, data + HEADER_SIZE, view.len - HEADER_SIZE, count) < 0
            or scan_walk(&walk, &scan) < 0
            or scan.misplaced >= 0
            or (needs_keys and scan.keyless)
            or sum_overflows(base, scan.minimum, &first)
            or sum_overflows(base, scan.maximum, &last)
            or first < oldest
            or last > newest
            or last != <int64_t>big_endian(data + 35, 8)
        ):
            return None
        return (
            0,
            view.len - 12,
            <int32_t>big_endian(data + 12, 4),
            2,
            <uint32_t>big_endian(data + 17, 4),
            attributes,
            delta,
            base,
            last,
            producer,
            epoch,
            sequence,
            count,
        )
    finally:
        PyBuffer_Release(&view)


# --- write -----------------------------------------------------------------------------------


cdef class Writer:
    """A bytearray that grows; what was written so far is `size` bytes of it."""

    cdef bytearray out
    cdef Py_ssize_t size

    def __cinit__(self, Py_ssize_t expected):
        self.out = bytearray(HEADER_SIZE)
        self.size = HEADER_SIZE
        PyByteArray_Resize(self.out, HEADER_SIZE + expected)

    cdef inline uint8_t* reserve(self, Py_ssize_t more) except NULL:
        """Where to write the next `more` bytes."""
        cdef Py_ssize_t room = PyByteArray_GET_SIZE(self.out)
        if more > room - self.size:
            PyByteArray_Resize(self.out, (self.size + more) + (self.size + more) // 2)
        return <uint8_t*>PyByteArray_AS_STRING(self.out) + self.size

    cdef bytearray finish(self):
        PyByteArray_Resize(self.out, self.size)
        return self.out


cdef inline Py_ssize_t content_length(object content) except -2:
    """-1 for null."""
    if content is None:
        return -1
    if not PyBytes_Check(content):
        raise TypeError(f"bytes or None is needed, not {type(content).__name__}")
    if PyBytes_GET_SIZE(content) > INT32_MAX:
        raise OverflowError(f"{len(content)} bytes are too many for one field")
    return PyBytes_GET_SIZE(content)


cdef inline uint8_t* write_content(uint8_t* out, object content, Py_ssize_t length) noexcept:
    out = write_number(out, length)
    if length > 0:
        memcpy(out, PyBytes_AS_STRING(content), length)
        out += length
    return out


cdef Py_ssize_t headers_size(object headers) except -1:
    """The bytes of all headers, without their count."""
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t length = 0
    cdef object pair
    cdef Py_ssize_t index
    for index in range(item_count(headers)):
        pair = item_at(headers, index)
        check_pair(pair)
        if not PyUnicode_Check(<object>PyTuple_GET_ITEM(pair, 0)):
            raise TypeError("a header's key is text")
        PyUnicode_AsUTF8AndSize(<object>PyTuple_GET_ITEM(pair, 0), &length)
        total += number_size(length) + length
        length = content_length(<object>PyTuple_GET_ITEM(pair, 1))
        total += number_size(length) + (length if length > 0 else 0)
    return total


cdef uint8_t* write_headers(uint8_t* out, object headers) except NULL:
    cdef Py_ssize_t length = 0
    cdef const char* text
    cdef object pair
    cdef object content
    cdef Py_ssize_t index
    for index in range(item_count(headers)):
        pair = item_at(headers, index)
        text = PyUnicode_AsUTF8AndSize(<object>PyTuple_GET_ITEM(pair, 0), &length)
        out = write_number(out, length)
        memcpy(out, text, length)
        out += length
        content = <object>PyTuple_GET_ITEM(pair, 1)
        out = write_content(out, content, content_length(content))
    return out


cdef inline Py_ssize_t item_count(object items) except -1:
    if PyList_Check(items):
        return PyList_GET_SIZE(items)
    if PyTuple_Check(items):
        return PyTuple_GET_SIZE(items)
    raise TypeError(f"a list or tuple is needed, not {type(items).__name__}")


cdef inline object item_at(object items, Py_ssize_t index):
    if PyList_Check(items):
        return <object>PyList_GET_ITEM(items, index)
    return <object>PyTuple_GET_ITEM(items, index)


cdef inline int check_pair(object pair) except -1:
    if not PyTuple_Check(pair):
        raise TypeError(f"a tuple is needed, not {type(pair).__name__}")
    if PyTuple_GET_SIZE(pair) != 2:
        raise ValueError(f"2 values are needed, not {len(pair)}")
    return 0


cdef inline int64_t as_int64(object number) except? -1:
    if not PyLong_Check(number):
        raise TypeError(f"a whole number is needed, not {type(number).__name__}")
    return PyLong_AsLongLong(number)


cdef int write_record(
    Writer writer,
    int64_t timestamp_delta,
    int64_t offset_delta,
    object key,
    object value,
    object headers,
) except -1:
    cdef Py_ssize_t key_length = content_length(key)
    cdef Py_ssize_t value_length = content_length(value)
    cdef Py_ssize_t header_count = 0
    cdef Py_ssize_t size = 1
    cdef uint8_t* start
    cdef uint8_t* out
    if headers is not None:
        header_count = item_count(headers)
    size += number_size(timestamp_delta) + number_size(offset_delta)
    size += number_size(key_length) + (key_length if key_length > 0 else 0)
    size += number_size(value_length) + (value_length if value_length > 0 else 0)
    size += number_size(header_count)
    if header_count:
        size += headers_size(headers)
    if size > INT32_MAX:
        raise OverflowError(f"a record of {size} bytes cannot name its length")
    start = out = writer.reserve(size + NUMBERS_SIZE_MAX)
    out = write_number(out, size)
    out[0] = 0
    out = write_number(out + 1, timestamp_delta)
    out = write_number(out, offset_delta)
    out = write_content(out, key, key_length)
    out = write_content(out, value, value_length)
    out = write_number(out, header_count)
    if header_count:
        out = write_headers(out, headers)
    writer.size += out - start
    return 0


def encode_records(records, int64_t base_offset, int64_t base_timestamp):
    """61 zero bytes for the header of a batch, then the records; and their largest timestamp."""
    cdef Py_ssize_t count = item_count(records)
    cdef Py_ssize_t index
    cdef Writer writer = Writer(128 * count)
    cdef object record
    cdef int64_t offset
    cdef int64_t timestamp
    cdef int64_t offset_delta = 0
    cdef int64_t timestamp_delta = 0
    cdef int64_t max_timestamp = INT64_MIN
    for index in range(count):
        record = item_at(records, index)
        if not PyTuple_Check(record):
            raise TypeError(f"a tuple is needed, not {type(record).__name__}")
        if PyTuple_GET_SIZE(record) != 5:
            raise ValueError(f"5 values are needed, not {len(record)}")
        offset = as_int64(<object>PyTuple_GET_ITEM(record, 0))
        timestamp = as_int64(<object>PyTuple_GET_ITEM(record, 1))
        if (difference_overflows(offset, base_offset, &offset_delta)
                or not INT32_MIN <= offset_delta <= INT32_MAX):
            raise OverflowError(f"offset {offset} is too far from base offset {base_offset}")
        if difference_overflows(timestamp, base_timestamp, &timestamp_delta):
            raise OverflowError(
                f"timestamp {timestamp} is too far from base timestamp {base_timestamp}"
            )
        write_record(
            writer,
            timestamp_delta,
            offset_delta,
            <object>PyTuple_GET_ITEM(record, 2),
            <object>PyTuple_GET_ITEM(record, 3),
            <object>PyTuple_GET_ITEM(record, 4),
        )
        if timestamp > max_timestamp:
            max_timestamp = timestamp
    return writer.finish(), max_timestamp


cdef inline bint difference_overflows(
    int64_t left, int64_t right, int64_t* difference
) noexcept nogil:
    if right < 0:
        if left > INT64_MAX + right:
            return True
    elif left < INT64_MIN + right:
        return True
    difference[0] = left - right
    return False


def encode_pairs(pairs):
    """As `encode_records`, for keys and values of the base timestamp, without headers."""
    cdef Py_ssize_t count = item_count(pairs)
    cdef Py_ssize_t index
    cdef Writer writer = Writer(128 * count)
    cdef object pair
    for index in range(count):
        pair = item_at(pairs, index)
        check_pair(pair)
        write_record(
            writer,
            0,
            index,
            <object>PyTuple_GET_ITEM(pair, 0),
            <object>PyTuple_GET_ITEM(pair, 1),
            None,
        )
    return writer.finish()


def rewrite_records(section, Py_ssize_t count, flags, int64_t timestamp_shift):
    """61 zero bytes, then the records flagged 1, each `timestamp_shift` later than its delta."""
    cdef Py_buffer view
    cdef Py_buffer chosen
    cdef Walk walk
    cdef Span span
    cdef bytearray out
    cdef uint8_t* start
    cdef uint8_t* end
    cdef int state
    PyObject_GetBuffer(section, &view, PyBUF_SIMPLE)
    try:
        PyObject_GetBuffer(flags, &chosen, PyBUF_SIMPLE)
        try:
            if chosen.len != count:
                raise ValueError(f"{chosen.len} flags for {count} records")
            state = begin(&walk, view.buf, view.len, count)
            if state < 0:
                raise broken(&walk)
            out = bytearray(HEADER_SIZE)
            PyByteArray_Resize(
                out,
                HEADER_SIZE + view.len + (REWRITE_GROWTH_MAX * count if timestamp_shift else 0),
            )
            start = <uint8_t*>PyByteArray_AS_STRING(out)
            end = start + HEADER_SIZE
            with nogil:
                state = rewrite(&walk, &span, <const uint8_t*>chosen.buf, timestamp_shift, &end)
            if state == -2:
                raise refused(TIMESTAMP_RANGE, &walk, &span)
            if state < 0:
                raise broken(&walk)
            PyByteArray_Resize(out, end - start)
            return out
        finally:
            PyBuffer_Release(&chosen)
    finally:
        PyBuffer_Release(&view)


cdef int rewrite(
    Walk* walk, Span* span, const uint8_t* flags, int64_t shift, uint8_t** end
) noexcept nogil:
    """0; -1 with the fault in `walk`; -2 when a shifted timestamp delta has no room."""
    cdef uint8_t* out = end[0]
    cdef int64_t shifted = 0
    cdef Py_ssize_t rest
    cdef int state
    while True:
        state = advance(walk, span)
        if state <= 0:
            break
        if not flags[walk.index - 1]:
            continue
        if not shift:
            memcpy(out, walk.data + span.start, span.end - span.start)
            out += span.end - span.start
            continue
        if sum_overflows(span.timestamp_delta, shift, &shifted):
            return -2
        rest = span.end - span.after_timestamp
        out = write_number(out, 1 + number_size(shifted) + rest)
        out[0] = walk.data[span.attributes]
        out = write_number(out + 1, shifted)
        memcpy(out, walk.data + span.after_timestamp, rest)
        out += rest
    end[0] = out
    return state


# --- partitioning ----------------------------------------------------------------------------


def murmur2(data):
    """The 32-bit hash that producers partition by, as a signed number."""
    cdef Py_buffer view
    cdef uint32_t digest
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    digest = murmur2_of(<const uint8_t*>view.buf, view.len)
    PyBuffer_Release(&view)
    return <int32_t>digest


cdef uint32_t murmur2_of(const uint8_t* data, Py_ssize_t size) noexcept nogil:
    cdef uint32_t multiplier = 0x5BD1E995
    cdef uint32_t digest = <uint32_t>0x9747B28C ^ <uint32_t>size
    cdef uint32_t block
    cdef Py_ssize_t rest = size & 3
    cdef const uint8_t* whole_end = data + (size - rest)
    while data < whole_end:
        block = (<uint32_t>data[0] | <uint32_t>data[1] << 8
                 | <uint32_t>data[2] << 16 | <uint32_t>data[3] << 24)
        data += 4
        block *= multiplier
        block ^= block >> 24
        block *= multiplier
        digest = digest * multiplier ^ block
    if rest:
        block = data[0]
        if rest > 1:
            block |= <uint32_t>data[1] << 8
        if rest > 2:
            block |= <uint32_t>data[2] << 16
        digest = (digest ^ block) * multiplier
    digest = (digest ^ digest >> 13) * multiplier
    return digest ^ digest >> 15


# --- compaction ------------------------------------------------------------------------------


cdef struct Digest:
    uint64_t low
    uint64_t high


cdef struct Slot:
    uint64_t low
    uint64_t high
    uint64_t held  # offset + 1; 0 means empty


cdef extern from *:
    """
    #if defined(__GNUC__)
    #define QUIRE_FETCH_AHEAD(address) __builtin_prefetch(address)
    #else
    #define QUIRE_FETCH_AHEAD(address) ((void)(address))
    #endif
    """
    void fetch_ahead "QUIRE_FETCH_AHEAD"(const void* address) noexcept nogil


cdef enum:
    ASKED_MAX = 16  # records whose slots are on their way from memory at once


cdef struct Asked:
    Digest digest
    int64_t offset
    int64_t timestamp_delta
    Py_ssize_t index
    bint is_tombstone
    bint is_kept  # without a look into the table


cdef struct SipState:
    uint64_t v0
    uint64_t v1
    uint64_t v2
    uint64_t v3


cdef inline uint64_t rotate(uint64_t word, int bits) noexcept nogil:
    return (word << bits) | (word >> (64 - bits))


cdef inline uint64_t load_word(const uint8_t* data) noexcept nogil:
    cdef uint64_t word = 0
    cdef int index
    for index in range(8):
        word |= <uint64_t>data[index] << (8 * index)
    return word


cdef inline void sip_round(SipState* state) noexcept nogil:
    state.v0 += state.v1
    state.v1 = rotate(state.v1, 13) ^ state.v0
    state.v0 = rotate(state.v0, 32)
    state.v2 += state.v3
    state.v3 = rotate(state.v3, 16) ^ state.v2
    state.v0 += state.v3
    state.v3 = rotate(state.v3, 21) ^ state.v0
    state.v2 += state.v1
    state.v1 = rotate(state.v1, 17) ^ state.v2
    state.v2 = rotate(state.v2, 32)


cdef Digest siphash(
    uint64_t key_low, uint64_t key_high, const uint8_t* data, Py_ssize_t size
) noexcept nogil:
    """SipHash-2-4 with 128 bits of output."""
    cdef SipState state
    cdef Digest digest
    cdef uint64_t word
    cdef int index
    cdef Py_ssize_t rest = size & 7
    cdef const uint8_t* whole_end = data + (size - rest)
    state.v0 = key_low ^ <uint64_t>0x736F6D6570736575
    state.v1 = key_high ^ <uint64_t>0x646F72616E646F6D ^ 0xEE
    state.v2 = key_low ^ <uint64_t>0x6C7967656E657261
    state.v3 = key_high ^ <uint64_t>0x7465646279746573
    while data < whole_end:
        word = load_word(data)
        data += 8
        state.v3 ^= word
        sip_round(&state)
        sip_round(&state)
        state.v0 ^= word
    word = <uint64_t>size << 56
    for index in range(<int>rest):
        word |= <uint64_t>data[index] << (8 * index)
    state.v3 ^= word
    sip_round(&state)
    sip_round(&state)
    state.v0 ^= word
    state.v2 ^= 0xEE
    for index in range(4):
        sip_round(&state)
    digest.low = state.v0 ^ state.v1 ^ state.v2 ^ state.v3
    state.v1 ^= 0xDD
    for index in range(4):
        sip_round(&state)
    digest.high = state.v0 ^ state.v1 ^ state.v2 ^ state.v3
    return digest


def siphash128(bytes hash_key, bytes data):
    """SipHash-2-4-128 of `data`: what the offset table knows a key by."""
    cdef Digest digest
    check_hash_key(hash_key)
    digest = siphash(
        load_word(<const uint8_t*>PyBytes_AS_STRING(hash_key)),
        load_word(<const uint8_t*>PyBytes_AS_STRING(hash_key) + 8),
        <const uint8_t*>PyBytes_AS_STRING(data),
        PyBytes_GET_SIZE(data),
    )
    return int(digest.low).to_bytes(8, "little") + int(digest.high).to_bytes(8, "little")


cdef int check_hash_key(bytes hash_key) except -1:
    if PyBytes_GET_SIZE(hash_key) != 16:
        raise ValueError(f"the hash key has {len(hash_key)} bytes, not 16")
    return 0


cdef struct Choice:
    uint8_t* flags
    int64_t end_offset
    bint keep_tombstones
    Py_ssize_t kept
    Py_ssize_t tombstones
    Py_ssize_t keyless
    int64_t first_delta
    int64_t max_delta


cdef class OffsetTable:
    """Digests of keys and their latest offsets in one allocation, open addressing, linear probes.

    Invariants
      T1  size <= capacity < the number of slots: a probe finds its digest or an empty slot.
      T2  The offset kept for a digest is the largest ever put.
    """

    cdef Slot* slots
    cdef uint64_t slot_count
    cdef readonly Py_ssize_t capacity
    cdef readonly Py_ssize_t size
    cdef uint64_t key_low
    cdef uint64_t key_high

    def __cinit__(self, Py_ssize_t memory_bytes, bytes hash_key, double load_factor=0.9):
        cdef Py_ssize_t count = memory_bytes // <Py_ssize_t>sizeof(Slot)
        self.capacity = min(<Py_ssize_t>(<double>count * load_factor), count - 1)
        if self.capacity < 1:
            raise ValueError(
                f"an offset table needs {2 * sizeof(Slot)} bytes, not {memory_bytes}"
            )
        check_hash_key(hash_key)
        self.key_low = load_word(<const uint8_t*>PyBytes_AS_STRING(hash_key))
        self.key_high = load_word(<const uint8_t*>PyBytes_AS_STRING(hash_key) + 8)
        self.slots = <Slot*>calloc(count, sizeof(Slot))
        if self.slots is NULL:
            raise MemoryError(f"{memory_bytes} bytes for an offset table")
        self.slot_count = <uint64_t>count

    def __dealloc__(self):
        free(self.slots)

    cdef inline Digest digest_ahead(
        self, const uint8_t* key, int64_t length
    ) noexcept nogil:
        """The digest of a key, and its slot on the way from memory: a large table is not in any cache."""
        cdef Digest digest = siphash(self.key_low, self.key_high, key, <Py_ssize_t>length)
        cdef Slot* slot = &self.slots[digest.low % self.slot_count]
        fetch_ahead(slot)
        fetch_ahead(<const uint8_t*>slot + 64)
        return digest

    cdef inline Slot* find(self, Digest digest) noexcept nogil:
        """The slot of this digest, or the empty one where it belongs."""
        cdef uint64_t index = digest.low % self.slot_count
        cdef Slot* slot
        while True:
            slot = &self.slots[index]
            if not slot.held or (slot.low == digest.low and slot.high == digest.high):
                return slot
            index += 1
            if index == self.slot_count:
                index = 0

    cdef inline bint remember(self, Digest digest, int64_t offset) noexcept nogil:
        """False when there is no room for the key."""
        cdef Slot* slot = self.find(digest)
        if not slot.held:
            if self.size >= self.capacity:
                return False
            self.size += 1
            slot.low = digest.low
            slot.high = digest.high
        if <uint64_t>offset >= slot.held:
            slot.held = <uint64_t>offset + 1
        return True

    cdef inline Digest digest_of(self, bytes key) noexcept:
        return siphash(
            self.key_low,
            self.key_high,
            <const uint8_t*>PyBytes_AS_STRING(key),
            PyBytes_GET_SIZE(key),
        )

    def put(self, bytes key not None, int64_t offset):
        """Remember `offset` for `key` unless a later one is known; False: there is no room."""
        if offset < 0 or offset == INT64_MAX:
            raise OverflowError(f"offset {offset} is not one of a log")
        return self.remember(self.digest_of(key), offset)

    def get(self, bytes key not None):
        """The latest offset of `key`, -1 when it has none."""
        return <int64_t>self.find(self.digest_of(key)).held - 1

    def put_records(
        self, section, Py_ssize_t count, int64_t base_offset, int64_t from_offset
    ):
        """Put every record that has a key and an offset >= `from_offset`.

        Gives -1, or the offset of the first record that found no room.
        """
        cdef Py_buffer view
        cdef Walk walk
        cdef Span span
        cdef int64_t offset = -1
        cdef int state
        PyObject_GetBuffer(section, &view, PyBUF_SIMPLE)
        try:
            state = begin(&walk, view.buf, view.len, count)
            if state == 0:
                with nogil:
                    state = self.put_walk(&walk, &span, base_offset, from_offset, &offset)
            if state == -2:
                raise refused(OFFSET_RANGE, &walk, &span)
            if state < 0:
                raise broken(&walk)
            return offset if state == 1 else -1
        finally:
            PyBuffer_Release(&view)

    cdef int put_walk(
        self, Walk* walk, Span* span, int64_t base_offset, int64_t from_offset, int64_t* offset
    ) noexcept nogil:
        """0; 1 when `offset` found no room; -1 with the fault in `walk`; -2 for a bad offset."""
        cdef Asked[ASKED_MAX] asked
        cdef int count = 0
        cdef int index
        cdef int state = 1
        while state == 1:
            state = advance(walk, span)
            if state == 1:
                if not log_offset(base_offset, span.offset_delta, offset):
                    state = -2
                elif offset[0] >= from_offset and span.key_length >= 0:
                    asked[count].digest = self.digest_ahead(
                        walk.data + span.key_start, span.key_length
                    )
                    asked[count].offset = offset[0]
                    count += 1
            # What was asked before a fault is put before the fault is told.
            if count == ASKED_MAX or state != 1:
                for index in range(count):
                    if not self.remember(asked[index].digest, asked[index].offset):
                        offset[0] = asked[index].offset
                        return 1
                count = 0
        return state

    def select_records(
        self, section, Py_ssize_t count, int64_t base_offset, int64_t end_offset, *,
        bint keep_tombstones,
    ):
        """Which records survive: the latest of each key, and all from `end_offset` on."""
        cdef Py_buffer view
        cdef Walk walk
        cdef Choice choice
        cdef Span span
        cdef bytearray flags
        cdef int state
        PyObject_GetBuffer(section, &view, PyBUF_SIMPLE)
        try:
            state = begin(&walk, view.buf, view.len, count)
            if state < 0:
                raise broken(&walk)
            flags = bytearray(count)
            choice = Choice(
                <uint8_t*>PyByteArray_AS_STRING(flags), end_offset, keep_tombstones, 0, 0, 0, 0, 0
            )
            with nogil:
                state = self.select_walk(&walk, &span, base_offset, &choice)
            if state == -2:
                raise refused(OFFSET_RANGE, &walk, &span)
            if state < 0:
                raise broken(&walk)
        finally:
            PyBuffer_Release(&view)
        return Selection(
            flags, choice.kept, choice.tombstones, choice.keyless,
            choice.first_delta, choice.max_delta,
        )

    cdef int select_walk(
        self, Walk* walk, Span* span, int64_t base_offset, Choice* choice
    ) noexcept nogil:
        """0; -1 with the fault in `walk`; -2 for a bad offset."""
        cdef Asked[ASKED_MAX] asked
        cdef Asked* one
        cdef int count = 0
        cdef int index
        cdef int64_t offset = 0
        cdef int state = 1
        while state == 1:
            state = advance(walk, span)
            if state == 1 and not log_offset(base_offset, span.offset_delta, &offset):
                state = -2
            if state == 1:
                one = &asked[count]
                one.is_kept = offset >= choice.end_offset
                one.is_tombstone = span.key_length >= 0 and span.value_length < 0
                one.offset = offset
                one.timestamp_delta = span.timestamp_delta
                one.index = walk.index - 1
                if not one.is_kept and span.key_length < 0:
                    choice.keyless += 1
                elif one.is_kept or choice.keep_tombstones or not one.is_tombstone:
                    if not one.is_kept:
                        one.digest = self.digest_ahead(
                            walk.data + span.key_start, span.key_length
                        )
                    count += 1
            if count == ASKED_MAX or state != 1:
                for index in range(count):
                    one = &asked[index]
                    if one.is_kept or one.offset >= <int64_t>self.find(one.digest).held - 1:
                        keep(choice, one)
                count = 0
        return state


cdef inline void keep(Choice* choice, const Asked* one) noexcept nogil:
    choice.flags[one.index] = 1
    choice.tombstones += one.is_tombstone
    if not choice.kept:
        choice.first_delta = choice.max_delta = one.timestamp_delta
    elif one.timestamp_delta > choice.max_delta:
        choice.max_delta = one.timestamp_delta
    choice.kept += 1


cdef inline bint log_offset(int64_t base_offset, int64_t delta, int64_t* offset) noexcept nogil:
    """Whether the sum is an offset that a log can hold."""
    if sum_overflows(base_offset, delta, offset):
        return False
    return offset[0] >= 0 and offset[0] != INT64_MAX
