"""Asks every question of this folder, each in a process of its own: one line each, a number beside its peers.

    python bench/run.py [names ...] [--json FILE] [--no-peers] [--quick]

The peers get an environment of their own, `.bench-venv`; when they cannot be had, their ratios are missing, loudly.
The exit status is 1 when a question failed to be answered. A missed target is shown, and is no failure: the machine may
be the reason.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from measure import PEER_REQUIREMENTS, PEERS_VENV, ROOT, implementation_name, sentence

HERE = Path(__file__).parent
QUESTIONS = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in ("run", "measure"))

BROKER_QUESTIONS = ("fetch_committed", "groups_join", "offsets_commit", "transactions")
BROKER_PREFIX = "broker_"
"""Questions to a whole broker, beside Apache Kafka's: those, and what begins with this."""


def make_peers() -> None:
    """Fill `.bench-venv`, unless it holds what is wanted already."""
    made = PEERS_VENV / ".ready"
    wanted = "\n".join(PEER_REQUIREMENTS)
    if made.exists() and made.read_text() == wanted:
        return
    print(f"bench: getting the peers into {PEERS_VENV.name}: {', '.join(PEER_REQUIREMENTS)}")
    shutil.rmtree(PEERS_VENV, ignore_errors=True)
    python = PEERS_VENV / "bin" / "python"
    for command in (
        [sys.executable, "-m", "venv", str(PEERS_VENV)],
        [
            str(python),
            "-m",
            "pip",
            "install",
            "-q",
            "--disable-pip-version-check",
            *PEER_REQUIREMENTS,
        ],
    ):
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            reason = (done.stderr or done.stdout).strip().splitlines()[-1:]
            print(f"bench: PEERS MISSING, there will be no ratios to them: {''.join(reason)}")
            return
    made.write_text(wanted)


def conditions() -> dict[str, str]:
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=ROOT, check=False, capture_output=True, text=True,
    )  # fmt: skip
    return {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit.stdout.strip() or "unknown",
        "python": platform.python_version(),
        "processor": processor(),
        "cores": str(os.cpu_count()),
        "load": f"{os.getloadavg()[0]:.1f}",
        "records": implementation_name(),
    }


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def ask(name: str, *, quick: bool) -> dict[str, object] | None:
    """The answer of one question; None when its process failed."""
    arguments = ["--quick"] if quick and name.startswith((BROKER_PREFIX, *BROKER_QUESTIONS)) else []
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "answer.json"
        done = subprocess.run(
            [sys.executable, str(HERE / f"{name}.py"), *arguments],
            env={**os.environ, "QUIRE_BENCH_ANSWER": str(path)},
            check=False, capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode or not path.exists():
            print(f"{name:<20} FAILED with status {done.returncode}\n{done.stderr}")
            return None
        answer: dict[str, object] = json.loads(path.read_text())
        return answer


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(QUESTIONS))
    parser.add_argument("--json", metavar="FILE", help="write everything there as well")
    parser.add_argument("--no-peers", action="store_true", help="fetch nothing")
    parser.add_argument(
        "--quick", action="store_true", help="short rounds against the broker, for orientation"
    )
    options = parser.parse_args()
    if unknown := sorted(set(options.names) - set(QUESTIONS)):
        parser.error(f"no such question: {', '.join(unknown)}")
    if not options.no_peers:
        make_peers()
    found = conditions()
    print("bench: " + ", ".join(f"{key} {value}" for key, value in found.items()))
    answers: dict[str, dict[str, object] | None] = {}
    for name in options.names or QUESTIONS:
        answer = answers[name] = ask(name, quick=options.quick)
        if answer is None:
            continue
        print(f"{name:<20} {sentence(answer)}")
        for remark in answer["remarks"]:
            print(f"{'':<20}   {remark}")
        sys.stdout.flush()
    if options.json:
        content = json.dumps({"conditions": found, "answers": answers}, indent=2)
        Path(options.json).write_text(content + "\n")
    return 1 if None in answers.values() else 0


if __name__ == "__main__":
    sys.exit(main())
