"""The shape of generated writers: fused where widths are fixed, strict about absent fields."""

from __future__ import annotations

from quire.protocol.encoders import write_encoder
from quire.protocol.messages.consumer_groups import ConsumerGroupMemberMetadataValue
from quire.protocol.messages.fetch import FetchRequest


def test_a_partition_and_its_empty_tags_are_one_struct():
    source = write_encoder(FetchRequest, 12, flexible=True, label="L")
    assert "pack_iiqiqiB" in source.constants
    assert "pack_iiqiqi" in source.constants


def test_only_fields_that_may_not_be_dropped_are_checked_for_absence():
    text = "\n".join(write_encoder(FetchRequest, 11, flexible=False, label="L").lines)
    assert "if o.replica_state.replica_id != -1" in text
    assert "if o.cluster_id" not in text


def test_null_in_a_tag_has_a_form_of_its_own():
    source = write_encoder(ConsumerGroupMemberMetadataValue, 0, flexible=True, label="L")
    at = next(n for n, p in enumerate(source.paths) if p.endswith("tags.classic_member_metadata"))
    written = [line for line in source.lines[at : at + 6] if "append" in line]
    assert any(r"b'\x00'" in line for line in written)
    assert not any(r"b'\xff'" in line for line in written)
