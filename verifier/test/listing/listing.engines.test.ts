/** `sov-verify --list` as an auditor runs it: its own file, under the host's Node where there is one. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PII_FIELDS } from "@resontech/contracts/audit-event";
import t, { type Test } from "tap";
import { shippedProgram } from "@resontech/house/shipped-program";
import { commitment } from "@resontech/audit/format/event/commitment";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { hostNode } from "../helper/host-node.ts";
import { MadeLog } from "../helper/made-log.ts";

const VERIFIER = shippedProgram("sov-verify");
const NODE = hostNode();
const MAX_RSS_MIB = 256;
const HOOK = `import { readFileSync, writeSync } from "node:fs";
process.on("exit", () => writeSync(2, "VmHWM " + /VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]));`;

function written(t: Test, log: MadeLog, archive: Buffer): string[] {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, "export.tar"), archive);
  writeFileSync(join(folder, "audit.policy"), log.policy());
  return [join(folder, "export.tar"), "--policy", join(folder, "audit.policy")];
}

t.test("entries follow the verdicts, filtered, as lines for people and for programs", async (t) => {
  const log = MadeLog.begun();
  const { commitment: sealed, disclosure } = commitment("src.addr", "10.0.0.7");
  const refused = log.say({
    type: "auth.refused",
    src: { addr: sealed },
    object: { kind: "appliance", id: "appliance" },
    outcome: { code: "forbidden", status: 403 },
    detail: { reason: "forbidden" },
  });
  log.key();
  const [file = "", ...policy] = written(
    t,
    log,
    log.archive({ disclosures: [{ index: refused, commitment: sealed, ...disclosure }] }),
  );
  const run = (...args: string[]) =>
    spawnSync(NODE, [VERIFIER, file, ...policy, ...args], { encoding: "utf8" });

  const text = run("--list", "--outcome", "refused");
  t.equal(text.status, 0, text.stderr);
  const [verdicts = "", listed = ""] = text.stdout.split(/^ *entry .*\n/m);
  t.match(verdicts, /INTEGRITY +PASS/);
  t.match(
    listed,
    new RegExp(
      `^ +${refused}  2026-03-01T08:00:00\\.000Z  auth\\.refused +fact forbidden 403 +user usr-1 .* p  src\\.addr="10\\.0\\.0\\.7"\n1 of 5 entries`,
    ),
  );

  const lines = run("--list", "--json").stdout.trimEnd().split("\n");
  t.match(JSON.parse(lines[0]!), { verdicts: { INTEGRITY: { verdict: "PASS" } }, exitCode: 0 });
  t.same(
    lines.slice(1).map((line) => JSON.parse(line).entry),
    [0, 1, 2, 3, 4],
  );
  t.match(JSON.parse(lines[1 + refused]!), {
    event: { type: "auth.refused", outcome: { code: "forbidden", status: 403 } },
    values: { "src.addr": { value: "10.0.0.7" } },
  });

  for (const [args, said] of [
    [["--list", "--type", "auth.refsued"], /no such type; there are auth\.failure/],
    [["--list", "--from", "yesterday"], /a day such as 2026-11-25/],
    [["--type", "auth.refused"], /--type goes with --list/],
  ] as const) {
    const { status, stderr, stdout } = run(...args);
    t.same([status, stdout], [64, ""], args.join(" "));
    t.match(stderr, said);
  }
  t.equal(
    spawnSync(NODE, [VERIFIER, "-", "--list"], { input: "" }).status,
    64,
    "what can't be read twice",
  );
});

t.test("of an export that is not sound no entry is listed, and its exit code stays", async (t) => {
  const log = MadeLog.begun();
  log.requested();
  const archive = log.archive();
  archive.write('"usr-2"', archive.indexOf('"usr-1"'));
  const { status, stdout } = spawnSync(NODE, [VERIFIER, ...written(t, log, archive), "--list"], {
    encoding: "utf8",
  });
  t.equal(status, 2);
  t.match(stdout, /No entry is listed: INTEGRITY did not pass/);
  t.notMatch(stdout, /usr-/);
});

t.test("who has seen enough ends it, and no verdict's exit code stands for that", async (t) => {
  const log = MadeLog.begun();
  for (let at = 0; at < 250; at++) log.key();
  const script = '{ "$@"; echo "code $?" >&2; } | head -n 1';
  const args = [
    "-c",
    script,
    "sh",
    NODE,
    VERIFIER,
    ...written(t, log, log.archive()),
    "--list",
    "--json",
  ];
  const { stderr } = spawnSync("/bin/sh", args, { encoding: "utf8" });
  t.match(stderr, /^code (?:0|64)\n$/);
});

t.test("a listing takes no more memory than a verdict, however long the values are", async (t) => {
  const log = MadeLog.begun();
  const value = "\u202E".repeat(20_000);
  const disclosures: object[] = [];
  for (let at = 0; at < 240; at++) {
    const sealed = [...PII_FIELDS]
      .sort()
      .map((field) => ({ field, ...commitment(`pii.${field}`, value) }));
    const index = log.say({
      type: "key.list",
      pii: sealed.map(({ field, commitment: one }) => ({ field, commitment: one })),
    });
    disclosures.push(
      ...sealed.map(({ commitment: one, disclosure }) => ({
        index,
        commitment: one,
        ...disclosure,
      })),
    );
  }
  const hook = `--import=data:text/javascript,${encodeURIComponent(HOOK)}`;
  const args = [hook, VERIFIER, ...written(t, log, log.archive({ disclosures })), "--list"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    maxBuffer: 1_073_741_824,
  });
  t.equal(status, 0, stderr);
  t.match(stdout, /243 of 243 entries are listed/);
  t.match(stdout, /pii\.email="\\u\{202e\}/);
  t.match(stdout, /opened, too long to be shown/);
  const peakMib = Number(/VmHWM (\d+)$/.exec(stderr)?.[1] ?? "Infinity") / 1_024;
  t.ok(peakMib < MAX_RSS_MIB, `${Math.round(peakMib)} MiB`);
  t.comment(`${Math.round(peakMib)} MiB`);
});
