#!/usr/bin/env python3
"""Asks the program about every described machine, in every kernel state and NCCL version, and compares.

    run.py BINARY [MACHINE...]

NAME.expect.json holds the answers that NCCL's own code gave on the same tree: `path` is the distance of each GPU to
each NIC of `nics`, `gdr` whether the NIC can write (r) and read (s) the GPU's memory directly, both without PXN;
`selected` are the NICs that NCCL gives the GPU, in order, each with its GDR once PXN is allowed. `a+b` are ports that
NCCL merged. `selected` is null where the kernel state has no transport: every GPU is staged then, whichever the NIC.
"""
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True  # a test leaves nothing in the source tree
import machine as descriptions  # noqa: E402
import tree

VERSIONS = ("2.28.9", "2.27.7", "2.21.5")
# Data Direct cannot be seen without the NIC's VPD, and the description has none.
WITHOUT_VPD = {("gb300_cx8_datadirect", "dmabuf")}


def is_older(version, than):
    return [int(part) for part in version.split(".")] < [int(part) for part in than.split(".")]


def ask(binary, root, version, config):
    command = [binary, "node", "--root", root, "--json", "--nccl", version]
    command += ["--config", config] if config else []
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode not in (0, 1, 3):
        raise ValueError(f"exit status {done.returncode}: {done.stderr.strip()[-300:]}")
    return json.loads(done.stdout)


def answer_for(expect, version, state):
    for answer in expect["answers"]:
        if state in answer["runs"].get(version, "").split():
            return answer
    return None


def expected_pairs(expect, answer, version):
    """(GPU, IB device) -> (path, receive, send, merged name or None)."""
    pairs = {}
    for gpu, marks in answer["gdr"].items():
        nics = answer.get("nics", expect["nics"]).split()
        paths = answer.get("path", expect["path"])[gpu].split()
        for nic, path, mark in zip(nics, paths, marks.split(), strict=True):
            if path == "P2C" and is_older(version, "2.27"):
                path = "PHB"  # the type came with 2.27
            for name in nic.split("+"):
                pairs[gpu, name] = (path, mark[0] == "r", mark[1] == "s", nic if "+" in nic else None)
    return pairs


def compare_pairs(result, wanted):
    merged = {nic["name"]: nic["merged_into"] for nic in result["nics"]}
    got = {}
    for pair in result["pairs"]:
        got[pair["gpu"], pair["nic"]] = (pair["path"], pair["gdr_recv"], pair["gdr_send"], merged.get(pair["nic"]))
    for key in sorted(wanted.keys() | got.keys()):
        if wanted.get(key) != got.get(key):
            yield f"pair {key[0]} {key[1]}: got {got.get(key)}, NCCL says {wanted.get(key)}"


def expected_status(chosen, plain):
    """Of a GPU whose selected NICs are `chosen`; `plain` is the GDR of each NIC without PXN."""
    through = [nic for nic, mark in chosen if mark == "rs"]
    if not through:
        return "staged"
    return "gdr" if any(plain[nic] == "rs" for nic in through) else "relay"


def compare_gpus(result, expect, answer):
    nics = answer.get("nics", expect["nics"]).split()
    for gpu in result["gpus"]:
        name, status = gpu["bdf"], gpu["status"]
        if answer["selected"] is None:
            if status != "staged":
                yield f"GPU {name}: status {status}, no transport: staged"
            continue
        chosen = [choice.rsplit(":", 1) for choice in answer["selected"][name].split()]
        wanted = expected_status(chosen, dict(zip(nics, answer["gdr"][name].split(), strict=True)))
        if status != wanted:
            yield f"GPU {name}: status {status}, expected {wanted}: NCCL selects {answer['selected'][name]}"
        if gpu["nic"] not in chosen[0][0].split("+"):
            yield f"GPU {name}: nic {gpu['nic']}, NCCL selects {answer['selected'][name]}"


def compare(result, expect, version, state):
    """Yields each mismatch with what NCCL says."""
    if "answers" not in expect:
        if result["pairs"] and "status" in expect:
            yield f"pairs {result['pairs']}: NCCL has no IB device here"
        for gpu in result["gpus"]:
            if gpu["status"] != expect.get("status", gpu["status"]):
                yield f"GPU {gpu['bdf']}: status {gpu['status']}, expected {expect['status']}"
        return
    answer = answer_for(expect, version, state)
    if answer is None:  # NCCL itself ended on this machine in this version
        return
    if sorted(gpu["bdf"] for gpu in result["gpus"]) != sorted(answer["gdr"]):
        yield f"GPUs {[gpu['bdf'] for gpu in result['gpus']]}, expected {sorted(answer['gdr'])}"
        return
    yield from compare_pairs(result, expected_pairs(expect, answer, version))
    yield from compare_gpus(result, expect, answer)


def run_machine(binary, name):
    """The mismatches of one machine, and how many runs and pairs were looked at."""
    machine = descriptions.read_machine(name)
    expect = json.loads((descriptions.HERE / f"{name}.expect.json").read_text(encoding="utf-8"))
    mismatches, runs, pairs = [], 0, 0
    with tempfile.TemporaryDirectory(prefix="machines-") as folder:
        config = None
        if machine.topology:
            config = f"{folder}/gdrcheck.toml"
            Path(config).write_text(f'[nccl]\ntopo_file = "{machine.topology}"\n', encoding="utf-8")
        for state in descriptions.read_states():
            if (name, state) in WITHOUT_VPD:
                continue
            root = f"{folder}/{state}"
            tree.build(machine, state, root)
            for version in VERSIONS:
                runs += 1
                try:
                    result = ask(binary, root, version, config)
                    found = list(compare(result, expect, version, state))
                    pairs += len(result["pairs"])
                except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
                    found = [f"no answer: {error!r}"]
                mismatches += [f"{name} {state} {version}: {text}" for text in found]
    return mismatches, runs, pairs


def main(arguments):
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    binary, names = os.path.abspath(arguments[0]), arguments[1:] or descriptions.machine_names()
    totals = [0, 0, 0]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for name, (mismatches, runs, pairs) in zip(names, pool.map(lambda name: run_machine(binary, name), names)):
            print(f"{name:36} {runs:3} runs {pairs:5} pairs  {'ok' if not mismatches else f'{len(mismatches)} WRONG'}")
            for mismatch in mismatches:
                print("   ", mismatch)
            sys.stdout.flush()
            totals = [totals[0] + runs, totals[1] + pairs, totals[2] + len(mismatches)]
    print(f"{len(names)} machines, {totals[0]} runs, {totals[1]} pairs, {totals[2]} mismatches")
    return 1 if totals[2] or not totals[0] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
