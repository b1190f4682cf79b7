"""What each client needs to run, made once from the package registries, pinned, in a cache outside the tree.

Without a runtime or a registry the test that asked is skipped, and says what it did not check; with
QUIRE_REQUIRE_COMPAT=1 it fails.

  XDG_CACHE_HOME          where the cache is (default ~/.cache): quire/compat/<client>-<digest of what was asked for>
  QUIRE_REQUIRE_COMPAT=1  a client that cannot be had is a failure, not a skip
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import pytest
from tests import peer

BUILD_SECONDS = 400


def refuse(client: str, reason: str) -> NoReturn:
    words = f"NOT CHECKED with {client}: {reason}"
    if os.environ.get("QUIRE_REQUIRE_COMPAT") == "1":
        pytest.fail(words)
    pytest.skip(words)


def require_programs(client: str, *names: str) -> None:
    missing = [name for name in names if shutil.which(name) is None]
    if missing:
        refuse(client, f"{', '.join(missing)} not installed")


def made(client: str, wanted: str, make: Callable[[Path], None]) -> Path:
    """The directory that `make` filled for `wanted`: at most once, whoever asks at the same time."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "quire" / "compat"
    cache.mkdir(parents=True, exist_ok=True)
    directory = cache / f"{client}-{hashlib.sha256(wanted.encode()).hexdigest()[:12]}"
    with (cache / f"{client}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (directory / "complete").exists():
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir()
            make(directory)
            (directory / "complete").write_text(wanted)
    return directory


def step(
    client: str,
    command: Sequence[str],
    directory: Path,
    environment: Mapping[str, str] | None = None,
) -> None:
    """One command of a build; when it fails, the test is skipped with its last words."""
    try:
        done = subprocess.run(
            command,
            cwd=directory,
            env={**os.environ, **(environment or {})},
            capture_output=True,
            text=True,
            timeout=BUILD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        refuse(client, f"{command[0]} took longer than {BUILD_SECONDS} s")
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-4:]
        refuse(client, f"{' '.join(command[:4])} failed: {' | '.join(last)}")


def python_with(client: str, *requirements: str) -> list[str]:
    """A Python of its own with these packages."""

    def make(directory: Path) -> None:
        step(client, [sys.executable, "-m", "venv", "."], directory)
        pip = ["bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        step(client, [*pip, *requirements], directory)

    wanted = "\n".join((sys.version, *requirements))
    return [str(made(client, wanted, make) / "bin" / "python")]


def node_with(client: str, *packages: str) -> Path:
    """A directory with `node_modules`; no package's install script is run."""
    require_programs(client, "node", "npm")

    def make(directory: Path) -> None:
        (directory / "package.json").write_text('{"private": true}')
        step(client, ["npm", "install", "--ignore-scripts", *packages], directory)

    return made(client, "\n".join(packages), make)


def go_program(client: str, source: Path) -> list[str]:
    """The program whose main.go, go.mod and go.sum stand in `source`."""
    require_programs(client, "go")
    files = [source / name for name in ("main.go", "go.mod", "go.sum")]

    def make(directory: Path) -> None:
        for file in files:
            shutil.copy(file, directory)
        step(client, ["go", "build", "-o", "program", "."], directory, {"GOFLAGS": "-mod=readonly"})

    wanted = "\n".join(file.read_text() for file in files)
    return [str(made(client, wanted, make) / "program")]


def java_program(
    client: str, source: Path, *, main_class: str, jars: Callable[[], Path] = peer.require_jars
) -> list[str]:
    """A Java file compiled against Apache Kafka's own jars."""
    require_programs(client, "java", "javac")
    path = f"{jars()}/*"

    def make(directory: Path) -> None:
        step(client, ["javac", "-cp", path, "-d", ".", str(source)], directory)

    wanted = f"{peer.VERSION}\n{source.read_text()}"
    classes = made(client, wanted, make)
    return ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", f"{classes}:{path}", main_class]


def debian_program(client: str, name: str, *packages: str) -> tuple[list[str], dict[str, str]]:
    """A program of the system, or out of Debian packages that are unpacked, not installed; and its environment."""
    if (found := shutil.which(name)) is not None:
        return [found], {}
    require_programs(client, "apt-get", "dpkg")

    def make(directory: Path) -> None:
        step(client, ["apt-get", "download", *packages], directory)
        for package in sorted(directory.glob("*.deb")):
            step(client, ["dpkg", "-x", package.name, "."], directory)

    directory = made(client, "\n".join(packages), make)
    libraries = ":".join(sorted(str(path) for path in directory.glob("usr/lib/*-linux-gnu*")))
    return [str(directory / "usr" / "bin" / name)], {"LD_LIBRARY_PATH": libraries}
