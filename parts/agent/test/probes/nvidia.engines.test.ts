import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { type AcceleratorProbe, ProbeFailedError } from "../../src/probes/accelerator-probe.ts";
import { Accelerators } from "../../src/probes/accelerators.ts";
import { readInventory } from "../../src/probes/inventory.ts";
import {
  nvidiaProbe,
  parseCapabilities,
  parseMigList,
  parseNvidiaSmi,
} from "../../src/probes/nvidia.ts";
import { parseRocmSmi } from "../../src/probes/amd.ts";
import { renderDevice } from "../../src/probes/render-devices.ts";
import { NodeDevices } from "../../src/substrate/container-host/devices/node-devices.ts";

const MIB = 1024 * 1024;
const fixture = (name: string): string =>
  readFileSync(join(import.meta.dirname, "fixtures", `${name}.xml`), "utf8");

t.test("recorded outputs of the real tool are read", (t) => {
  t.strictSame(parseNvidiaSmi(fixture("a10g")), [
    {
      model: "a10g",
      memoryBytes: 23_028 * MIB,
      device: "GPU-9a9a6c50-2a47-2f51-a902-b82c3b127e94",
      vendor: "nvidia",
      healthy: true,
      architecture: "8.6",
      driver: "515.105.01",
      cuda: "11.7",
      pciAddress: "0000:00:1e.0",
      memoryInUseBytes: 22 * MIB,
      computeProcesses: 0,
      usage: { utilizationPercent: 0, powerWatts: 25.58, temperatureC: 17 },
    },
  ]);
  t.match(parseNvidiaSmi(fixture("tesla-t4")), [
    { model: "t4", memoryBytes: 15_360 * MIB, computeProcesses: 1, memoryInUseBytes: 1_032 * MIB },
  ]);
  t.match(parseNvidiaSmi(fixture("rtx-3090-v12")), [
    { model: "rtx_3090", memoryBytes: 24_576 * MIB, healthy: true },
  ]);
  t.match(parseNvidiaSmi(fixture("rtx-3080-v13")), [
    { model: "rtx_3080", memoryBytes: 10_240 * MIB, healthy: true },
  ]);
  t.end();
});

t.test(
  "what code a device runs is told by the tool, or by its family where the tool is too old",
  (t) => {
    const [a10g] = parseNvidiaSmi(
      fixture("a10g"),
      parseCapabilities("GPU-9a9a6c50-2a47-2f51-a902-b82c3b127e94, 8.9\n"),
    );
    t.equal(a10g?.architecture, "8.9", "the tool's own word counts");
    t.match(parseNvidiaSmi(fixture("tesla-t4")), [{ architecture: "7.5", driver: "515.105.01" }]);
    t.match(parseNvidiaSmi(fixture("rtx-3080-v13")), [
      { architecture: "8.6", driver: "595.58.03" },
    ]);
    const [unknown] = parseNvidiaSmi(
      fixture("a10g").replace(">Ampere<", ">Future<").replace(">515.105.01<", ">N/A<"),
    );
    t.notOk("architecture" in unknown!, "nothing is guessed");
    t.notOk("driver" in unknown!);
    t.end();
  },
);

t.test("lines that are no device's capability are passed over", (t) => {
  const csv = [
    "GPU-9a9a6c50-2a47-2f51-a902-b82c3b127e94, 8.6",
    "GPU-00000000-0000-0000-0000-000000000000, [N/A]",
    'Field "compute_cap" is not a valid field to query.',
    "",
  ];
  t.strictSame(
    [...parseCapabilities(csv.join("\n"))],
    [["GPU-9a9a6c50-2a47-2f51-a902-b82c3b127e94", "8.6"]],
  );
  t.end();
});

/** As NVIDIA's MIG user guide shows it; the parts are those of the recorded answer. */
const MIG_LIST = [
  "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-513536b6-7d19-9063-b049-1e69664bb298)",
  "  MIG 1g.20gb     Device  0: (UUID: MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f)",
  "  MIG 1g.20gb     Device  1: (UUID: MIG-cba663e8-9bed-5b25-b243-5985ef7c9beb)",
  "  MIG 1g.20gb+me  Device  2: (UUID: MIG-1e099852-3624-56c0-8064-c5db1211e44f)",
  "GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-00000000-7d19-9063-b049-1e69664bb298)",
  "  MIG 1g.20gb     Device  3: (UUID: MIG-8243111b-d4c4-587a-a96d-da04583b36e2)",
].join("\n");

t.test("the parts of a device in MIG mode are devices of their own", (t) => {
  const parts = parseNvidiaSmi(fixture("a100-sxm4-v12"), new Map(), parseMigList(MIG_LIST));
  t.match(parts, [
    {
      ...{ model: "a100_80gb-mig-1g.20gb", memoryBytes: 19_968 * MIB, memoryInUseBytes: 12 * MIB },
      ...{ device: "MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f", healthy: true, architecture: "8.0" },
      ...{ driver: "535.54.03", pciAddress: "0000:01:00.0", computeProcesses: 0 },
      usage: { powerWatts: 67.03, temperatureC: 27 },
    },
    { device: "MIG-cba663e8-9bed-5b25-b243-5985ef7c9beb" },
    { model: "a100_80gb-mig-1g.20gb.me" },
  ]);
  t.equal(parts.length, 3, "the fourth has no handle here: it is another device's");
  t.strictSame(parseNvidiaSmi(fixture("a100-sxm4-v12")), [], "a driver that gives none");
  const busy = fixture("a100-sxm4-v12").replace(
    /<processes[^>]*>([\s\S]*?<\/processes>)?/,
    "<processes><process_info><gpu_instance_id>4</gpu_instance_id><compute_instance_id>0</compute_instance_id><type>C</type></process_info></processes>",
  );
  t.strictSame(
    parseNvidiaSmi(busy, new Map(), parseMigList(MIG_LIST)).map((part) => part.computeProcesses),
    [0, 1, 0],
  );
  t.end();
});

t.test("the same device without MIG is one", (t) => {
  const text = fixture("a100-sxm4-v12").replace("<current_mig>Enabled", "<current_mig>Disabled");
  t.match(parseNvidiaSmi(text), [{ model: "a100_80gb", memoryBytes: 81_920 * MIB, healthy: true }]);
  t.end();
});

t.test("several devices of one machine", (t) => {
  const one = fixture("rtx-3090-v12");
  const gpu = /<gpu id=[\s\S]*<\/gpu>/.exec(one)?.[0] ?? "";
  const two = one
    .replace("<attached_gpus>1", "<attached_gpus>2")
    .replace("</gpu>", `</gpu>${gpu.replace("GPU-12345678", "GPU-87654321")}`);
  t.strictSame(
    parseNvidiaSmi(two).map(({ device }) => device.slice(0, 12)),
    ["GPU-12345678", "GPU-87654321"],
  );
  t.end();
});

t.test(
  "memory errors that could not be corrected, heat, or a reset that is due, make it unhealthy",
  (t) => {
    const healthy = fixture("a10g");
    t.match(parseNvidiaSmi(healthy.replace("<dram_uncorrectable>0", "<dram_uncorrectable>2")), [
      { healthy: false, reason: "2 memory errors that could not be corrected" },
    ]);
    t.match(parseNvidiaSmi(healthy.replace("<gpu_temp>17 C", "<gpu_temp>95 C")), [
      { healthy: false, reason: "95 °C, where it slows itself down" },
    ]);
    const due = fixture("rtx-3080-v13");
    t.match(
      parseNvidiaSmi(
        due.replace(
          "</gpu>",
          "<gpu_reset_status><reset_required>Yes</reset_required></gpu_reset_status></gpu>",
        ),
      ),
      [{ healthy: false, reason: "its driver says that it must be reset" }],
    );
    t.match(parseNvidiaSmi(due), [{ usage: { utilizationPercent: 65, powerWatts: 142.33 } }]);
    t.end();
  },
);

t.test("what is no description of a device is refused, never guessed", (t) => {
  const whole = fixture("a10g");
  t.throws(() => parseNvidiaSmi(whole.replace(/<uuid>.*<\/uuid>/, "<uuid>none</uuid>")), /is none/);
  t.throws(() => parseNvidiaSmi(whole.replace("23028 MiB", "N/A")), /is none/);
  t.throws(() => parseNvidiaSmi(whole.replace(/<product_name>.*<\/product_name>/, "")), /is none/);
  t.strictSame(
    parseNvidiaSmi("<nvidia_smi_log><attached_gpus>0</attached_gpus></nvidia_smi_log>"),
    [],
  );
  t.end();
});

t.test("what is not the whole answer is refused with what is wrong with it", (t) => {
  const whole = fixture("a10g");
  const failed = { name: "ProbeFailedError", code: "probe_failed" };
  for (const [what, text, why] of [
    ["nothing", "", /wrote no XML/],
    [
      "no XML",
      "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
      /wrote no XML/,
    ],
    ["another document", "<html></html>", /neither lists devices/],
    [
      "too deep",
      `<nvidia_smi_log>${"<a>".repeat(100_000)}${"</a>".repeat(100_000)}</nvidia_smi_log>`,
      /wrote no XML/,
    ],
    [
      "devices that are not listed",
      whole.replace(/<gpu id=[\s\S]*<\/gpu>/, ""),
      /neither lists devices/,
    ],
  ] as const) {
    t.throws(() => parseNvidiaSmi(text), failed, what);
    t.throws(() => parseNvidiaSmi(text), { message: why }, what);
  }
  // Cut off anywhere: in the middle of a tag, between two devices, before the last line.
  for (let length = 0; length < whole.trimEnd().length; length += 97)
    t.throws(() => parseNvidiaSmi(whole.slice(0, length)), failed, `${length} bytes`);
  t.throws(() => parseNvidiaSmi(whole.trimEnd().slice(0, -1)), failed, "all but the last byte");
  t.end();
});

/** As a driver of 2026 says it, recorded by ourselves: an idle device, and one on which a program computes. */
const h100 = "GPU-a8a34d1d-b987-5e80-e481-f4cf740f7c64";
const recorded = (name: string): string =>
  readFileSync(join(import.meta.dirname, "fixtures", name), "utf8");

t.test("an H100 as this project's own machine showed it", (t) => {
  const capabilities = parseCapabilities(recorded("h100-capabilities.csv"));
  const lasting = {
    ...{ model: "h100", memoryBytes: 81_559 * MIB, device: h100, vendor: "nvidia", healthy: true },
    ...{ architecture: "9.0", driver: "580.159.04", cuda: "13.0", pciAddress: "0000:00:06.0" },
  };
  t.strictSame(parseNvidiaSmi(fixture("h100-v13-idle"), capabilities), [
    {
      ...{ ...lasting, memoryInUseBytes: 0, computeProcesses: 0 },
      usage: { utilizationPercent: 0, powerWatts: 71.81, temperatureC: 36 },
    },
  ]);
  t.strictSame(parseNvidiaSmi(fixture("h100-v13-load"), capabilities), [
    {
      ...{ ...lasting, memoryInUseBytes: 883 * MIB, computeProcesses: 1 },
      usage: { utilizationPercent: 100, powerWatts: 736.87, temperatureC: 58 },
    },
  ]);
  t.strictSame(parseMigList(recorded("h100-list.txt")).size, 0, "a whole device has no parts");
  t.end();
});

t.test("the newest driver says in other fields what is wrong", (t) => {
  const well = fixture("h100-v13-idle");
  const toldOf = (field: string, before: string, now: string): string | undefined => {
    const text = well.replace(`<${field}>${before}<`, `<${field}>${now}<`);
    t.not(text, well, field);
    const [one] = parseNvidiaSmi(text);
    t.equal(one?.healthy, one?.reason === undefined);
    return one?.reason;
  };
  t.equal(toldOf("gpu_recovery_action", "None", "Reset"), "its driver asks for: Reset");
  t.equal(toldOf("gpu_recovery_action", "None", "Drain P2P"), "its driver asks for: Drain P2P");
  t.equal(
    toldOf("gpu_recovery_action", "None", `Reboot\u200b ${"!".repeat(5000)}now`),
    "its driver asks for: Reboot now",
  );
  t.equal(
    toldOf("gpu_recovery_action", "None", "Requested functionality has been deprecated"),
    undefined,
    "a field that a newer driver gives up breaks no device",
  );
  t.equal(toldOf("gpu_temp_tlimit", "52 C", "-2 C"), "36 °C, where it slows itself down");
  t.equal(toldOf("gpu_temp_tlimit", "52 C", "-1 C"), undefined);
  t.equal(
    toldOf("remapped_row_failure", "No", "Yes"),
    "a broken row of its memory could not be replaced",
  );
  t.equal(toldOf("unrepairable_memory", "No", "Yes"), "memory that can't be repaired");
  t.equal(
    toldOf("sram_threshold_exceeded", "No", "Yes"),
    "more memory errors than its maker allows",
  );
  t.equal(toldOf("remapped_row_pending", "No", "Yes"), undefined, "it goes on until its reset");
  t.end();
});

t.test("many devices are read in no time", (t) => {
  const gpu = /<gpu id=[\s\S]*<\/gpu>/.exec(fixture("a10g"))?.[0] ?? "";
  const text = `<nvidia_smi_log><attached_gpus>200</attached_gpus>${gpu.repeat(200)}</nvidia_smi_log>`;
  t.ok(text.length > 1_000_000);
  const before = process.cpuUsage();
  t.equal(parseNvidiaSmi(text).length, 200);
  const { user } = process.cpuUsage(before);
  t.ok(user < 5_000_000, `${user} µs of CPU`);
  t.end();
});

/** A tool of this name and script before all others. */
function toolSaying(t: Test, script: string): void {
  const path = process.env["PATH"];
  t.teardown(() => {
    process.env["PATH"] = path;
  });
  const dir = t.testdir({ "nvidia-smi": `#!/bin/sh\n${script}\n` });
  chmodSync(join(dir, "nvidia-smi"), 0o755);
  process.env["PATH"] = `${dir}:${path}`;
}

t.test(
  "a tool that fails, floods or cuts itself short is told of, and nothing is offered",
  async (t) => {
    for (const [what, script, why] of [
      [
        "fails",
        "echo 'NVIDIA-SMI has failed because it could not communicate with the driver.'; exit 9",
        /failed \(9\): NVIDIA-SMI has/,
      ],
      ["says nothing", "exit 0", /wrote no XML/],
      ["floods", "yes '<gpu>'", /wrote more than 16777216 bytes/],
      ["is killed", "echo '<?xml version=\"1.0\" ?><nvidia_smi_log>'; kill -9 $$", /failed/],
      ["can't be run", "exec /nonexistent/interpreter", /failed \(127\)/],
    ] as const)
      await t.test(what, async (t) => {
        toolSaying(t, script);
        await t.rejects(nvidiaProbe.read(), { name: "ProbeFailedError", message: why });
        const told: unknown[] = [];
        const inventory = await readInventory({
          ...{ node: "n", cpuWorkers: 4, dataDir: t.testdirName, containerEngine: "podman" },
          accelerators: new Accelerators([nvidiaProbe]),
          onProbeError: (error) => told.push(error),
        });
        t.strictSame(
          inventory.workers,
          [],
          "not even CPU slots, whose names the devices' would be",
        );
        t.equal(told.length, 1);
      });
    await t.test("answers", async (t) => {
      const uuid = /<uuid>(.*)<\/uuid>/.exec(fixture("tesla-t4"))?.[1] ?? "";
      const xml = join(import.meta.dirname, "fixtures", "tesla-t4.xml");
      toolSaying(t, `case "$1" in -q) cat ${xml};; *) echo "${uuid}, 9.9";; esac`);
      t.match(await nvidiaProbe.read(), [{ model: "t4", healthy: true, architecture: "9.9" }]);
    });
    await t.test("answers, and knows no capabilities", async (t) => {
      const xml = join(import.meta.dirname, "fixtures", "tesla-t4.xml");
      toolSaying(
        t,
        `case "$1" in -q) cat ${xml};; *) echo 'Field "compute_cap" is not a valid field to query.'; exit 2;; esac`,
      );
      t.match(await nvidiaProbe.read(), [{ model: "t4", healthy: true, architecture: "7.5" }]);
    });
  },
);

/** What the tool says of these devices; `busy` is the one that a process computes on. */
function answer(devices: readonly string[], busy?: string): string {
  const gpu = /<gpu id=[\s\S]*<\/gpu>/.exec(fixture("tesla-t4"))?.[0] ?? "";
  const own = /<process_info>[\s\S]*<\/process_info>/.exec(gpu)?.[0] ?? "none";
  const gpus = devices.map((device) =>
    gpu
      .replace(/<uuid>.*<\/uuid>/, `<uuid>${device}</uuid>`)
      .replace(own, device === busy ? own : ""),
  );
  return `<nvidia_smi_log><attached_gpus>${gpus.length}</attached_gpus>${gpus.join("")}</nvidia_smi_log>`;
}

t.test("a slot stays its device's, whatever becomes of the others and of the agent", async (t) => {
  const [a, b, c, d] = ["a", "b", "c", "d"].map(
    (digit) => `GPU-${digit.repeat(8)}-0000-0000-0000-${"0".repeat(12)}`,
  ) as [string, string, string, string];
  const folder = t.testdir({ "answer.xml": answer([a, b, c]), data: {} });
  const say = (text: string): void => writeFileSync(join(folder, "answer.xml"), text);
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "nvidia-smi"), `#!/bin/sh\nexec cat ${folder}/answer.xml\n`, {
    mode: 0o755,
  });
  const path = process.env["PATH"];
  t.teardown(() => {
    process.env["PATH"] = path;
  });
  process.env["PATH"] = `${bin}:${path}`;
  const options = {
    node: "n",
    cpuWorkers: 2,
    dataDir: join(folder, "data"),
    containerEngine: "podman",
  };
  const begin = async () => {
    const accelerators = new Accelerators([nvidiaProbe]);
    const errors: unknown[] = [];
    const look = async () => {
      const { workers } = await readInventory({
        ...{ ...options, accelerators },
        onProbeError: (error) => errors.push(error),
      });
      return workers.map(({ id, device }) => `${id} ${device ?? "cpu"}`);
    };
    return { devices: new NodeDevices(accelerators), errors, look };
  };

  const first = await begin();
  const slots = ["n-1000 cpu", "n-1001 cpu"];
  t.strictSame(
    await first.look(),
    [`n-0 ${a}`, `n-1 ${b}`, `n-2 ${c}`, ...slots],
    "CPU slots as configured stand beside devices",
  );
  t.strictSame(await first.devices.claim(["n-1"]), { [b]: 1_032 * MIB });
  say(answer([b, c], b));
  const gone = { name: "DevicesNotFreeError" };
  await t.rejects(
    first.devices.claim(["n-0"]),
    { ...gone, message: /n-0.* is gone/ },
    "before the next look too",
  );
  for (const { look, devices } of [first, await begin()]) {
    t.strictSame(await look(), [`n-1 ${b}`, `n-2 ${c}`, ...slots]);
    await t.rejects(devices.claim(["n-0"]), { ...gone, message: /no n-0/ });
    await t.rejects(devices.claim(["n-2", "n-1"]), { ...gone, message: /computes on n-1/ });
    t.strictSame(await devices.claim(["n-2"]), { [c]: 1_032 * MIB });
  }
  say(answer([d, c, a]));
  t.strictSame(await first.look(), [`n-3 ${d}`, `n-2 ${c}`, `n-0 ${a}`, ...slots]);
  say(answer([]));
  t.strictSame(
    await first.look(),
    ["n-4 cpu", "n-5 cpu"],
    "what was a device's number is no CPU slot's",
  );
  t.strictSame(await first.devices.claim(["n-5"]), {});

  say("NVIDIA-SMI has failed");
  const blind = await begin();
  t.strictSame(await blind.look(), []);
  t.equal(blind.errors.length, 1);
  await t.rejects(
    blind.devices.claim(["n-2"]),
    gone,
    "a member is never without the device that it was placed on",
  );

  writeFileSync(join(options.dataDir, "devices.json"), "[1]");
  await t.rejects(blind.look(), /devices.json is no list/);
});

t.test(
  "one vendor's tool that fails hides no other's devices, and its own are kept as unhealthy",
  async (t) => {
    let isBroken = false;
    const amd: AcceleratorProbe = {
      vendor: "amd",
      read: async () => {
        if (isBroken) throw new ProbeFailedError("amd-smi", "did not end within 20 s");
        const [card] = parseRocmSmi(
          readFileSync(join(import.meta.dirname, "fixtures", "rocm-smi-mi100.json"), "utf8"),
        );
        return [{ ...card!, device: renderDevice(card!.pciAddress), computeProcesses: 0 }];
      },
    };
    toolSaying(t, `cat ${join(import.meta.dirname, "fixtures", "tesla-t4.xml")}`);
    const told: unknown[] = [];
    const accelerators = new Accelerators([nvidiaProbe, amd]);
    const look = async (one: Accelerators) => {
      const { workers } = await readInventory({
        ...{ node: "n", cpuWorkers: null, dataDir: t.testdirName, containerEngine: "podman" },
        accelerators: one,
        onProbeError: (error) => told.push(error),
      });
      return workers;
    };
    t.match(await look(accelerators), [
      { id: "n-0", model: "t4", healthy: true },
      { id: "n-1", model: "mi100", healthy: true },
    ]);
    isBroken = true;
    t.match(await look(accelerators), [
      { id: "n-0", model: "t4", healthy: true },
      {
        ...{ id: "n-1", model: "mi100", healthy: false },
        reason: "its tool does not answer: amd-smi did not end within 20 s",
      },
    ]);
    const devices = new NodeDevices(accelerators);
    await t.rejects(devices.claim(["n-1"]), { message: /n-1.* is not healthy: its tool/ });
    await t.rejects(devices.areAtBaseline({ [renderDevice("0000:83:00.0")]: 1 }), {
      name: "ProbeFailedError",
    });
    t.match(
      await look(new Accelerators([nvidiaProbe, amd])),
      [{ id: "n-0", model: "t4", healthy: true }],
      "a fresh agent knows of the others only",
    );
    t.equal(told.length, 2);
    isBroken = false;
    t.match(await look(accelerators), [{ healthy: true }, { healthy: true }]);
  },
);

t.test("a node without the tool has none of them", async (t) => {
  const path = process.env["PATH"];
  t.teardown(() => {
    process.env["PATH"] = path;
  });
  process.env["PATH"] = "/nonexistent";
  t.equal(await nvidiaProbe.read(), null);
});
