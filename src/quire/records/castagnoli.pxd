"""CRC-32C with the processor's own instructions, for x86-64; elsewhere `quire_crc_ways` says 0.

Two ways, chosen when the program runs. SSE4.2 has an instruction that takes 8 bytes, but each waits three cycles for
the one before: three lanes run side by side, and a carry-less product joins them. AVX-512 with VPCLMULQDQ folds 256
bytes at a time onto the next 256 and leaves 64 bytes, which have the same remainder, to the first way.

All numbers are in the reflected order of the checksum: bit 31 is the coefficient of x^0. The constants are powers
of x modulo the polynomial, computed once by `quire_crc_prepare` instead of being written here.

See        docs/decisions/0005-codecs.md
"""

from libc.stdint cimport uint8_t, uint32_t

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    #if defined(__x86_64__) && defined(__GNUC__)
    #include <immintrin.h>

    #define QUIRE_LANE_BYTES 1344 /* a third of what is done between two joins */

    static uint64_t quire_lane_shift, quire_two_lanes_shift;
    static uint64_t quire_near_low, quire_near_high, quire_far_low, quire_far_high;

    static uint64_t quire_power_of_x(unsigned exponent) {
        uint32_t power = 0x80000000;
        while (exponent--)
            power = (power >> 1) ^ (0x82F63B78 & (0 - (power & 1)));
        return power;
    }

    static void quire_crc_prepare(void) {
        /* The product of two reflected numbers is one bit low, and the instruction multiplies by x^32. */
        quire_lane_shift = quire_power_of_x(8 * QUIRE_LANE_BYTES - 33);
        quire_two_lanes_shift = quire_power_of_x(16 * QUIRE_LANE_BYTES - 33);
        quire_near_low = quire_power_of_x(8 * 64 + 32) << 1;
        quire_near_high = quire_power_of_x(8 * 64 - 32) << 1;
        quire_far_low = quire_power_of_x(8 * 256 + 32) << 1;
        quire_far_high = quire_power_of_x(8 * 256 - 32) << 1;
    }

    static int quire_crc_ways(void) {
        __builtin_cpu_init();
        if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("pclmul"))
            return 0;
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq") ? 2 : 1;
    }

    static inline uint64_t quire_crc_word(const uint8_t *data) {
        uint64_t word;
        memcpy(&word, data, 8);
        return word;
    }

    __attribute__((target("sse4.2,pclmul")))
    static uint32_t quire_crc_lanes(uint32_t crc, const uint8_t *data, size_t size) {
        const size_t lane = QUIRE_LANE_BYTES;
        uint64_t first = crc;
        while (size >= 3 * lane) {
            uint64_t second = 0, third = 0;
            size_t at;
            __m128i moved;
            for (at = 0; at < lane; at += 8) {
                first = _mm_crc32_u64(first, quire_crc_word(data + at));
                second = _mm_crc32_u64(second, quire_crc_word(data + lane + at));
                third = _mm_crc32_u64(third, quire_crc_word(data + 2 * lane + at));
            }
            moved = _mm_xor_si128(
                _mm_clmulepi64_si128(_mm_cvtsi64_si128((int64_t)first),
                                     _mm_cvtsi64_si128((int64_t)quire_two_lanes_shift), 0),
                _mm_clmulepi64_si128(_mm_cvtsi64_si128((int64_t)second),
                                     _mm_cvtsi64_si128((int64_t)quire_lane_shift), 0));
            first = _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(moved)) ^ third;
            data += 3 * lane;
            size -= 3 * lane;
        }
        for (; size >= 8; data += 8, size -= 8)
            first = _mm_crc32_u64(first, quire_crc_word(data));
        for (; size; data++, size--)
            first = _mm_crc32_u8((uint32_t)first, *data);
        return (uint32_t)first;
    }

    __attribute__((target("avx512f,vpclmulqdq")))
    static inline __m512i quire_fold(__m512i from, __m512i by, __m512i onto) {
        return _mm512_ternarylogic_epi64(
            _mm512_clmulepi64_epi128(from, by, 0x00), _mm512_clmulepi64_epi128(from, by, 0x11), onto, 0x96);
    }

    __attribute__((target("avx512f,vpclmulqdq,sse4.2,pclmul")))
    static uint32_t quire_crc_folds(uint32_t crc, const uint8_t *data, size_t size) {
        if (size >= 512) {
            const __m512i far = _mm512_broadcast_i32x4(
                _mm_set_epi64x((int64_t)quire_far_high, (int64_t)quire_far_low));
            const __m512i near = _mm512_broadcast_i32x4(
                _mm_set_epi64x((int64_t)quire_near_high, (int64_t)quire_near_low));
            uint8_t rest[64];
            __m512i a = _mm512_xor_si512(
                _mm512_loadu_si512(data),
                _mm512_inserti32x4(_mm512_setzero_si512(), _mm_cvtsi32_si128((int)crc), 0));
            __m512i b = _mm512_loadu_si512(data + 64);
            __m512i c = _mm512_loadu_si512(data + 128);
            __m512i d = _mm512_loadu_si512(data + 192);
            for (data += 256, size -= 256; size >= 256; data += 256, size -= 256) {
                a = quire_fold(a, far, _mm512_loadu_si512(data));
                b = quire_fold(b, far, _mm512_loadu_si512(data + 64));
                c = quire_fold(c, far, _mm512_loadu_si512(data + 128));
                d = quire_fold(d, far, _mm512_loadu_si512(data + 192));
            }
            _mm512_storeu_si512(rest, quire_fold(quire_fold(quire_fold(a, near, b), near, c), near, d));
            crc = quire_crc_lanes(0, rest, 64);
        }
        return quire_crc_lanes(crc, data, size);
    }
    #else
    static void quire_crc_prepare(void) {}
    static int quire_crc_ways(void) { return 0; }
    static uint32_t quire_crc_lanes(uint32_t crc, const uint8_t *data, size_t size) { return crc; }
    static uint32_t quire_crc_folds(uint32_t crc, const uint8_t *data, size_t size) { return crc; }
    #endif
    """
    void crc_prepare "quire_crc_prepare"() noexcept nogil
    int crc_ways "quire_crc_ways"() noexcept nogil
    uint32_t crc_lanes "quire_crc_lanes"(uint32_t crc, const uint8_t* data, size_t size) noexcept nogil
    uint32_t crc_folds "quire_crc_folds"(uint32_t crc, const uint8_t* data, size_t size) noexcept nogil
