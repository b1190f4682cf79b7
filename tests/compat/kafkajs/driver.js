// The steps of tests/compat/client.py, with kafkajs. Its consumer exists only as a member of a group, so reading asks
// the client's own cluster and broker objects, which encode the fetch and decode the batches.
const { createRequire } = require('module')
const { once } = require('events')
const path = require('path')
const readline = require('readline')
const need = createRequire(path.join(process.argv[2], 'package.json'))
const { Kafka, CompressionTypes, CompressionCodecs, Partitioners, ConfigResourceTypes, logLevel } = need('kafkajs')
const snappy = need('kafkajs-snappy')
const { ZstdCodec } = need('zstd-codec')

const types = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  zstd: CompressionTypes.ZSTD,
}

const codec = (compress, decompress) => () => ({
  compress: async encoder => Buffer.from(compress(encoder.buffer)),
  decompress: async buffer => Buffer.from(decompress(buffer)),
})

const raw = value => (value === null ? null : Buffer.from(value, 'base64'))
const told = value => (value === null || value === undefined ? null : Buffer.from(value).toString('base64'))

const say = words => console.log(JSON.stringify(words))
const input = readline.createInterface({ input: process.stdin })
const line = once(input, 'line').then(([text]) => text)
const ended = once(input, 'close')

// What is sent at once becomes one batch, and the broker takes a megabyte.
function* inParts(records) {
  let part = []
  let bytes = 0
  for (const one of records) {
    const size = (one.key?.length ?? 0) + (one.value?.length ?? 0)
    if (part.length === 500 || (part.length && bytes + size > 700000)) {
      yield part
      part = []
      bytes = 0
    }
    part.push(one)
    bytes += size
  }
  if (part.length) yield part
}

class Steps {
  constructor(bootstrap) {
    this.kafka = new Kafka({
      brokers: [bootstrap],
      clientId: 'compat',
      logLevel: logLevel.ERROR,
      retry: { retries: 3 },
      createPartitioner: Partitioners.DefaultPartitioner,
    })
    this.admin = this.kafka.admin()
  }

  async produce({ topic, records, codec = 'none', idempotent = false }) {
    const producer = this.kafka.producer({
      idempotent,
      maxInFlightRequests: 1,
      createPartitioner: Partitioners.DefaultPartitioner,
    })
    await producer.connect()
    try {
      const offsets = []
      for (const part of inParts(records)) {
        const answers = await producer.send({
          topic,
          acks: -1,
          compression: types[codec],
          messages: part.map(one => ({
            partition: one.partition,
            key: raw(one.key),
            value: raw(one.value),
            timestamp: String(one.timestamp),
            headers: one.headers.reduce((all, [name, value]) => {
              ;(all[name] ||= []).push(raw(value))
              return all
            }, {}),
          })),
        })
        part.forEach((_, number) => offsets.push(Number(answers[0].baseOffset) + number))
      }
      return offsets
    } finally {
      await producer.disconnect()
    }
  }

  async consume({ topic, partition, offset, count }) {
    const symbol = Object.getOwnPropertySymbols(this.kafka).find(s => s.description.endsWith('createCluster'))
    const cluster = this.kafka[symbol]({ metadataMaxAge: 300000 })
    await cluster.connect()
    const found = []
    try {
      await cluster.addTargetTopic(topic)
      const leaders = cluster.findLeaderForPartitions(topic, [partition])
      const broker = await cluster.findBroker({ nodeId: Object.keys(leaders)[0] })
      let next = offset
      const deadline = Date.now() + 60000
      while (found.length < count && Date.now() < deadline) {
        const answer = await broker.fetch({
          maxWaitTime: 500,
          minBytes: 1,
          maxBytes: 10485760,
          rackId: '',
          topics: [{ topic, partitions: [{ partition, fetchOffset: next, maxBytes: 1048576 }] }],
        })
        for (const message of answer.responses[0].partitions[0].messages) {
          if (Number(message.offset) < next || found.length === count) continue
          next = Number(message.offset) + 1
          found.push({
            offset: Number(message.offset),
            timestamp: Number(message.timestamp),
            key: told(message.key),
            value: told(message.value),
            headers: Object.entries(message.headers).flatMap(([name, values]) =>
              [values].flat().map(value => [name, told(value)])
            ),
          })
        }
      }
    } finally {
      await cluster.disconnect()
    }
    return found
  }

  async committed({ topic, group, partitions }) {
    const [found] = await this.admin.fetchOffsets({ groupId: group, topics: [topic] })
    const offsets = new Map(found.partitions.map(one => [one.partition, Number(one.offset)]))
    return Array.from({ length: partitions }, (_, one) => offsets.get(one) ?? -1)
  }

  async member({ topic, group }) {
    const consumer = this.kafka.consumer({
      groupId: group,
      sessionTimeout: 6000,
      heartbeatInterval: 500,
      maxWaitTimeInMs: 100,
      retry: { retries: 20 },
    })
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) =>
      say({ assigned: [...(payload.memberAssignment[topic] ?? [])].sort() })
    )
    await consumer.connect()
    await consumer.subscribe({ topics: [topic], fromBeginning: true })
    await consumer.run({
      eachBatch: async ({ batch }) => say({ read: [batch.partition, ...batch.messages.map(one => Number(one.offset))] }),
    })
    await ended
    await consumer.disconnect()
  }

  async topics() {
    return (await this.admin.listTopics()).sort()
  }

  async partitions({ topic }) {
    return (await this.admin.fetchTopicMetadata({ topics: [topic] })).topics[0].partitions.length
  }

  async cluster() {
    const found = await this.admin.describeCluster()
    return { id: found.clusterId, nodes: found.brokers.map(one => one.nodeId).sort() }
  }

  async create_topic({ topic, partitions, configs }) {
    const configEntries = Object.entries(configs).map(([name, value]) => ({ name, value }))
    const topics = [{ topic, numPartitions: partitions, replicationFactor: 1, configEntries }]
    if (!(await this.admin.createTopics({ topics }))) throw Object.assign(new Error('it exists'), { code: 36 })
  }

  async delete_topic({ topic }) {
    await this.admin.deleteTopics({ topics: [topic] })
  }

  async add_partitions({ topic, count }) {
    await this.admin.createPartitions({ topicPartitions: [{ topic, count }] })
  }

  async config({ topic, name }) {
    const resources = [{ type: ConfigResourceTypes.TOPIC, name: topic, configNames: [name] }]
    const found = await this.admin.describeConfigs({ resources, includeSynonyms: false })
    return found.resources[0].configEntries[0].configValue
  }

  async offset({ topic, partition, at }) {
    const all =
      typeof at === 'number'
        ? await this.admin.fetchTopicOffsetsByTimestamp(topic, at)
        : await this.admin.fetchTopicOffsets(topic)
    const one = all.find(entry => entry.partition === partition)
    return Number(at === 'earliest' ? one.low : one.offset)
  }

  async delete_records({ topic, partition, offset }) {
    await this.admin.fetchTopicOffsets(topic) // the client looks for the leader among topics that it knows
    await this.admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: String(offset) }] })
    return this.offset({ topic, partition, at: 'earliest' })
  }
}

const code = failure => failure.code ?? failure.errors?.[0]?.code ?? (failure.cause ? code(failure.cause) : null)

async function main() {
  const zstd = await new Promise(resolve => ZstdCodec.run(made => resolve(new made.Simple())))
  CompressionCodecs[CompressionTypes.Snappy] = snappy
  CompressionCodecs[CompressionTypes.ZSTD] = codec(buffer => zstd.compress(buffer), buffer => zstd.decompress(buffer))
  const asked = JSON.parse(await line)
  const steps = new Steps(asked.bootstrap)
  const results = []
  await steps.admin.connect()
  for (const step of asked.steps) {
    try {
      results.push({ ok: (await steps[step.do](step)) ?? null })
    } catch (failure) {
      results.push({ error: code(failure), words: failure.stack })
      break
    }
  }
  await steps.admin.disconnect()
  console.log(JSON.stringify(results))
  input.close()
}

main()
