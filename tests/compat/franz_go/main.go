// The steps of tests/compat/client.py, with franz-go.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

type step struct {
	Do         string            `json:"do"`
	Topic      string            `json:"topic"`
	Records    []json.RawMessage `json:"records"`
	Codec      string            `json:"codec"`
	Idempotent bool              `json:"idempotent"`
	Largest    int32             `json:"largest"`
	Partition  int32             `json:"partition"`
	Partitions int32             `json:"partitions"`
	Offset     int64             `json:"offset"`
	Count      int               `json:"count"`
	Configs    map[string]string `json:"configs"`
	Name       string            `json:"name"`
	Value      string            `json:"value"`
	At         json.RawMessage   `json:"at"`
}

type sent struct {
	Partition int32               `json:"partition"`
	Key       []byte              `json:"key"`
	Value     []byte              `json:"value"`
	Headers   [][]json.RawMessage `json:"headers"`
	Timestamp int64               `json:"timestamp"`
}

type received struct {
	Offset    int64    `json:"offset"`
	Timestamp int64    `json:"timestamp"`
	Key       []byte   `json:"key"`
	Value     []byte   `json:"value"`
	Headers   [][2]any `json:"headers"`
}

var codecs = map[string]kgo.CompressionCodec{
	"": kgo.NoCompression(), "none": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
	"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
}

type steps struct {
	bootstrap string
	admin     *kadm.Client
}

func (s *steps) produce(ctx context.Context, one step) (any, error) {
	options := []kgo.Opt{
		kgo.SeedBrokers(s.bootstrap), kgo.ProducerBatchCompression(codecs[one.Codec]),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(20 * time.Millisecond),
	}
	if one.Largest > 0 {
		options = append(options, kgo.ProducerBatchMaxBytes(one.Largest))
	}
	if !one.Idempotent {
		options = append(options, kgo.DisableIdempotentWrite())
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	var records []*kgo.Record
	for _, raw := range one.Records {
		var given sent
		if err := json.Unmarshal(raw, &given); err != nil {
			return nil, err
		}
		made := &kgo.Record{
			Topic: one.Topic, Partition: given.Partition, Key: given.Key, Value: given.Value,
			Timestamp: time.UnixMilli(given.Timestamp),
		}
		for _, pair := range given.Headers {
			var name string
			var value []byte
			if err := errors.Join(json.Unmarshal(pair[0], &name), json.Unmarshal(pair[1], &value)); err != nil {
				return nil, err
			}
			made.Headers = append(made.Headers, kgo.RecordHeader{Key: name, Value: value})
		}
		records = append(records, made)
	}
	offsets := []int64{}
	for _, result := range client.ProduceSync(ctx, records...) {
		if result.Err != nil {
			return nil, result.Err
		}
		offsets = append(offsets, result.Record.Offset)
	}
	return offsets, nil
}

func (s *steps) consume(ctx context.Context, one step) (any, error) {
	place := map[string]map[int32]kgo.Offset{one.Topic: {one.Partition: kgo.NewOffset().At(one.Offset)}}
	client, err := kgo.NewClient(kgo.SeedBrokers(s.bootstrap), kgo.ConsumePartitions(place))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	found := []received{}
	for len(found) < one.Count {
		fetches := client.PollRecords(ctx, one.Count-len(found))
		for _, failed := range fetches.Errors() {
			return nil, failed.Err
		}
		fetches.EachRecord(func(r *kgo.Record) {
			headers := [][2]any{}
			for _, h := range r.Headers {
				headers = append(headers, [2]any{h.Key, h.Value})
			}
			found = append(found, received{r.Offset, r.Timestamp.UnixMilli(), r.Key, r.Value, headers})
		})
	}
	return found, nil
}

func (s *steps) offset(ctx context.Context, one step) (any, error) {
	var listed kadm.ListedOffsets
	var err error
	var moment int64
	switch {
	case string(one.At) == `"earliest"`:
		listed, err = s.admin.ListStartOffsets(ctx, one.Topic)
	case string(one.At) == `"latest"`:
		listed, err = s.admin.ListEndOffsets(ctx, one.Topic)
	default:
		if err := json.Unmarshal(one.At, &moment); err != nil {
			return nil, err
		}
		listed, err = s.admin.ListOffsetsAfterMilli(ctx, moment, one.Topic)
	}
	if err != nil {
		return nil, err
	}
	found, _ := listed.Lookup(one.Topic, one.Partition)
	if moment > 0 && found.Timestamp == -1 { // nothing that late: the client gives the end instead
		return -1, found.Err
	}
	return found.Offset, found.Err
}

func (s *steps) carryOut(ctx context.Context, one step) (any, error) {
	switch one.Do {
	case "produce":
		return s.produce(ctx, one)
	case "consume":
		return s.consume(ctx, one)
	case "offset":
		return s.offset(ctx, one)
	case "topics":
		found, err := s.admin.ListTopics(ctx)
		return found.Names(), err
	case "partitions":
		found, err := s.admin.ListTopics(ctx, one.Topic)
		return len(found[one.Topic].Partitions), err
	case "cluster":
		found, err := s.admin.BrokerMetadata(ctx)
		nodes := []int{}
		for _, broker := range found.Brokers {
			nodes = append(nodes, int(broker.NodeID))
		}
		sort.Ints(nodes)
		return map[string]any{"id": found.Cluster, "nodes": nodes}, err
	case "create_topic":
		configs := map[string]*string{}
		for name, value := range one.Configs {
			configs[name] = &value
		}
		_, err := s.admin.CreateTopic(ctx, one.Partitions, 1, configs, one.Topic)
		return nil, err
	case "delete_topic":
		_, err := s.admin.DeleteTopic(ctx, one.Topic)
		return nil, err
	case "add_partitions":
		answers, err := s.admin.UpdatePartitions(ctx, one.Count, one.Topic)
		return nil, errors.Join(err, answers.Error())
	case "config":
		found, err := s.admin.DescribeTopicConfigs(ctx, one.Topic)
		for _, entry := range found[0].Configs {
			if entry.Key == one.Name {
				return entry.MaybeValue(), err
			}
		}
		return nil, err
	case "set_config":
		change := kadm.AlterConfig{Op: kadm.SetConfig, Name: one.Name, Value: &one.Value}
		answers, err := s.admin.AlterTopicConfigs(ctx, []kadm.AlterConfig{change}, one.Topic)
		return nil, errors.Join(err, answers[0].Err)
	case "delete_records":
		before := kadm.Offsets{}
		before.Add(kadm.Offset{Topic: one.Topic, Partition: one.Partition, At: one.Offset})
		answers, err := s.admin.DeleteRecords(ctx, before)
		found, _ := answers.Lookup(one.Topic, one.Partition)
		return found.LowWatermark, errors.Join(err, found.Err)
	}
	return nil, fmt.Errorf("no step %s", one.Do)
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	line, err := bufio.NewReaderSize(os.Stdin, 16<<20).ReadBytes('\n')
	var asked struct {
		Bootstrap string `json:"bootstrap"`
		Steps     []step `json:"steps"`
	}
	if err = errors.Join(err, json.Unmarshal(line, &asked)); err != nil {
		panic(err)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(asked.Bootstrap), kgo.MetadataMinAge(100*time.Millisecond))
	if err != nil {
		panic(err)
	}
	all := &steps{asked.Bootstrap, kadm.NewClient(client)}
	results := []map[string]any{}
	for _, one := range asked.Steps {
		answer, err := all.carryOut(ctx, one)
		if err != nil {
			result := map[string]any{"error": nil, "words": err.Error()}
			var refused *kerr.Error
			if errors.As(err, &refused) {
				result["error"] = refused.Code
			}
			results = append(results, result)
			break
		}
		results = append(results, map[string]any{"ok": answer})
	}
	told, err := json.Marshal(results)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(told))
}
