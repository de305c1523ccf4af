#!/usr/bin/env python3
"""Builds the /sys and /proc of a described machine in one kernel state.

    tree.py list
    tree.py build MACHINE STATE FOLDER
    tree.py verify MACHINE STATE TREE      compares with a tree that exists: every file, link and folder
"""
import os
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # a test leaves nothing in the source tree
import machine as descriptions  # noqa: E402

DRIVER = "550.127.08"
GENERATIONS = {3: "8.0", 4: "16.0", 5: "32.0", 6: "64.0"}
RATES = {"40": "40 Gb/sec (4X QDR)", "100": "100 Gb/sec (4X EDR)", "200": "200 Gb/sec (4X HDR)",
         "400": "400 Gb/sec (4X NDR)", "800": "800 Gb/sec (4X XDR)"}
STATES = {"ACTIVE": "4: ACTIVE", "INIT": "2: INIT", "DOWN": "1: DOWN"}
PROPRIETARY = (f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {DRIVER}  Tue Oct  8 03:12:42 UTC 2024\n"
               "GCC version:  gcc version 12.3.0 (Ubuntu 12.3.0-1ubuntu1~22.04)")


class Tree:
    """Writes files and links below one folder."""

    def __init__(self, root):
        self.root = str(root)
        self.made = set()

    def folder(self, path):
        if path not in self.made:
            os.makedirs(f"{self.root}/{path}", exist_ok=True)
            self.made.add(path)

    def text(self, path, text):
        self.folder(os.path.dirname(path))
        with open(f"{self.root}/{path}", "w", encoding="utf-8") as file:
            file.write(f"{text}\n")

    def texts(self, folder, **files):
        for name, text in files.items():
            self.text(f"{folder}/{name}", text)

    def link(self, path, target):
        """A relative link to `target`, a path below the root."""
        self.folder(os.path.dirname(path))
        os.symlink(os.path.relpath(target, os.path.dirname(path)), f"{self.root}/{path}")


def add_cpus(tree, machine):
    every = set().union(*(descriptions.cpus_of(cpus) for cpus in machine.numa))
    words = (len(every) + 31) // 32
    nodes = range(len(machine.numa))
    tree.text("sys/devices/system/cpu/online", f"0-{max(every)}")
    tree.text("sys/devices/system/node/online", "0" if len(nodes) == 1 else f"0-{len(nodes) - 1}")
    for node in nodes:
        bits = sum(1 << cpu for cpu in descriptions.cpus_of(machine.numa[node]))
        digits = f"{bits:0{words * 8}x}"
        tree.texts(f"sys/devices/system/node/node{node}", cpulist=machine.numa[node],
                   cpumap=",".join(digits[at:at + 8] for at in range(0, len(digits), 8)),
                   distance=" ".join("10" if other == node else "21" for other in nodes))


def add_kernel(tree, machine):
    tree.text("proc/sys/kernel/osrelease", descriptions.KERNELS[machine.arch])
    tree.text("proc/driver/nvidia/version", PROPRIETARY)
    for module in ("ib_core", "ib_uverbs", "mlx5_core", "mlx5_ib", "nvidia", "nvidia_uvm"):
        tree.texts(f"sys/module/{module}", initstate="live", refcnt="3",
                   taint="POE" if module.startswith("nvidia") else "")
    tree.text("sys/module/nvidia/version", DRIVER)


def add_bus(tree, bus, parent):
    tree.folder(f"{parent}/pci_bus/{bus}")
    tree.link(f"sys/class/pci_bus/{bus}", f"{parent}/pci_bus/{bus}")


def add_function(tree, machine, device):
    part = device.part
    subvendor, subdevice = device.key("subsystem", part.subsystem).split(":")
    ethernet = device.key("layer") == "eth"
    tree.texts(device.path, vendor=f"0x{part.vendor}", device=f"0x{part.device}", subsystem_vendor=f"0x{subvendor}",
               subsystem_device=f"0x{subdevice}", revision="0xa1", enable="1", numa_node=device.numa)
    tree.text(f"{device.path}/class", "0x020000" if ethernet else f"0x{part.pci_class}")
    node = int(device.numa)
    tree.text(f"{device.path}/local_cpulist",
              machine.numa[node] if node >= 0 else f"0-{max(descriptions.cpus_of(machine.numa[-1]))}")
    generation = device.key("gen", part.gen)
    if generation is not None and device.key("link") != "none":
        speed, width = f"{GENERATIONS[int(generation)]} GT/s PCIe", device.key("width", "16")
        tree.texts(device.path, max_link_speed=speed, max_link_width=width, current_link_speed=speed,
                   current_link_width=width)
    tree.link(f"{device.path}/subsystem", "sys/bus/pci")
    tree.link(f"sys/bus/pci/devices/{device.bdf}", device.path)
    if part.driver:
        tree.folder(f"sys/bus/pci/drivers/{part.driver}")
        tree.link(f"{device.path}/driver", f"sys/bus/pci/drivers/{part.driver}")
        tree.link(f"sys/bus/pci/drivers/{part.driver}/{device.bdf}", device.path)
    if device.children:
        add_bus(tree, device.children[0].bdf[:7], device.path)


def add_virtual_functions(tree, machine):
    devices = {device.bdf: device for device in machine.devices()}
    for physical in devices.values():
        if not physical.key("vfs"):
            continue
        virtual = [device for device in devices.values() if device.key("pf") == physical.bdf]
        tree.texts(physical.path, sriov_totalvfs=physical.key("vfs"), sriov_numvfs=str(len(virtual)))
        for number, device in enumerate(virtual):
            tree.link(f"{physical.path}/virtfn{number}", device.path)
            tree.link(f"{device.path}/physfn", physical.path)


def add_gpu(tree, device):
    tree.text(f"proc/driver/nvidia/gpus/{device.bdf}/information",
              f"Model: \t\t NVIDIA GPU 0x{device.part.device}\nBus Location: \t {device.bdf}\n"
              f"Device Minor: \t {device.key('minor')}")


def add_rdma(tree, device):
    name, number = device.key("ib"), int(device.key("uverbs"))
    ethernet, active = device.key("layer") == "eth", device.key("state", "ACTIVE") == "ACTIVE"
    guid = f"a088:c203:{0x90 + number:04x}:{0x1000 + number:04x}"
    folder, net = f"{device.path}/infiniband/{name}", device.key("net", f"ib{number}")
    tree.texts(folder, board_id="MT_0000000838", fw_ver="28.39.1002", hca_type="MT4129", node_type="1: CA",
               node_desc=f"node1 {name}", node_guid=guid, sys_image_guid=device.key("system", guid))
    port = f"{folder}/ports/1"
    tree.texts(port, lid=f"{0 if ethernet else number + 1:#x}", sm_lid="0x0" if ethernet else "0x1",
               link_layer="Ethernet" if ethernet else "InfiniBand", phys_state="5: LinkUp",
               rate=RATES[device.key("rate")], state=STATES[device.key("state", "ACTIVE")])
    link_local, zeros = "fe80:0000:0000:0000:", "0000:" * 5
    gids = [link_local + guid]
    if ethernet:
        of_mac = f"{link_local}a288:c2ff:fe03:{0x1000 + number:04x}"
        mapped = f"{zeros}ffff:0a00:{number + 1:04x}"
        gids = [of_mac, of_mac, mapped, mapped]
    for index, gid in enumerate(gids):
        tree.text(f"{port}/gids/{index}", gid)
        tree.text(f"{port}/gid_attrs/types/{index}", "RoCE v2" if index % 2 else "IB/RoCE v1")
    tree.text(f"{port}/gid_attrs/ndevs/0", net)
    tree.texts(f"{device.path}/net/{net}", address=f"00:00:10:29:fe:80:00:{number:02x}", dev_port="0",
               mtu="9000" if ethernet else "4092", operstate="up" if active else "down",
               type="1" if ethernet else "32")
    verbs = f"{device.path}/infiniband_verbs/uverbs{number}"
    tree.texts(verbs, abi_version="1", ibdev=name)
    for family, path in (("infiniband", folder), ("infiniband_verbs", verbs),
                         ("net", f"{device.path}/net/{net}")):
        tree.link(f"{path}/device", device.path)
        tree.link(f"sys/class/{family}/{os.path.basename(path)}", path)


def build(machine, state, root):
    tree = Tree(root)
    add_cpus(tree, machine)
    add_kernel(tree, machine)
    for host in machine.hosts:
        add_bus(tree, host.bus, host.path)
    for device in machine.devices():
        add_function(tree, machine, device)
        if device.key("minor"):
            add_gpu(tree, device)
        if device.key("ib"):
            add_rdma(tree, device)
    add_virtual_functions(tree, machine)
    for path, text in descriptions.read_states(machine.arch)[state]:
        tree.text(path, text)


def contents(root):
    found = {}
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            path = os.path.join(folder, name)
            relative = os.path.relpath(path, root)
            if os.path.islink(path):
                found[relative] = "-> " + os.readlink(path)
            elif os.path.isdir(path):
                found[relative] = "folder"
            else:
                found[relative] = Path(path).read_text(encoding="utf-8")
    return found


def verify(machine, state, original):
    with tempfile.TemporaryDirectory() as root:
        build(machine, state, root)
        built, wanted = contents(root), contents(original)
    differences = [path for path in sorted(built.keys() | wanted.keys()) if built.get(path) != wanted.get(path)]
    for path in differences:
        print(f"{path}: built {built.get(path)!r}, wanted {wanted.get(path)!r}")
    print(f"{machine.name} {state}: {len(wanted)} entries, {len(differences)} differ")
    return not differences


def main(arguments):
    if arguments[:1] == ["list"]:
        for name in descriptions.machine_names():
            print(f"{name:36} {descriptions.read_machine(name).about}")
        print("states:", " ".join(descriptions.read_states()))
        return 0
    if len(arguments) != 4 or arguments[0] not in ("build", "verify"):
        print(__doc__, file=sys.stderr)
        return 2
    action, name, state, folder = arguments
    machine = descriptions.read_machine(name)
    if action == "build":
        build(machine, state, folder)
        return 0
    return 0 if verify(machine, state, folder) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
