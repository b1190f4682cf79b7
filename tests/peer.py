"""Apache Kafka itself, as a test dependency: its jars, its schemas, its tools.

The jars are fetched once by Maven coordinates into a cache and shared by all test processes. When
they cannot be had, `require_jars` skips the test and says why; with QUIRE_REQUIRE_PEER=1 it fails.

  QUIRE_PEER_JARS     a directory of jars to use instead of fetching any
  XDG_CACHE_HOME      where the cache is (default ~/.cache)
  QUIRE_REQUIRE_PEER  1: not having the jars is a failure, not a skip
"""

from __future__ import annotations

import fcntl
import functools
import json
import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

Coordinates = tuple[tuple[str, str, str], ...]
VERSION = "4.3.0"
COORDINATES = (
    ("org.apache.kafka", "kafka_2.13", VERSION),
    ("org.apache.kafka", "kafka-tools", VERSION),
    ("org.apache.kafka", "kafka-clients", VERSION),
    ("org.apache.kafka", "kafka-shell", VERSION),
    ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4"),
    ("org.apache.logging.log4j", "log4j-1.2-api", "2.25.4"),
)
STREAMS = (("org.apache.kafka", "kafka-streams", VERSION),)
"""What an application of Kafka Streams needs; it brings a copy of the clients."""
FETCH_TIMEOUT_SECONDS = 300
SCHEMA_FOLDERS = ("message", "metadata")


class PeerUnavailable(Exception):  # noqa: N818 -- a state of the world, not a mistake
    """Apache Kafka's jars cannot be had; the message says why."""


@functools.cache
def jars() -> Path:
    """The directory with every jar that Apache Kafka's server and tools need."""
    given = os.environ.get("QUIRE_PEER_JARS")
    if given:
        if not list(Path(given).glob("kafka-clients-*.jar")):
            raise PeerUnavailable(f"QUIRE_PEER_JARS={given} holds no kafka-clients jar")
        return Path(given)
    return _fetched(f"kafka-{VERSION}", COORDINATES)


@functools.cache
def streams_jars() -> Path:
    """The directory with every jar that an application of Kafka Streams needs."""
    return _fetched(f"streams-{VERSION}", STREAMS)


def _fetched(name: str, coordinates: Coordinates) -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "quire-peer"
    target = cache / name
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (target / "complete").exists():
            _fetch(target, coordinates)
    return target


def require_jars() -> Path:
    """The jars; without them the test that asked is skipped, or fails when they are required."""
    try:
        return jars()
    except PeerUnavailable as reason:
        if os.environ.get("QUIRE_REQUIRE_PEER") == "1":
            raise
        pytest.skip(f"NOT CHECKED against Apache Kafka {VERSION}: {reason}")


def require_streams() -> Path:
    """The jars of Kafka Streams, or a skip, as `require_jars`."""
    try:
        return streams_jars()
    except PeerUnavailable as reason:
        if os.environ.get("QUIRE_REQUIRE_PEER") == "1":
            raise
        pytest.skip(f"NOT CHECKED with Kafka Streams {VERSION}: {reason}")


def run_tool(main_class: str, *arguments: str, timeout_seconds: float = 60) -> str:
    """What a tool of Apache Kafka prints, run by its main class; an error when it fails."""
    java = shutil.which("java")
    if java is None:
        raise PeerUnavailable("java is not installed")
    finished = subprocess.run(
        [java, "-Xmx512m", "-cp", f"{jars()}/*", main_class, *arguments],
        capture_output=True,
        text=True,
        timeout=timeout_seconds,
        check=True,
    )
    return finished.stdout


def schemas() -> Iterator[dict[str, Any]]:
    """Every message schema inside the jars that is still alive."""
    for jar in sorted(jars().glob(f"kafka-*-{VERSION}.jar")):
        with zipfile.ZipFile(jar) as archive:
            for name in sorted(archive.namelist()):
                if not name.endswith(".json") or Path(name).parent.name not in SCHEMA_FOLDERS:
                    continue
                schema = json.loads(_without_comments(archive.read(name).decode()))
                if schema["validVersions"] != "none":
                    yield schema


def _without_comments(text: str) -> str:
    kept = []
    for line in text.splitlines():
        quoted = False
        for position, letter in enumerate(line):
            if letter == '"':
                quoted = not quoted
            elif not quoted and line.startswith("//", position):
                kept.append(line[:position])
                break
        else:
            kept.append(line)
    return "\n".join(kept)


def _fetch(target: Path, coordinates: Coordinates) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise PeerUnavailable("mvn is not installed")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "pom.xml").write_text(_project(coordinates))
        command = [maven, "-q", "-B", "dependency:copy-dependencies"]
        command += [f"-DoutputDirectory={target}", "-DincludeScope=runtime"]
        try:
            subprocess.run(
                command,
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=FETCH_TIMEOUT_SECONDS,
                check=True,
            )
        except subprocess.TimeoutExpired as late:
            raise PeerUnavailable(f"mvn took longer than {FETCH_TIMEOUT_SECONDS} s") from late
        except subprocess.CalledProcessError as failed:
            last = (failed.stdout + failed.stderr).strip().splitlines()[:3]
            raise PeerUnavailable(f"mvn could not fetch the jars: {' '.join(last)}") from failed
    (target / "complete").write_text("")


def _project(coordinates: Coordinates) -> str:
    dependencies = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{version}</version></dependency>"
        for group, artifact, version in coordinates
    )
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>quire</groupId><artifactId>peer</artifactId><version>1</version>"
        f"<dependencies>{dependencies}</dependencies></project>"
    )
