"""Reads the descriptions in this folder: machines, their parts, and the kernel's states.

A machine (NAME.machine) is a few lines about its CPUs and then its PCI tree, one device a line, a device under
a bridge indented below it:

    about TEXT                      what the machine is
    like NAME                       the rest is as NAME says
    topology FILE                   the file NCCL_TOPO_FILE names on it
    arch x86_64|aarch64             default x86_64
    numa LIST [LIST...]             the CPUs of each NUMA node
    host DDDD:BB [key=value...]     a host bridge; numa= its node, under= folders between /sys/devices and it
      DDDD:BB:DD.F PART [key=value...]

PART is a line of hardware.parts. Keys of a device, each with a default: gen=, width=, link=none, numa= (the host
bridge's), subsystem=, minor= (GPUs); for RDMA devices ib= uverbs= net= rate= layer=eth state= system= (the image
GUID); pf= (a virtual function's physical one), vfs= (how many a physical one could have).
"""
import re
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent

KERNELS = {"x86_64": "4.18.0-553.el8_10.x86_64", "aarch64": "5.14.0-427.el9.aarch64+64k"}


class DescriptionError(Exception):
    pass


@dataclass
class Part:
    vendor: str
    device: str
    subsystem: str
    pci_class: str
    driver: str | None
    gen: int | None


@dataclass
class Device:
    bdf: str
    part: Part
    keys: dict[str, str]
    path: str
    numa: str
    children: list["Device"] = field(default_factory=list)

    def key(self, name, default=None):
        return self.keys.get(name, default)


@dataclass
class Host:
    bus: str
    path: str
    devices: list[Device] = field(default_factory=list)


@dataclass
class Machine:
    name: str
    about: str = ""
    arch: str = "x86_64"
    numa: list[str] = field(default_factory=list)
    hosts: list[Host] = field(default_factory=list)
    topology: Path | None = None

    def devices(self):
        def walk(devices):
            for device in devices:
                yield device
                yield from walk(device.children)

        for host in self.hosts:
            yield from walk(host.devices)


def lines_of(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line.split("#", 1)[0].rstrip()
        if text:
            yield number, text


def pairs(words):
    return dict(word.split("=", 1) for word in words)


def read_parts(path=HERE / "hardware.parts"):
    parts = {}
    for _, line in lines_of(path):
        name, ids, subsystem, pci_class, *rest = line.split()
        vendor, device = ids.split(":")
        keys = pairs(rest)
        parts[name] = Part(vendor, device, subsystem, pci_class, keys.get("driver"),
                           int(keys["gen"]) if "gen" in keys else None)
    return parts


def read_states(arch="x86_64", path=HERE / "kernel.states"):
    """State name -> [(file below the root, its text)]."""
    states = {}
    files = None
    for _, line in lines_of(path):
        if line.startswith("state "):
            files = states.setdefault(line.split()[1], [])
        else:
            name, text = line.strip().split(" = ", 1)
            name, _, only = name.partition("@")
            if only in ("", arch):
                files.append((name, text.replace("ARCH", arch)))
    return states


def read_machine(name, folder=HERE):
    path = Path(folder) / f"{name}.machine"
    parts = read_parts()
    machine = Machine(name)
    open_devices = []  # (indentation, device), innermost last
    for number, line in lines_of(path):
        indentation = len(line) - len(line.lstrip())
        word, *rest = line.split()
        if word == "about":
            machine.about = line.split(None, 1)[1]
        elif word == "like":
            same = read_machine(rest[0], folder)
            machine.arch, machine.numa, machine.hosts = same.arch, same.numa, same.hosts
        elif word == "topology":
            machine.topology = path.parent / rest[0]
        elif word == "arch":
            machine.arch = rest[0]
        elif word == "numa":
            machine.numa = rest
        elif word == "host":
            keys = pairs(rest[1:])
            folders = ["sys/devices"] + ([keys["under"]] if "under" in keys else []) + [f"pci{rest[0]}"]
            machine.hosts.append(Host(rest[0], "/".join(folders)))
            host_numa = keys.get("numa", "0")
            open_devices = []
        elif re.fullmatch(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", word):
            if not machine.hosts or rest[0] not in parts:
                raise DescriptionError(f"{path}:{number}: no host bridge above, or unknown part: {line}")
            while open_devices and open_devices[-1][0] >= indentation:
                open_devices.pop()
            parent = open_devices[-1][1] if open_devices else machine.hosts[-1]
            keys = pairs(rest[1:])
            device = Device(word, parts[rest[0]], keys, f"{parent.path}/{word}", keys.get("numa", host_numa))
            (parent.children if open_devices else parent.devices).append(device)
            open_devices.append((indentation, device))
        else:
            raise DescriptionError(f"{path}:{number}: not understood: {line}")
    return machine


def machine_names(folder=HERE):
    return sorted(path.stem for path in Path(folder).glob("*.machine"))


def cpus_of(text):
    cpus = set()
    for piece in text.split(","):
        first, _, last = piece.partition("-")
        cpus.update(range(int(first), int(last or first) + 1))
    return cpus
