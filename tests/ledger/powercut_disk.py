"""What a disk may hold after the power went: rebuilt from the journal that ``powercut.c`` writes.

All that was synced is there. Of what was not, anything may be: each sector of 512 bytes of each write, each cut, and
the first few changes of each name. A name is safe once its folder was synced, and not because its file was.
"""

import random
import struct
from bisect import bisect_left
from dataclasses import dataclass, field
from pathlib import Path

HEAD = struct.Struct("<IIIIQQ")
SECTOR = 512
WAYS = ("nothing", "everything", "first", "some", "some sectors")


@dataclass
class Inode:
    """One file: its changes, and when they were safe."""

    changes: list = field(default_factory=list)
    syncs: list = field(default_factory=list)
    image: bytearray = field(default_factory=bytearray)
    applied: int = 0

    def safe(self, cut):
        """Return the moment before which all changes are on the disk."""
        return max((begun for begun, ended in self.syncs if ended < cut), default=-1)


class Disk:
    """All that happened, in order. Cuts are asked for from early to late."""

    def __init__(self, journal):
        self.inodes, self.names, self.folders, self.promises = [], {}, {}, []
        self.moments = []
        by_number, begun = {}, {}
        data = Path(journal).read_bytes()
        at = moment = 0
        while at < len(data):
            kind, path_length, data_length, token, number, offset = HEAD.unpack_from(data, at)
            at += HEAD.size
            path = data[at : at + path_length].decode()
            body = data[at + path_length : at + path_length + data_length]
            at += path_length + data_length
            self._note(chr(kind), path, number, offset, body, token, moment, by_number, begun)
            moment += 1
        self.length = moment

    def _note(self, kind, path, number, offset, body, token, moment, by_number, begun):
        if path.endswith(("-shm", "-queue")):
            return
        if kind == "C":
            by_number[number] = Inode()
            self.inodes.append(by_number[number])
            self.names.setdefault(path, []).append((moment, by_number[number]))
        elif kind == "U":
            self.names.setdefault(path, []).append((moment, None))
        elif kind == "S":
            begun[token] = moment
        elif kind == "E":
            syncs = by_number[number].syncs if number in by_number else self.folders.setdefault(path, [])
            syncs.append((begun[token], moment))
        elif path.endswith("acknowledged"):
            self.promises.append((moment, body.decode().strip()))
        else:
            by_number[number].changes.append((moment, kind, offset, body))
        self.moments.append(moment)

    def promised(self, cut):
        """Return what had been acknowledged by then."""
        return [promise for moment, promise in self.promises if moment < cut]

    def rebuild(self, cut, way, dice, source, target):
        """Write the files that may be found when the power went just before a moment."""
        for path, changes in self.names.items():
            safe = max(
                (begun for begun, ended in self.folders.get(str(Path(path).parent), []) if ended < cut), default=-1
            )
            sure = [inode for moment, inode in changes if moment < safe]
            rest = [inode for moment, inode in changes if safe <= moment < cut]
            kept = {"nothing": 0, "everything": len(rest)}.get(way, dice.randint(0, len(rest)))
            history = sure + rest[:kept]
            if path.endswith("acknowledged") or not history or history[-1] is None:
                continue
            place = Path(target) / Path(path).relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(self._content(history[-1], cut, way, dice))

    def _content(self, inode, cut, way, dice):
        safe = inode.safe(cut)
        moments = [change[0] for change in inode.changes]
        sure = bisect_left(moments, safe)
        for change in inode.changes[inode.applied : sure]:
            apply(inode.image, change)
        inode.applied = max(inode.applied, sure)
        image = bytearray(inode.image)
        rest = inode.changes[inode.applied : bisect_left(moments, cut)]
        if way == "nothing":
            rest = []
        elif way == "first":
            rest = rest[: dice.randint(0, len(rest))]
            if rest and dice.random() < 0.5:
                apply(image, rest.pop(), dice)
        for change in rest:
            if way == "some" and dice.random() < 0.5:
                continue
            apply(image, change, dice if way == "some sectors" else None)
        return bytes(image)


def apply(image, change, dice=None):
    """Change an image; with dice, only some of the sectors that a write touches."""
    _, kind, offset, body = change
    if kind == "T":
        if dice is None or dice.random() < 0.5:
            del image[offset:]
            image.extend(bytes(max(0, offset - len(image))))
        return
    end = offset + len(body)
    start = offset
    while start < end:
        stop = end if dice is None else min(end, (start // SECTOR + 1) * SECTOR)
        if dice is None or dice.random() < 0.5:
            image.extend(bytes(max(0, stop - len(image))))
            image[start:stop] = body[start - offset : stop - offset]
        start = stop


def cuts(disk, count, seed):
    """Return moments for cuts, early to late: right after promises, and anywhere else."""
    dice = random.Random(seed)
    after = [moment + 1 for moment, _ in disk.promises]
    chosen = [dice.choice(after) if dice.random() < 0.5 else dice.randint(0, disk.length) for _ in range(count)]
    return sorted(chosen)
