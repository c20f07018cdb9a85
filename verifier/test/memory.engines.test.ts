/** What the verifier takes of an auditor's machine: no more than 256 MiB and no longer than its input is read, whatever the input is. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { ustarMember } from "@resontech/audit/export/ustar";
import { canonicalJson } from "@resontech/audit/format/event/canonical-json";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { shippedProgram } from "@resontech/house/shipped-program";
import { MadeLog, ORIGIN } from "./helper/made-log.ts";
import { enveloped, madeRelease } from "./helper/made-release.ts";

const VERIFIER = shippedProgram("sov-verify");
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const MIB = 1_048_576;
const MAX_RSS_MIB = 256;
const LIMIT_MS = 120_000;
const HOOK = `import { readFileSync, writeSync } from "node:fs";
process.on("exit", () => writeSync(2, "VmHWM " + /VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]));`;

type Files = { archive: Buffer; known?: Buffer; downtime?: Buffer; releases?: readonly Buffer[] };

/** @returns the exit code, what was said, and the highest resident set */
function run(
  t: Test,
  log: MadeLog,
  { archive, known, downtime, releases = [] }: Files,
): { code: number | null; said: string; peakMib: number } {
  const folder = temporaryFolder(t);
  const file = (name: string, bytes: Buffer): string => {
    writeFileSync(join(folder, name), bytes);
    return join(folder, name);
  };
  const args = [file("export", archive), "--policy", file("policy", log.policy())];
  if (known !== undefined) args.push("--known", file("known", known));
  if (downtime !== undefined) args.push("--downtime", file("downtime", downtime));
  for (const [at, release] of releases.entries())
    args.push("--release", file(`release-${at}`, release));
  const hook = `--import=data:text/javascript,${encodeURIComponent(HOOK)}`;
  const { status, stdout, stderr } = spawnSync(process.execPath, [hook, VERIFIER, ...args], {
    encoding: "utf8",
    timeout: LIMIT_MS,
  });
  const [, kib = "Infinity"] = /VmHWM (\d+)$/.exec(stderr) ?? [];
  return { code: status, said: stdout + stderr, peakMib: Number(kib) / 1_024 };
}

function around(before: string, what: string, bytes: number, after: string): Buffer {
  return Buffer.concat([
    Buffer.from(before),
    Buffer.alloc(bytes - (bytes % what.length), what),
    Buffer.from(after),
  ]);
}

function withDisclosures(log: MadeLog, text: Buffer): Buffer {
  const whole = log.archive();
  const at = whole.indexOf("tile/entries/");
  return Buffer.concat([
    whole.subarray(0, at),
    ustarMember(`disclosures/000.p/${log.leaves.length}`, text),
    whole.subarray(at),
  ]);
}

t.test("disclosures of a hundred MiB are refused, or read line by line", async (t) => {
  const log = MadeLog.begun();
  const line = (field: string): string =>
    `${canonicalJson({ commitment: "f".repeat(64), field, index: 0, salt: "f".repeat(64), value: "" }, 2)}\n`;
  const many = Array.from({ length: 400_000 }, (_, at) =>
    line(`pii.${String(at).padStart(7, "0")}`),
  );
  for (const [what, text] of [
    ["line ends", Buffer.alloc(100 * MIB, "\n")],
    ["one string", around('{"commitment":"', "a", 100 * MIB, '"}\n')],
    ["one list", around('{"a":[', "0,", 100 * MIB, "0]}\n")],
    ["no line's end", Buffer.alloc(100 * MIB, "a")],
    ["more lines than entries can have commitments", Buffer.from(many.join(""))],
  ] as const) {
    const { code, said, peakMib } = run(t, log, { archive: withDisclosures(log, text) });
    t.equal(code, 64, `${what}: ${said.slice(0, 300)}`);
    t.match(said, /REFUSED +disclosures\/000/, what);
    t.ok(peakMib < MAX_RSS_MIB, `${what}: ${Math.round(peakMib)} MiB`);
  }
});

t.test("a known report of any form is read or refused", async (t) => {
  const log = MadeLog.begun();
  const root = Buffer.alloc(32).toString("base64");
  const checkpoint = `"checkpoint":{"origin":"${ORIGIN}","root":"${root}","size":1}`;
  for (const [bytes, codes] of [
    [3 * MIB - 1_000, [0, 4, 16, 20, 64]],
    [15 * MIB, [64]],
  ] as const)
    for (const part of ["[", '{"a":', "{},", "[],", "1.5,"]) {
      const known = around(`{${checkpoint},"x":[`, part, bytes, part.endsWith(",") ? "0]}" : "");
      const { code, said, peakMib } = run(t, log, { archive: log.archive(), known });
      t.ok(
        codes.some((one) => one === code),
        `${part} ${bytes}: ${code} ${said.slice(0, 200)}`,
      );
      t.ok(peakMib < MAX_RSS_MIB, `${part} ${bytes}: ${Math.round(peakMib)} MiB`);
    }
});

t.test("releases of any form are read or refused, and as many as may be given", async (t) => {
  const log = MadeLog.begun();
  const statement = (part: string): Buffer => enveloped(around('{"x":[', part, 2_300_000, "0]}"));
  const full = Array.from({ length: 16 }, (_, of) =>
    madeRelease({
      tree: Array.from({ length: 22_000 }, (_, at) => ({
        path: `${of}/${at}`,
        sha256: sha256(`${of}/${at}`),
      })),
    }),
  );
  const payload = '{"payloadType":"application/vnd.in-toto+json","payload":"';
  const cases: [what: string, code: number, releases: Buffer[]][] = [
    ...["{},", "[],", "1.5,"].map((part): [string, number, Buffer[]] => [
      part,
      64,
      [statement(part)],
    ]),
    ["deep", 64, [enveloped(Buffer.alloc(2_300_000, "["))]],
    ["one string", 64, [around(payload, "A", 3_000_000, '"}')]],
    ["16 MiB", 64, [around(payload, "A", 16 * MIB, '"}')]],
    ["full", 65, full],
    ["one too many", 64, [...full, full[0]!]],
  ];
  for (const [what, expected, releases] of cases) {
    const { code, said, peakMib } = run(t, log, { archive: log.archive(), releases });
    t.equal(code, expected, `${what}: ${said.slice(0, 200)}`);
    t.ok(peakMib < MAX_RSS_MIB, `${what}: ${Math.round(peakMib)} MiB`);
    t.comment(`${what}: ${Math.round(peakMib)} MiB`);
  }
});

t.test(
  "announced times are read line by line, and compared with silences in the time that both are read in",
  async (t) => {
    const log = MadeLog.begun();
    const lineEnds = run(t, log, {
      archive: log.archive(),
      downtime: Buffer.alloc(60 * MIB, "\n"),
    });
    t.equal(lineEnds.code, 64, lineEnds.said.slice(0, 300));
    t.ok(lineEnds.peakMib < MAX_RSS_MIB, `${Math.round(lineEnds.peakMib)} MiB`);
  },
);

t.test("checkpoints that an export carries are kept by their heads alone", async (t) => {
  const log = MadeLog.begun();
  const root = Buffer.alloc(32);
  const stranger = `— stranger ${Buffer.alloc(45_000, 1).toString("base64")}\n`;
  const members = Array.from({ length: 3_000 }, (_, at) => {
    const note = `${ORIGIN}\n${at + 1}\n${root.toString("base64")}\n\n${stranger}`;
    return ustarMember(`checkpoints/${at + 1}`, Buffer.from(note));
  });
  const newest = ustarMember("checkpoint", Buffer.from(log.checkpoint(10_000, { root })));
  const { code, said, peakMib } = run(t, log, { archive: Buffer.concat([newest, ...members]) });
  t.equal(code, 64, said.slice(0, 300));
  t.ok(peakMib < MAX_RSS_MIB, `${Math.round(peakMib)} MiB`);
});
