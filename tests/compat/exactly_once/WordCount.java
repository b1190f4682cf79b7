import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.state.Stores;

/** WordCount BOOTSTRAP SOURCE TARGET APPLICATION DIRECTORY: counts words exactly once, until its input ends. */
public class WordCount {
    public static void main(String[] words) throws Exception {
        Properties settings = new Properties();
        settings.putAll(Map.of(
            "bootstrap.servers", words[0], "application.id", words[3], "state.dir", words[4],
            "processing.guarantee", "exactly_once_v2", "commit.interval.ms", 50, "num.stream.threads", 2,
            "replication.factor", 1, "reconnect.backoff.max.ms", 500));
        settings.putAll(Map.of(
            "main.consumer.session.timeout.ms", 6000, "main.consumer.heartbeat.interval.ms", 500,
            "main.consumer.auto.offset.reset", "earliest", "main.consumer.max.poll.records", 50,
            "producer.transaction.timeout.ms", 8000));
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(words[1], Consumed.with(Serdes.String(), Serdes.String()))
            .flatMapValues(line -> List.of(line.split(" ")))
            .groupBy((key, word) -> word, Grouped.with(Serdes.String(), Serdes.String()))
            .count(Materialized.<String, Long>as(Stores.inMemoryKeyValueStore("counts"))
                .withKeySerde(Serdes.String()).withValueSerde(Serdes.Long()))
            .toStream()
            .mapValues(String::valueOf)
            .to(words[2], Produced.with(Serdes.String(), Serdes.String()));
        KafkaStreams streams = new KafkaStreams(builder.build(), settings);
        streams.setUncaughtExceptionHandler(failed -> {
            System.err.println(failed);
            return StreamThreadExceptionResponse.REPLACE_THREAD;
        });
        streams.start();
        while (System.in.read() >= 0) continue;
        streams.close();
    }
}
