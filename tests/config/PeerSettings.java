// What Apache Kafka says of its settings, as one JSON file: java PeerSettings QUESTIONS ANSWERS
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.lang.reflect.Field;
import java.util.*;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.coordinator.group.GroupConfig;
import org.apache.kafka.server.config.*;
import org.apache.kafka.server.metrics.ClientMetricsConfigs;
import org.apache.kafka.storage.internals.log.LogConfig;

public class PeerSettings {
    public static void main(String[] files) throws Exception {
        JsonNode questions = new ObjectMapper().readTree(new File(files[0]));
        Map<String, Object> all = new TreeMap<>();
        all.put("broker", table(AbstractKafkaConfig.CONFIG_DEF));
        all.put("throttles", table(QuotaConfig.brokerQuotaConfigs()));
        all.put("topic", table(LogConfig.configDefCopy()));
        all.put("group", table(GroupConfig.CONFIG_DEF));
        all.put("client metrics", table(ClientMetricsConfigs.configDef()));
        all.put("client quotas", table(QuotaConfig.userAndClientQuotaConfigs()));
        all.put("address quotas", table(QuotaConfig.ipConfigs()));
        all.put("dynamic", DynamicBrokerConfig.dynamicConfigUpdateModes());
        all.put("stores", new TreeSet<>(DynamicBrokerConfig.DYNAMIC_SECURITY_CONFIGS));
        Map<String, Object> synonyms = new TreeMap<>();
        for (String name : AbstractKafkaConfig.CONFIG_DEF.names())
            synonyms.put(name, DynamicBrokerConfig.brokerConfigSynonyms(name, true));
        all.put("broker synonyms", synonyms);
        Map<String, Object> topics = new TreeMap<>();
        ServerTopicConfigSynonyms.ALL_TOPIC_CONFIG_SYNONYMS.forEach((name, list) -> topics.put(
            name, list.stream().map(one -> List.of(one.name(), one.converter().apply("1"))).toList()));
        all.put("topic synonyms", topics);
        Map<String, Object> groups = new TreeMap<>();
        GroupConfig.ALL_GROUP_CONFIG_SYNONYMS.forEach((name, one) -> groups.put(name, one.orElse(null)));
        all.put("group synonyms", groups);
        List<Object> parsed = new ArrayList<>();
        for (JsonNode one : questions.get("parse"))
            parsed.add(parse(ConfigDef.Type.valueOf(one.get(0).asText()), one.get(1).asText()));
        all.put("parsed", parsed);
        List<Object> started = new ArrayList<>();
        for (JsonNode node : questions.get("start")) started.add(start(node));
        all.put("started", started);
        new ObjectMapper().writeValue(new File(files[1]), all);
    }

    static Map<String, Object> table(ConfigDef definitions) throws Exception {
        Map<String, Object> rows = new TreeMap<>();
        for (ConfigDef.ConfigKey key : definitions.configKeys().values()) {
            Map<String, Object> row = new TreeMap<>();
            row.put("type", key.type.name());
            row.put("required", !key.hasDefault());
            Object value = key.hasDefault() ? key.defaultValue : null;
            row.put("default", ConfigDef.convertToString(value, key.type));
            row.put("importance", key.importance.name());
            row.put("internal", key.internalConfig);
            row.put("validator", key.validator == null ? null : key.validator.getClass().getSimpleName());
            row.put("rule", key.validator == null ? "" : key.validator.toString());
            row.put("may be empty", key.validator instanceof ConfigDef.ValidList list && flag(list));
            rows.put(key.name, row);
        }
        return rows;
    }

    static boolean flag(ConfigDef.ValidList list) throws Exception {
        Field field = ConfigDef.ValidList.class.getDeclaredField("isEmptyAllowed");
        field.setAccessible(true);
        return field.getBoolean(list);
    }

    static String parse(ConfigDef.Type type, String text) {
        try {
            return ConfigDef.convertToString(ConfigDef.parseType("setting", text, type), type);
        } catch (RuntimeException refused) {
            return null;
        }
    }

    static boolean start(JsonNode node) {
        Properties properties = new Properties();
        node.properties().forEach(one -> properties.put(one.getKey(), one.getValue().asText()));
        try {
            new kafka.server.KafkaConfig(properties);
            return true;
        } catch (RuntimeException refused) {
            return false;
        }
    }
}
