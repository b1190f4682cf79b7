"""How long does it take until a thousand members have joined a group and have their shares?

A thousand connections, one group. The first join of all is not counted: it waits for the group's initial delay, and for
compilers. Then everybody joins again with something new to say, so that nobody is answered before all have come; the
leader gives out the shares; counted is from the first JoinGroup to the last share. The server's CPU is per member.
"""

from __future__ import annotations

from statistics import median

from load.contest import KAFKA, QUIRE, contest, options
from load.members import Members
from load.servers import Server
from load.transactional import GROUP, find
from measure import Answer, shown, tell

MEMBERS = 1000
ROUNDS, UNCOUNTED = 9, 6
TARGETS = (1.5, 0.5)
"""At least so many times as fast, at most so much CPU."""


class Contestant:
    """One server, its members, and how long they took."""

    def __init__(self, server: Server) -> None:
        find(server, "many", GROUP)
        self.server = server
        self.members = Members(server, "many", MEMBERS)
        self.seconds: list[float] = []
        self.cpu_us: list[float] = []

    def take(self) -> None:
        before = self.server.cpu()
        self.seconds.append(self.members.rebalance())
        self.cpu_us.append(self.server.cpu().since(before) / MEMBERS * 1e6)

    def said(self, name: str) -> str:
        return (
            f"{name}: {shown(median(self.seconds) * 1000)} ms, {shown(median(self.cpu_us))} us of "
            f"CPU per member, best {shown(min(self.seconds) * 1000)} ms"
        )


def main() -> None:
    chosen = options(__doc__.partition("\n")[0])
    with contest(chosen) as held:
        contestants = {name: Contestant(server) for name, server in held.servers.items()}
        for one in contestants.values():
            for _ in range(UNCOUNTED):
                one.members.rebalance()
        names = list(contestants)
        for number in range(3 if chosen.quick else ROUNDS):
            start = number % len(names)
            for name in names[start:] + names[:start]:
                contestants[name].take()
        report(contestants, held.missing)
        for one in contestants.values():
            one.members.close()


def report(contestants: dict[str, Contestant], missing: list[str]) -> None:
    remarks = [one.said(name) for name, one in contestants.items()]
    first = contestants.get(QUIRE) or contestants[KAFKA]
    missed, beside = [], {}
    if QUIRE in contestants and KAFKA in contestants:
        ours, theirs = contestants[QUIRE], contestants[KAFKA]
        faster = median(theirs.seconds) / median(ours.seconds)
        cpu = median(ours.cpu_us) / median(theirs.cpu_us)
        beside[KAFKA] = faster
        remarks.append(f"beside {KAFKA}: {cpu:.2f} times its CPU")
        if faster < TARGETS[0]:
            missed.append(f"at least {TARGETS[0]} times as fast")
        if cpu > TARGETS[1]:
            missed.append(f"at most {TARGETS[1]} times the CPU")
    tell(
        Answer(
            best=min(first.seconds) * 1000,
            median=median(first.seconds) * 1000,
            unit=f"ms until {MEMBERS} members have their shares",
            smaller_is_better=True,
            beside=beside,
            missing=missing,
            remarks=remarks,
            missed=missed,
        )
    )


if __name__ == "__main__":
    main()
