import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** The steps of tests/compat/client.py, with Apache Kafka's own Java clients. */
public class Driver {
    static final ObjectMapper JSON = new ObjectMapper();
    static BufferedReader input;
    final String bootstrap;
    final Admin admin;
    final Map<String, KafkaProducer<byte[], byte[]>> producers = new TreeMap<>();

    Driver(String bootstrap) {
        this.bootstrap = bootstrap;
        this.admin = Admin.create(Map.of("bootstrap.servers", bootstrap));
    }

    static byte[] raw(JsonNode value) {
        return value.isNull() ? null : Base64.getDecoder().decode(value.asText());
    }

    static String told(byte[] value) {
        return value == null ? null : Base64.getEncoder().encodeToString(value);
    }

    static TopicPartition place(JsonNode step) {
        return new TopicPartition(step.get("topic").asText(), step.get("partition").asInt());
    }

    JsonNode produce(JsonNode step) throws Exception {
        Map<String, Object> settings = new TreeMap<>();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("compression.type", step.path("codec").asText("none"));
        settings.put("enable.idempotence", step.path("idempotent").asBoolean(false));
        settings.put("max.request.size", step.path("largest").asInt(1_000_000));
        settings.put("linger.ms", 20);
        settings.put("acks", "all");
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        ArrayNode offsets = JSON.createArrayNode();
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            for (JsonNode one : step.get("records")) {
                ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                    step.get("topic").asText(), one.get("partition").asInt(), one.get("timestamp").asLong(),
                    raw(one.get("key")), raw(one.get("value")));
                for (JsonNode header : one.get("headers"))
                    record.headers().add(header.get(0).asText(), raw(header.get(1)));
                sent.add(producer.send(record));
            }
            producer.flush();
            for (Future<RecordMetadata> one : sent) offsets.add(one.get().offset());
        }
        return offsets;
    }

    JsonNode begin(JsonNode step) {
        Map<String, Object> settings = new TreeMap<>();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("transactional.id", step.get("name").asText());
        settings.put("transaction.timeout.ms", step.path("timeout").asInt(60_000));
        KafkaProducer<byte[], byte[]> producer =
            new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
        producers.put(step.get("producer").asText(), producer);
        producer.initTransactions();
        return null;
    }

    JsonNode transact(JsonNode step) throws Exception {
        KafkaProducer<byte[], byte[]> producer = producers.get(step.get("producer").asText());
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        ArrayNode offsets = JSON.createArrayNode();
        producer.beginTransaction();
        for (JsonNode one : step.get("records"))
            sent.add(producer.send(new ProducerRecord<>(
                step.get("topic").asText(), one.get("partition").asInt(), raw(one.get("key")), raw(one.get("value")))));
        producer.flush();
        for (Future<RecordMetadata> one : sent) offsets.add(one.get().offset());
        end(step);
        return offsets;
    }

    JsonNode end(JsonNode step) {
        KafkaProducer<byte[], byte[]> producer = producers.get(step.get("producer").asText());
        String end = step.get("end").asText();
        if (end.equals("commit")) producer.commitTransaction();
        if (end.equals("abort")) producer.abortTransaction();
        return null;
    }

    JsonNode consume(JsonNode step) {
        String isolation = step.path("committed").asBoolean(false) ? "read_committed" : "read_uncommitted";
        Map<String, Object> settings =
            Map.of("bootstrap.servers", bootstrap, "check.crcs", true, "isolation.level", isolation);
        ArrayNode found = JSON.createArrayNode();
        int count = step.get("count").asInt();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(List.of(place(step)));
            consumer.seek(place(step), step.get("offset").asLong());
            long deadline = System.nanoTime() + 60_000_000_000L;
            while (found.size() < count && System.nanoTime() < deadline)
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(500))) {
                    if (found.size() == count) break;
                    ObjectNode one = found.addObject();
                    one.put("offset", record.offset()).put("timestamp", record.timestamp());
                    one.put("key", told(record.key())).put("value", told(record.value()));
                    ArrayNode headers = one.putArray("headers");
                    for (Header header : record.headers()) headers.addArray().add(header.key()).add(told(header.value()));
                }
        }
        return found;
    }

    KafkaConsumer<byte[], byte[]> inGroup(JsonNode step) {
        Map<String, Object> settings = new TreeMap<>(
            Map.of("bootstrap.servers", bootstrap, "group.id", step.get("group").asText(),
                "auto.offset.reset", "earliest", "enable.auto.commit", false));
        if (step.path("protocol").asText("classic").equals("classic"))
            settings.putAll(Map.of("session.timeout.ms", 6000, "heartbeat.interval.ms", 500));
        else settings.put("group.protocol", "consumer"); // the broker says how long
        if (step.has("instance")) settings.put("group.instance.id", step.get("instance").asText());
        return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    JsonNode committed(JsonNode step) {
        ArrayNode found = JSON.createArrayNode();
        try (KafkaConsumer<byte[], byte[]> consumer = inGroup(step)) {
            for (int n = 0; n < step.get("partitions").asInt(); n++) {
                TopicPartition one = new TopicPartition(step.get("topic").asText(), n);
                OffsetAndMetadata known = consumer.committed(Set.of(one)).get(one);
                found.add(known == null ? -1 : known.offset());
            }
        }
        return found;
    }

    void member(JsonNode step) throws Exception {
        AtomicBoolean ended = new AtomicBoolean();
        Thread listener = new Thread(() -> {
            try {
                while (input.readLine() != null) continue;
            } catch (IOException failed) {
                System.err.println(failed);
            }
            ended.set(true);
        });
        listener.setDaemon(true);
        listener.start();
        TreeSet<Integer> known = null;
        try (KafkaConsumer<byte[], byte[]> consumer = inGroup(step)) {
            if (step.has("pattern")) consumer.subscribe(new SubscriptionPattern(step.get("pattern").asText()));
            else consumer.subscribe(List.of(step.get("topic").asText()));
            while (!ended.get()) {
                ConsumerRecords<byte[], byte[]> polled = consumer.poll(Duration.ofMillis(100));
                TreeSet<Integer> assigned = new TreeSet<>();
                for (TopicPartition one : consumer.assignment()) assigned.add(one.partition());
                if (!assigned.equals(known)) {
                    known = assigned;
                    say("assigned", JSON.valueToTree(assigned));
                }
                for (ConsumerRecord<byte[], byte[]> record : polled)
                    say("read", JSON.createArrayNode().add(record.partition()).add(record.offset()));
                try {
                    if (!polled.isEmpty()) consumer.commitSync();
                } catch (CommitFailedException | RebalanceInProgressException moved) {
                    continue; // the group has moved on; who reads this next reads it again
                }
            }
        }
    }

    static void say(String what, JsonNode words) throws IOException {
        System.out.println(JSON.writeValueAsString(JSON.createObjectNode().set(what, words)));
        System.out.flush();
    }

    JsonNode cluster() throws Exception {
        ObjectNode found = JSON.createObjectNode().put("id", admin.describeCluster().clusterId().get());
        TreeSet<Integer> nodes = new TreeSet<>();
        for (Node node : admin.describeCluster().nodes().get()) nodes.add(node.id());
        nodes.forEach(found.putArray("nodes")::add);
        return found;
    }

    void createTopic(JsonNode step) throws Exception {
        Map<String, String> configs = new TreeMap<>();
        step.get("configs").fields().forEachRemaining(one -> configs.put(one.getKey(), one.getValue().asText()));
        NewTopic topic = new NewTopic(step.get("topic").asText(), step.get("partitions").asInt(), (short) 1);
        admin.createTopics(List.of(topic.configs(configs))).all().get();
    }

    JsonNode config(JsonNode step) throws Exception {
        ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, step.get("topic").asText());
        return JSON.valueToTree(
            admin.describeConfigs(List.of(topic)).all().get().get(topic).get(step.get("name").asText()).value());
    }

    void setConfig(JsonNode step) throws Exception {
        ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, step.get("topic").asText());
        ConfigEntry entry = new ConfigEntry(step.get("name").asText(), step.get("value").asText());
        AlterConfigOp change = new AlterConfigOp(entry, AlterConfigOp.OpType.SET);
        admin.incrementalAlterConfigs(Map.of(topic, List.of(change))).all().get();
    }

    JsonNode offset(JsonNode step) throws Exception {
        JsonNode at = step.get("at");
        OffsetSpec wanted = at.isNumber() ? OffsetSpec.forTimestamp(at.asLong())
            : at.asText().equals("earliest") ? OffsetSpec.earliest() : OffsetSpec.latest();
        return JSON.valueToTree(
            admin.listOffsets(Map.of(place(step), wanted)).partitionResult(place(step)).get().offset());
    }

    JsonNode deleteRecords(JsonNode step) throws Exception {
        RecordsToDelete before = RecordsToDelete.beforeOffset(step.get("offset").asLong());
        return JSON.valueToTree(
            admin.deleteRecords(Map.of(place(step), before)).lowWatermarks().get(place(step)).get().lowWatermark());
    }

    JsonNode carryOut(JsonNode step) throws Exception {
        String topic = step.path("topic").asText();
        switch (step.get("do").asText()) {
            case "produce": return produce(step);
            case "consume": return consume(step);
            case "begin": return begin(step);
            case "transact": return transact(step);
            case "end": return end(step);
            case "topics": return JSON.valueToTree(new TreeSet<>(admin.listTopics().names().get()));
            case "partitions":
                return JSON.valueToTree(
                    admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().size());
            case "cluster": return cluster();
            case "create_topic": createTopic(step); return null;
            case "delete_topic": admin.deleteTopics(List.of(topic)).all().get(); return null;
            case "add_partitions":
                admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(step.get("count").asInt()))).all().get();
                return null;
            case "config": return config(step);
            case "set_config": setConfig(step); return null;
            case "offset": return offset(step);
            case "delete_records": return deleteRecords(step);
            case "committed": return committed(step);
            case "member": member(step); return null;
            default: throw new IllegalArgumentException(step.get("do").asText());
        }
    }

    public static void main(String[] words) throws Exception {
        input = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        JsonNode asked = JSON.readTree(input.readLine());
        Driver driver = new Driver(asked.get("bootstrap").asText());
        ArrayNode results = JSON.createArrayNode();
        for (JsonNode step : asked.get("steps")) {
            try {
                JsonNode answer = driver.carryOut(step);
                results.addObject().set("ok", answer);
            } catch (ApiException failed) {
                results.addObject().put("error", Errors.forException(failed).code()).put("words", failed.toString());
                break;
            } catch (ExecutionException failed) {
                ObjectNode one = results.addObject();
                one.put("error", Errors.forException(failed.getCause()).code());
                one.put("words", failed.getCause().toString());
                break;
            }
        }
        System.out.println(JSON.writeValueAsString(results));
        for (KafkaProducer<byte[], byte[]> producer : driver.producers.values()) producer.close(Duration.ZERO);
        driver.admin.close();
    }
}
