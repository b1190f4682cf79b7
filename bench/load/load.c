/* A client that asks as fast as a server answers, so that the server is what is measured.

   One thread, one epoll set, any number of connections, any number of requests under way on each. It sends frames that
   somebody else encoded (only the correlation id is written anew), reads every answer to its end, and believes none: the
   correlation ids must come back in order and the error codes must be zero, else the run says which were not.

     load --port P --frames FILE --check KIND [--connections N] [--depth D] [--seconds S] [--warmup S] [--rate R] [--cycle]
     load --port P --frames FILE --check follow --offset-at N [--seconds S] [--warmup S] [--rate R]

   FILE holds frames, each with its length in front, as on the wire. --cycle: every request takes the next one; without
   it connection i always sends frame i. --rate R: R requests a second over all connections, due at fixed moments, and a
   latency counts from the moment at which its request was due; without it a request follows each answer.

   `follow` measures the way from end to end: the first frame is a produce of one record, the second a fetch, whose
   fetch offset stands at byte N; a record's latency is the time from its due moment to the answer that carries it.

   `transact`: every connection is a producer of its own with `--steps` frames in FILE. Two are a produce of one batch and
   an EndTxn v5, whose answer gives the next id and epoch; three are an AddPartitionsToTxn v3, a produce and an EndTxn v4.
   The batch stands at byte `--batch-at` of the produce, the producer's id at byte `--id-at` of the EndTxn. What counts is
   the whole transaction, from the first frame to the last answer. A producer that is told to wait asks again after 1 ms.

   KIND: plain (nothing but the id), code (an error code comes first), produce (v9 to v12), fetch (v12), follow, commit
   (OffsetCommit v8 and later, of one partition), transact.
   Prints the word "begin" when the warmup is over, and one line of JSON at the end. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define HEAD_BYTES 65536      /* as much of an answer as is kept for reading */
#define KEPT_HEAD 4096         /* ... but for `follow`, which walks batches */
#define SCRATCH_BYTES (1 << 20)
#define PREFIX_BYTES 12       /* size, api key, version, correlation id */
#define CORRELATION_AT 8
#define MAX_PARTS 64
#define MAX_CODES 16
#define MOST_STEPS 3
#define CONCURRENT_TRANSACTIONS 51
#define RETRY_NS 1000000u

enum kind { PLAIN, CODE, PRODUCE, FETCH, FOLLOW, COMMIT, TRANSACT };

struct frame { uint8_t *bytes; uint32_t size; };

struct slot { uint8_t prefix[PREFIX_BYTES]; struct frame *frame; uint64_t due; };

struct connection {
    int fd;
    uint32_t number;
    uint32_t next_id, next_answer;      /* correlation ids */
    uint32_t next_unsent;               /* ids in [next_unsent, next_id) wait to be written */
    uint32_t sent_of_frame;             /* bytes of next_unsent's frame that are out */
    uint32_t frame_cursor;
    uint32_t answer_size, answer_got;   /* of the answer being read; its four size bytes count too */
    uint8_t *head;
    struct slot *slots;                 /* a ring of `capacity` */
    int wants_write;
    uint32_t step;                      /* `transact`: which frame of the transaction is next or under way */
    uint64_t began, retry_at;           /* ... when it began; when to ask again, 0 for never */
};

static struct {
    int port, offset_at, batch_at, id_at, cycle;
    enum kind kind;
    uint32_t connections, depth, capacity, head_bytes, steps;
    double seconds, warmup, rate;
    uint32_t expect;
} options = {.connections = 1, .depth = 1, .seconds = 2, .offset_at = -1, .batch_at = -1, .id_at = -1};

static struct frame *frames;
static uint32_t frame_count;
static struct connection *all;
static int epoll_fd;
static uint8_t *scratch;
static int counting;
static uint64_t counted_from, counted_to;
static uint64_t requests, bytes_in, bytes_out, payload, short_answers, waits;
static uint64_t codes_seen[MAX_CODES]; static int codes[MAX_CODES], code_count;
static float *latencies; static size_t latency_count, latency_room;

/* `follow` */
static uint64_t *due_of_offset; static size_t produced, due_room;
static int64_t fetch_offset;

static void die(const char *what) { fprintf(stderr, "load: %s: %s\n", what, strerror(errno)); exit(1); }
static void wrong(const char *what) { fprintf(stderr, "load: %s\n", what); exit(1); }

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint16_t u16(const uint8_t *p) { return (uint16_t)(p[0] << 8 | p[1]); }
static uint32_t u32(const uint8_t *p) { return (uint32_t)u16(p) << 16 | u16(p + 2); }
static uint64_t u64(const uint8_t *p) { return (uint64_t)u32(p) << 32 | u32(p + 4); }
static void put32(uint8_t *p, uint32_t v) { p[0] = v >> 24; p[1] = v >> 16; p[2] = v >> 8; p[3] = v; }
static void put64(uint8_t *p, uint64_t v) { put32(p, v >> 32); put32(p + 4, (uint32_t)v); }

/* --- reading an answer, of which `size` bytes are kept ------------------------------------------------------------- */

struct reader { const uint8_t *at, *end; };

static const uint8_t *take(struct reader *r, size_t count) {
    if ((size_t)(r->end - r->at) < count) wrong("an answer is shorter than it says");
    r->at += count;
    return r->at - count;
}

static uint32_t uvarint(struct reader *r) {
    uint32_t value = 0;
    for (int shift = 0; shift < 35; shift += 7) {
        uint8_t byte = *take(r, 1);
        value |= (uint32_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return value;
    }
    wrong("a varint does not end");
    return 0;
}

static void saw_code(int code) {
    if (!code) return;
    for (int i = 0; i < code_count; i++) if (codes[i] == code) { codes_seen[i]++; return; }
    if (code_count < MAX_CODES) { codes[code_count] = code; codes_seen[code_count++] = 1; }
}

static int produce_code(struct reader *r) {
    if (uvarint(r) != 2) wrong("a produce answer is not about one topic");
    take(r, uvarint(r) - 1);
    if (uvarint(r) != 2) wrong("a produce answer is not about one partition");
    take(r, 4);
    return (int16_t)u16(take(r, 2));
}

/* The error code; where the records are and how many bytes of them. */
static int fetch_code(struct reader *r, uint32_t *records) {
    *records = 0;
    take(r, 4);
    int code = (int16_t)u16(take(r, 2));
    take(r, 4);
    if (code || uvarint(r) != 2) return code ? code : -1000;
    take(r, uvarint(r) - 1);
    if (uvarint(r) != 2) wrong("a fetch answer is not about one partition");
    take(r, 4);
    code = (int16_t)u16(take(r, 2));
    take(r, 24);
    for (uint32_t aborted = uvarint(r); aborted > 1; aborted--) take(r, 17);
    take(r, 4);
    uint32_t size = uvarint(r);
    *records = size ? size - 1 : 0;
    return code;
}

/* The error code of an answer about one partition, as OffsetCommit and AddPartitionsToTxn write it. */
static int partition_code(struct reader *r) {
    take(r, 4);
    if (uvarint(r) != 2) wrong("an answer is not about one topic");
    take(r, uvarint(r) - 1);
    if (uvarint(r) != 2) wrong("an answer is not about one partition");
    take(r, 4);
    return (int16_t)u16(take(r, 2));
}

static void remember(uint64_t due, uint64_t now) {
    if (!counting) return;
    if (latency_count == latency_room) {
        latency_room = latency_room ? latency_room * 2 : 1 << 16;
        latencies = realloc(latencies, latency_room * sizeof *latencies);
        if (!latencies) die("memory");
    }
    latencies[latency_count++] = (float)((double)(now - due) / 1000.0);
}

/* Every record of every batch that came has arrived; the next fetch starts behind them. */
static void arrived(const uint8_t *at, uint32_t size, uint64_t now) {
    const uint8_t *end = at + size;
    while (end - at >= 61) {
        uint64_t base = u64(at);
        uint32_t length = u32(at + 8);
        int64_t next = (int64_t)(base + u32(at + 23) + 1);
        if ((uint32_t)(end - at) < length + 12) break;
        for (; fetch_offset < next; fetch_offset++) {
            if ((size_t)fetch_offset >= produced) wrong("a record came that was never sent");
            remember(due_of_offset[fetch_offset], now);
            if (counting) requests++;
        }
        at += length + 12;
    }
}

static void ask(struct connection *c, uint64_t due);
static uint32_t waiting;                /* connections that ask again soon */

/* --- a producer of transactions ------------------------------------------------------------------------------------ */

static uint32_t crc_table[256];

static void make_crc_table(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
        crc_table[i] = crc;
    }
}

static uint32_t crc32c(const uint8_t *at, const uint8_t *end) {
    uint32_t crc = ~0u;
    for (; at < end; at++) crc = crc >> 8 ^ crc_table[(crc ^ *at) & 0xff];
    return ~crc;
}

static struct frame *frame_of(struct connection *c, uint32_t step) {
    return &frames[(c->number * options.steps + step) % frame_count];
}

/* The batch of the next transaction is of this producer, and the next in its order. */
static void renew(struct connection *c, const uint8_t *id_and_epoch) {
    uint8_t *batch = frame_of(c, options.steps - 2)->bytes + options.batch_at;
    if (id_and_epoch) {
        memcpy(frame_of(c, options.steps - 1)->bytes + options.id_at, id_and_epoch, 10);
        memcpy(batch + 43, id_and_epoch, 10);
        put32(batch + 53, 0);
    } else put32(batch + 53, u32(batch + 53) + u32(batch + 57));
    put32(batch + 17, crc32c(batch + 21, batch + 12 + u32(batch + 8)));
}

static void transacted(struct connection *c, struct reader *r, uint64_t now) {
    int last = c->step + 1 == options.steps, code;
    take(r, 1);
    if (last) { take(r, 4); code = (int16_t)u16(take(r, 2)); }
    else code = c->step + 2 == options.steps ? produce_code(r) : partition_code(r);
    if (code == CONCURRENT_TRANSACTIONS) {
        if (counting) waits++;
        waiting++;
        c->retry_at = now + RETRY_NS;
        return;
    }
    saw_code(code);
    if (code) { fprintf(stderr, "load: step %u of a transaction: error %d\n", c->step, code); exit(1); }
    if (last) {
        if (counting) requests++;
        remember(c->began, now);
        renew(c, options.steps == 2 ? take(r, 10) : NULL);
        c->began = now;
    }
    c->step = last ? 0 : c->step + 1;
    ask(c, now);
}

static void answered(struct connection *c) {
    struct reader r = {c->head + 4, c->head + (c->answer_size + 4 < options.head_bytes ? c->answer_size + 4 : options.head_bytes)};
    uint32_t id = u32(take(&r, 4)), records = 0;
    if (id != c->next_answer) wrong("answers came out of order");
    struct slot *slot = &c->slots[id % options.capacity];
    uint64_t now = now_ns();
    int code = 0;
    enum kind kind = options.kind == FOLLOW ? (c->number ? FETCH : PRODUCE) : options.kind;
    if (kind == TRANSACT) {
        c->next_answer++;
        transacted(c, &r, now);
        return;
    }
    if (kind == CODE) code = (int16_t)u16(take(&r, 2));
    if (kind == PRODUCE || kind == FETCH || kind == COMMIT) take(&r, 1);
    if (kind == COMMIT) code = partition_code(&r);
    if (kind == PRODUCE) code = produce_code(&r);
    if (kind == FETCH) code = fetch_code(&r, &records);
    saw_code(code);
    c->next_answer++;
    if (options.kind == FOLLOW) {
        if (kind == FETCH) {
            if (records) arrived(take(&r, records), records, now);
            ask(c, now);
        }
        return;
    }
    if (counting && !code) {
        requests++;
        payload += kind == FETCH ? records : 0;
        if (kind == FETCH && records < options.expect) short_answers++;
        remember(slot->due, now);
    }
    if (options.rate == 0) ask(c, now);
}

/* --- asking -------------------------------------------------------------------------------------------------------- */

static void ask(struct connection *c, uint64_t due) {
    if (c->next_id - c->next_answer >= options.capacity) wrong("the server fell too far behind the rate");
    struct slot *slot = &c->slots[c->next_id % options.capacity];
    if (options.kind == TRANSACT) slot->frame = frame_of(c, c->step);
    else slot->frame = &frames[(options.cycle ? c->frame_cursor++ : c->number) % frame_count];
    slot->due = due;
    memcpy(slot->prefix, slot->frame->bytes, PREFIX_BYTES);
    put32(slot->prefix + CORRELATION_AT, c->next_id);
    if (options.kind == FOLLOW) {
        if (c->number) put64(slot->frame->bytes + options.offset_at, (uint64_t)fetch_offset);
        else {
            if (produced == due_room) {
                due_room = due_room ? due_room * 2 : 1 << 16;
                due_of_offset = realloc(due_of_offset, due_room * sizeof *due_of_offset);
                if (!due_of_offset) die("memory");
            }
            due_of_offset[produced++] = due;
        }
    }
    c->next_id++;
}

static void watch(struct connection *c, int write) {
    if (c->wants_write == write) return;
    c->wants_write = write;
    struct epoll_event event = {.events = EPOLLIN | (write ? EPOLLOUT : 0), .data.ptr = c};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_MOD, c->fd, &event)) die("epoll_ctl");
}

static void send_waiting(struct connection *c) {
    while (c->next_unsent != c->next_id) {
        struct iovec parts[MAX_PARTS];
        int count = 0;
        uint32_t skip = c->sent_of_frame;
        for (uint32_t id = c->next_unsent; id != c->next_id && count + 2 <= MAX_PARTS; id++) {
            struct slot *slot = &c->slots[id % options.capacity];
            if (skip < PREFIX_BYTES)
                parts[count++] = (struct iovec){slot->prefix + skip, PREFIX_BYTES - skip};
            uint32_t from = skip > PREFIX_BYTES ? skip : PREFIX_BYTES;
            if (from < slot->frame->size)
                parts[count++] = (struct iovec){slot->frame->bytes + from, slot->frame->size - from};
            skip = 0;
        }
        ssize_t sent = writev(c->fd, parts, count);
        if (sent < 0 && errno == EAGAIN) { watch(c, 1); return; }
        if (sent < 0) die("writev");
        if (counting) bytes_out += (uint64_t)sent;
        uint64_t left = (uint64_t)sent + c->sent_of_frame;
        while (c->next_unsent != c->next_id) {
            uint32_t size = c->slots[c->next_unsent % options.capacity].frame->size;
            if (left < size) break;
            left -= size;
            c->next_unsent++;
        }
        c->sent_of_frame = (uint32_t)left;
    }
    watch(c, 0);
}

static void receive(struct connection *c) {
    ssize_t got = read(c->fd, scratch, SCRATCH_BYTES);
    if (got < 0 && errno == EAGAIN) return;
    if (got < 0) die("read");
    if (got == 0) wrong("the server closed a connection");
    if (counting) bytes_in += (uint64_t)got;
    uint8_t *at = scratch, *end = scratch + got;
    while (at < end) {
        if (c->answer_got < 4) {
            c->head[c->answer_got++] = *at++;
            if (c->answer_got == 4) c->answer_size = u32(c->head);
            continue;
        }
        uint32_t whole = c->answer_size + 4;
        uint32_t part = whole - c->answer_got;
        if (part > end - at) part = (uint32_t)(end - at);
        if (c->answer_got < options.head_bytes) {
            uint32_t kept = options.head_bytes - c->answer_got;
            memcpy(c->head + c->answer_got, at, kept < part ? kept : part);
        }
        c->answer_got += part;
        at += part;
        if (c->answer_got == whole) {
            c->answer_got = 0;
            answered(c);
        }
    }
    if (c->next_unsent != c->next_id) send_waiting(c);
}

/* Who was told to wait has waited. */
static void ask_again(uint64_t now) {
    for (uint32_t i = 0; i < options.connections && waiting; i++) {
        struct connection *c = &all[i];
        if (!c->retry_at || c->retry_at > now) continue;
        c->retry_at = 0;
        waiting--;
        ask(c, now);
        send_waiting(c);
    }
}

/* --- the run ------------------------------------------------------------------------------------------------------- */

static void read_frames(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) die(path);
    uint8_t size[4];
    while (fread(size, 1, 4, file) == 4) {
        frames = realloc(frames, (frame_count + 1) * sizeof *frames);
        struct frame *f = &frames[frame_count++];
        f->size = u32(size) + 4;
        f->bytes = malloc(f->size);
        memcpy(f->bytes, size, 4);
        if (f->size < PREFIX_BYTES || fread(f->bytes + 4, 1, f->size - 4, file) != f->size - 4) wrong("a frame is cut short");
    }
    fclose(file);
    if (!frame_count) wrong("no frames");
}

static void connect_all(void) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)options.port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    all = calloc(options.connections, sizeof *all);
    for (uint32_t i = 0; i < options.connections; i++) {
        struct connection *c = &all[i];
        int one = 1;
        c->number = i;
        c->frame_cursor = i * 7919u % frame_count;
        c->head = malloc(options.head_bytes);
        c->slots = calloc(options.capacity, sizeof *c->slots);
        c->fd = socket(AF_INET, SOCK_STREAM, 0);
        if (c->fd < 0 || !c->head || !c->slots) die("socket");
        if (connect(c->fd, (struct sockaddr *)&to, sizeof to)) die("connect");
        setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (fcntl(c->fd, F_SETFL, O_NONBLOCK)) die("fcntl");
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
        if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, c->fd, &event)) die("epoll_ctl");
    }
}

static int make_timer(uint64_t interval_ns) {
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    struct itimerspec every = {{(time_t)(interval_ns / 1000000000u), (long)(interval_ns % 1000000000u)}, {0, 0}};
    every.it_value = every.it_interval;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    if (fd < 0 || timerfd_settime(fd, 0, &every, NULL) || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event)) die("timerfd");
    return fd;
}

static void run(void) {
    uint64_t started = now_ns(), begin = started + (uint64_t)(options.warmup * 1e9);
    uint64_t end = begin + (uint64_t)(options.seconds * 1e9);
    uint64_t interval = options.rate > 0 ? (uint64_t)(1e9 / options.rate) : 0, due = started + interval;
    uint32_t turn = 0, askers = options.kind == FOLLOW ? 1 : options.connections;
    int timer = interval ? make_timer(interval) : -1;
    if (options.kind == FOLLOW) { ask(&all[1], started); send_waiting(&all[1]); }
    if (!interval)
        for (uint32_t i = 0; i < options.connections; i++) {
            all[i].began = now_ns();
            for (uint32_t d = 0; d < options.depth; d++) ask(&all[i], now_ns());
            send_waiting(&all[i]);
        }
    for (;;) {
        struct epoll_event events[256];
        int count = epoll_wait(epoll_fd, events, 256, waiting ? 1 : 100);
        if (count < 0 && errno != EINTR) die("epoll_wait");
        uint64_t now = now_ns();
        if (!counting && now >= begin) { counting = 1; puts("begin"); fflush(stdout);
            counted_from = now_ns(); end = counted_from + (uint64_t)(options.seconds * 1e9); }
        if (now >= end) { counted_to = now; return; }
        for (int i = 0; i < count; i++) {
            struct connection *c = events[i].data.ptr;
            if (!c) {
                uint64_t ticks;
                if (read(timer, &ticks, 8) != 8) continue;
                for (; due <= now; due += interval) {
                    struct connection *asker = &all[turn++ % askers];
                    ask(asker, due);
                    if (!asker->wants_write) send_waiting(asker);
                }
                continue;
            }
            if (events[i].events & EPOLLOUT) send_waiting(c);
            if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(c);
        }
        if (waiting) ask_again(now_ns());
    }
}

static int by_size(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

static double quantile(double part) {
    if (!latency_count) return 0;
    size_t at = (size_t)(part * (double)latency_count);
    return (double)latencies[at < latency_count ? at : latency_count - 1];
}

static void tell(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    qsort(latencies, latency_count, sizeof *latencies, by_size);
    printf("{\"requests\": %llu, \"bytes_in\": %llu, \"bytes_out\": %llu, \"payload\": %llu, \"short_answers\": %llu, \"waits\": %llu,"
           " \"seconds\": %.6f, \"client_cpu\": %.3f,"
           " \"p50_us\": %.1f, \"p99_us\": %.1f, \"p999_us\": %.1f, \"max_us\": %.1f, \"errors\": {",
           (unsigned long long)requests, (unsigned long long)bytes_in, (unsigned long long)bytes_out,
           (unsigned long long)payload, (unsigned long long)short_answers, (unsigned long long)waits,
           (double)(counted_to - counted_from) / 1e9,
           (double)used.ru_utime.tv_sec + used.ru_utime.tv_usec / 1e6 + (double)used.ru_stime.tv_sec + used.ru_stime.tv_usec / 1e6,
           quantile(.5), quantile(.99), quantile(.999), quantile(1));
    for (int i = 0; i < code_count; i++) printf("%s\"%d\": %llu", i ? ", " : "", codes[i], (unsigned long long)codes_seen[i]);
    puts("}}");
}

static enum kind kind_named(const char *name) {
    static const char *const names[] = {"plain", "code", "produce", "fetch", "follow", "commit", "transact"};
    for (int i = 0; i < 7; i++) if (!strcmp(name, names[i])) return (enum kind)i;
    wrong("no such kind of check");
    return PLAIN;
}

int main(int count, char **words) {
    const char *path = NULL;
    for (int i = 1; i < count; i++) {
        const char *word = words[i], *value = i + 1 < count ? words[i + 1] : "";
        if (!strcmp(word, "--cycle")) { options.cycle = 1; continue; }
        i++;
        if (!strcmp(word, "--port")) options.port = atoi(value);
        else if (!strcmp(word, "--frames")) path = value;
        else if (!strcmp(word, "--check")) options.kind = kind_named(value);
        else if (!strcmp(word, "--connections")) options.connections = (uint32_t)atoi(value);
        else if (!strcmp(word, "--depth")) options.depth = (uint32_t)atoi(value);
        else if (!strcmp(word, "--seconds")) options.seconds = atof(value);
        else if (!strcmp(word, "--warmup")) options.warmup = atof(value);
        else if (!strcmp(word, "--rate")) options.rate = atof(value);
        else if (!strcmp(word, "--expect")) options.expect = (uint32_t)atoi(value);
        else if (!strcmp(word, "--offset-at")) options.offset_at = atoi(value);
        else if (!strcmp(word, "--steps")) options.steps = (uint32_t)atoi(value);
        else if (!strcmp(word, "--batch-at")) options.batch_at = atoi(value);
        else if (!strcmp(word, "--id-at")) options.id_at = atoi(value);
        else wrong(word);
    }
    if (!options.port || !path || !options.connections || !options.depth) wrong("--port and --frames are needed");
    if (options.kind == FOLLOW) {
        if (options.offset_at < 0 || options.rate <= 0) wrong("follow needs --offset-at and --rate");
        options.connections = 2;
    }
    if (options.kind == TRANSACT) {
        if (options.steps < 2 || options.steps > MOST_STEPS || options.batch_at < 0 || options.id_at < 0)
            wrong("transact needs --steps, --batch-at and --id-at");
        options.depth = 1;
    }
    options.capacity = options.rate > 0 ? 1 << 14 : options.depth;
    options.head_bytes = options.kind == FOLLOW ? HEAD_BYTES : KEPT_HEAD;
    signal(SIGPIPE, SIG_IGN);
    make_crc_table();
    read_frames(path);
    scratch = malloc(SCRATCH_BYTES);
    epoll_fd = epoll_create1(0);
    if (!scratch || epoll_fd < 0) die("epoll");
    connect_all();
    run();
    tell();
    return 0;
}
