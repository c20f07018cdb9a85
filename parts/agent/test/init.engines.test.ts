import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ensureEngine } from "@resontech/airgap/engines";
import t from "tap";
import { bootTimeNs } from "../src/boot-clock.ts";
import { untilFound } from "@resontech/house/until-found";
import { jobPackages } from "./helper/python-tests.ts";

const init = await ensureEngine("init");
const EXPIRED = 75;
const OUT_OF_MEMORY = 76;

function writeLease(file: string, text: string): void {
  writeFileSync(`${file}.part`, text);
  renameSync(`${file}.part`, file);
}

const inSeconds = (seconds: number): string =>
  `${bootTimeNs() + BigInt(seconds) * 1_000_000_000n}\n`;

/** rt-init as PID 1 of a namespace of its own, as in a container. */
function start(dir: string, script: string) {
  const [lease, output] = [join(dir, "lease"), join(dir, "output.log")];
  const child = spawn(
    "unshare",
    [
      "--pid",
      "--fork",
      "--kill-child",
      "--mount-proc",
      init,
      "-lease",
      lease,
      "-output",
      output,
      "--",
      "sh",
      "-c",
      script,
    ],
    { stdio: ["ignore", "inherit", "inherit"], detached: true },
  );
  const ended = once(child, "exit").then(([code]) => code as number);
  return {
    lease,
    ended,
    said: () => (existsSync(output) ? readFileSync(output, "utf8") : ""),
    /** To rt-init itself, which is the child of `unshare`. */
    signal: async (name: NodeJS.Signals) => {
      const pid = await untilFound("rt-init", () =>
        readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim(),
      );
      process.kill(Number(pid), name);
    },
  };
}

t.test("passes the payload's exit code and output on", async (t) => {
  const dir = t.testdir({ lease: inSeconds(60) });
  const { ended, said } = start(dir, "echo one; echo two >&2; exit 7");
  t.equal(await ended, 7);
  t.equal(said(), "one\ntwo\n");
});

t.test("a payload killed by a signal ends as 128 + its number", async (t) => {
  const dir = t.testdir({ lease: inSeconds(60) });
  t.equal(await start(dir, "kill -KILL $$").ended, 137);
});

t.test("a payload can't pretend that its lease was lost or its memory used up", async (t) => {
  for (const code of [EXPIRED, OUT_OF_MEMORY]) {
    const dir = t.testdir({ lease: inSeconds(60) });
    t.equal(await start(dir, `exit ${code}`).ended, 1, String(code));
  }
});

t.test("forwards signals to the payload", async (t) => {
  const dir = t.testdir({ lease: inSeconds(60) });
  const { ended, said, signal } = start(
    dir,
    "trap 'echo stopping; exit 143' TERM; echo ready; while :; do sleep 0.05; done",
  );
  await untilFound("the payload", () => said().includes("ready"));
  await signal("SIGTERM");
  t.equal(await ended, 143);
  t.match(said(), /stopping/);
});

t.test("reaps orphans and ends with the payload, whatever it left running", async (t) => {
  const dir = t.testdir({ lease: inSeconds(60) });
  const { ended, said } = start(
    dir,
    "sh -c 'sleep 0.2 & exit 0'; sleep 0.5; grep -lE '^State:.Z' /proc/[0-9]*/status && echo zombie; sleep 300 & sh -c 'sleep 300 &'; exit 0",
  );
  t.equal(await ended, 0);
  t.notMatch(said(), /zombie/);
});

t.test("starts nothing without a lease that holds", async (t) => {
  for (const [why, text] of [
    ["expired", inSeconds(-1)],
    ["garbage", "soon\n"],
    ["too long", "1".repeat(100)],
    ["out of range", "9".repeat(40)],
    ["empty", ""],
  ] as const) {
    const dir = t.testdir({ lease: text });
    const { ended, said } = start(dir, "echo started");
    t.equal(await ended, EXPIRED, why);
    t.notMatch(said(), /started/, why);
  }
  const dir = t.testdir({});
  t.equal(await start(dir, "echo started").ended, EXPIRED, "absent");
});

t.test("kills everything when the deadline passes, and not before", async (t) => {
  // It writes down how long it lives, as the host's uptime.
  const script =
    "trap '' TERM; sleep 300 & while :; do cut -d' ' -f1 /proc/uptime; sleep 0.1; done";
  const dir = t.testdir({ first: { lease: inSeconds(3) }, later: { lease: inSeconds(9) } });
  const firstEndsS = Number(bootTimeNs() / 1_000_000_000n) + 3;
  const [first, later] = [start(join(dir, "first"), script), start(join(dir, "later"), script)];
  const order: string[] = [];
  void first.ended.then(() => order.push("first"));
  void later.ended.then(() => order.push("later"));
  await untilFound("it runs", () => first.said() !== "");
  writeLease(first.lease, inSeconds(4));
  t.equal(await first.ended, EXPIRED);
  const lastS = Math.max(...(first.said().match(/^\d+\.\d+$/gm) ?? []).map(Number));
  t.ok(lastS > firstEndsS, `a renewed lease is followed: ${lastS}, ${firstEndsS}`);
  t.equal(await later.ended, EXPIRED);
  t.same(order, ["first", "later"], "each at its own deadline");
});

t.test("a lease that can't be read any more is none", async (t) => {
  for (const spoil of [
    (lease: string) => rmSync(lease),
    (lease: string) => writeLease(lease, "\0\0\0"),
  ]) {
    const dir = t.testdir({ lease: inSeconds(600) });
    const { ended, lease, said } = start(dir, "echo up; sleep 300");
    await untilFound("it runs", () => said() !== "");
    spoil(lease);
    // What it runs would end by itself with 0.
    t.equal(await ended, EXPIRED);
  }
});

t.test("the payload can't reach into PID 1 although it has its uid", async (t) => {
  const dir = t.testdir({ lease: inSeconds(60) });
  // Root may look into anybody: rt-init and payload run as a job's uid, as in a container.
  const child = spawn(
    "setpriv",
    [
      ...[
        "--reuid",
        "10001",
        "--regid",
        "10001",
        "--clear-groups",
        "--no-new-privs",
        "--bounding-set=-all",
      ],
      ...[
        init,
        "-lease",
        join(dir, "lease"),
        "--",
        "sh",
        "-c",
        "true 2>/dev/null </proc/$PPID/mem; echo $?",
      ],
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  let said = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
  });
  await once(child, "close");
  t.match(said, /^[12]\n$/, "its memory can't be opened");
});

t.test("the payload says when its own threads run, and can't say it of PID 1", async (t) => {
  const dir = t.testdir({ lease: inSeconds(60) });
  const tries = {
    "itself: one processor": "taskset -c 0 true",
    "itself: idle": "chrt --idle 0 true",
    "itself: nicer": "nice -n 5 true",
    "itself: idle for its disk": "ionice -c 3 true",
    "PID 1: one processor": "taskset -pc 0 1",
    "all of PID 1: one processor": "taskset -apc 0 1",
    "PID 1: idle": "chrt --idle --pid 0 1",
    "PID 1: nicer": "renice -n 19 -p 1",
    "all of the user: nicer": "renice -n 19 -u $(id -u)",
    "PID 1's group: nicer": "renice -n 19 -g 1",
    "PID 1: idle for its disk": "ionice -c 3 -p 1",
  };
  const script = Object.entries(tries).map(
    ([name, command]) => `${command} >/dev/null 2>&1; echo "${name}: $?"`,
  );
  const { ended, said } = start(dir, script.join("\n"));
  t.equal(await ended, 0);
  for (const line of said().trim().split("\n"))
    t.match(line, line.startsWith("itself") ? /: 0$/ : /: [1-9]\d*$/, line);
  t.equal(said().trim().split("\n").length, Object.keys(tries).length);
});

/** For each thread and policy of `(tid, policy)` pairs: `done`, or the name of the error. */
const SCHEDULER = `import errno, os, sys
def said(tid, policy):
    try:
        os.sched_setscheduler(tid, policy, os.sched_param(0))
        return "done"
    except OSError as error:
        return errno.errorcode[error.errno]
ours = [int(tid) for tid in os.listdir("/proc/1/task")]
for name, policy in (("OTHER", 0), ("BATCH", 3), ("IDLE", 5), ("OTHER and reset on fork", 0x40000000), ("below", -1), ("EXT", 7)):
    print(f"PID 1 {name}:", *sorted({said(tid, policy) for tid in ours}))
print("itself IDLE:", said(0, 5))
print("itself OTHER by number:", said(os.getpid(), 0))
print("itself IDLE by number:", said(os.getpid(), 5))
print("PID 1 has:", *sorted({os.sched_getscheduler(tid) for tid in ours}))
`;

t.test(
  "a thread named by number may be given the policy that all have, and no other",
  async (t) => {
    const dir = t.testdir({ lease: inSeconds(60), "scheduler.py": SCHEDULER });
    const { ended, said } = start(dir, `python3 ${join(dir, "scheduler.py")}`);
    t.equal(await ended, 0);
    t.same(said().trim().split("\n"), [
      "PID 1 OTHER: done",
      "PID 1 BATCH: EPERM",
      "PID 1 IDLE: EPERM",
      "PID 1 OTHER and reset on fork: EPERM",
      "PID 1 below: EPERM",
      "PID 1 EXT: EPERM",
      "itself IDLE: done",
      "itself OTHER by number: done",
      "itself IDLE by number: EPERM",
      "PID 1 has: 0",
    ]);
  },
);

/** What training does: a group of processes over gloo, and threads of OpenMP. */
const TRAINS = `import os, torch, torch.distributed as group
torch.set_num_threads(3)
os.environ.update(MASTER_ADDR="127.0.0.1", GLOO_SOCKET_IFNAME="lo")
group.init_process_group("gloo", init_method="file:///tmp/group-%d" % os.getpid(), rank=0, world_size=1)
sum = torch.ones(512, 512) @ torch.ones(512, 512)
group.all_reduce(sum)
print("trained", int(sum[0, 0]), torch.get_num_threads())
# Its threads would race the end of the interpreter otherwise, and abort it at times.
group.destroy_process_group()
`;
const packages = jobPackages();

t.test(
  "torch, gloo and OpenMP run under PID 1",
  { skip: packages === null && "no job image in .cache/airgap: build a bundle first" },
  async (t) => {
    const dir = t.testdir({ lease: inSeconds(120), "trains.py": TRAINS });
    const path = packages?.["PYTHONPATH"] ?? "";
    const { ended, said } = start(dir, `PYTHONPATH=${path} python3 ${join(dir, "trains.py")}`);
    t.equal(await ended, 0, said());
    t.match(said(), /^trained 512 3$/m);
  },
);

t.test("a payload with hundreds of busy threads can't keep PID 1 from its lease", async (t) => {
  const dir = t.testdir({ lease: inSeconds(5), "scheduler.py": SCHEDULER });
  // With all threads of PID 1 and those of the payload on one processor, its own at the lowest priority that there is.
  const attack =
    "for task in /proc/1/task/*; do taskset -pc 0 ${task##*/}; chrt --idle --pid 0 ${task##*/}; done >/dev/null 2>&1";
  const policies = `python3 ${join(dir, "scheduler.py")}`;
  const busy = "for n in $(seq 300); do taskset -c 0 sh -c 'while :; do :; done' & done; wait";
  const { ended, signal } = start(dir, `${attack}; ${policies}; ${busy}`);
  const how = await Promise.race([ended, sleep(20_000, "it runs on")]);
  if (how === "it runs on") await signal("SIGKILL");
  t.equal(how, EXPIRED);
});
