import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** What copier.py does, with Apache Kafka's own clients; `copy` only. */
public class Copier {
    final Map<String, Object> common;
    final String target;
    final String transactionalId;
    final KafkaConsumer<String, String> consumer;
    KafkaProducer<String, String> producer;
    int transactions;
    int copied;

    Copier(String bootstrap, String source, String target, String group, String transactionalId) {
        this.common = Map.of("bootstrap.servers", bootstrap, "reconnect.backoff.max.ms", 500);
        this.target = target;
        this.transactionalId = transactionalId;
        Map<String, Object> settings = new HashMap<>(common);
        settings.putAll(Map.of(
            "group.id", group, "auto.offset.reset", "earliest", "enable.auto.commit", false,
            "isolation.level", "read_committed", "max.poll.records", 20, "session.timeout.ms", 10_000,
            "heartbeat.interval.ms", 500));
        consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
        consumer.subscribe(List.of(source));
        startAnew();
    }

    void startAnew() {
        if (producer != null) producer.close(Duration.ZERO);
        Map<String, Object> settings = new HashMap<>(common);
        settings.put("transactional.id", transactionalId);
        producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
        insist(producer::initTransactions);
    }

    static void say(String what, Object words) {
        System.out.println("{\"" + what + "\": \"" + String.valueOf(words).replaceAll("[\"\n\\\\]", " ") + "\"}");
        System.out.flush();
    }

    /** Again and again while time runs out: the call may be repeated. */
    static void insist(Runnable call) {
        while (true) {
            try {
                call.run();
                return;
            } catch (TimeoutException late) {
                say("again", late);
            }
        }
    }

    void transact(ConsumerRecords<String, String> records) {
        boolean kept = ++transactions % 7 != 0;
        producer.beginTransaction();
        Map<TopicPartition, OffsetAndMetadata> reached = new HashMap<>();
        for (ConsumerRecord<String, String> one : records) {
            producer.send(new ProducerRecord<>(target, kept ? "kept" : "aborted", one.value()));
            reached.put(new TopicPartition(one.topic(), one.partition()), new OffsetAndMetadata(one.offset() + 1));
        }
        producer.sendOffsetsToTransaction(reached, consumer.groupMetadata());
        if (!kept) {
            producer.flush();
            giveUp();
            return;
        }
        insist(producer::commitTransaction);
        copied += records.count();
        say("copied", copied);
    }

    void giveUp() {
        insist(producer::abortTransaction);
        goBack();
    }

    /** To what is committed. */
    void goBack() {
        while (true) {
            try {
                Map<TopicPartition, OffsetAndMetadata> known = consumer.committed(consumer.assignment());
                for (TopicPartition one : consumer.assignment())
                    consumer.seek(one, known.get(one) == null ? 0 : known.get(one).offset());
                return;
            } catch (TimeoutException late) {
                say("again", late);
            }
        }
    }

    void once() {
        ConsumerRecords<String, String> records = consumer.poll(Duration.ofMillis(200));
        if (records.isEmpty()) return;
        try {
            transact(records);
        } catch (AuthorizationException refused) {
            throw refused;
        } catch (KafkaException failed) {
            say("failed", failed);
            try {
                giveUp();
            } catch (KafkaException fenced) {
                say("fenced", fenced);
                startAnew();
                goBack();
            }
        }
    }

    public static void main(String[] words) {
        AtomicBoolean ended = new AtomicBoolean();
        Thread listener = new Thread(() -> {
            try {
                while (System.in.read() >= 0) continue;
            } catch (IOException failed) {
                System.err.println(failed);
            }
            ended.set(true);
        });
        listener.setDaemon(true);
        listener.start();
        Copier copier = new Copier(words[1], words[2], words[3], words[4], words[5]);
        while (!ended.get()) copier.once();
        copier.consumer.close();
        copier.producer.close(Duration.ofSeconds(1));
    }
}
