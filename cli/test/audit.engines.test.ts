import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ControlReply } from "@resontech/contracts/control-protocol";
import t from "tap";
import { asTable } from "../src/table.ts";
import { RunningCoordinator } from "../../coordinator/test/helper/running-coordinator.ts";
import { shippedProgram } from "../../airgap/test/helper/shipped-program.ts";

const MAIN = shippedProgram("resontech");
const VERIFIER = shippedProgram("sov-verify");
type User = Extract<ControlReply, { ok: true; verb: "add-user" }>;

const resontech = (env: Record<string, string>, ...args: string[]) =>
  spawnSync(process.execPath, [MAIN, ...args], { encoding: "utf8", env: { PATH: process.env["PATH"], ...env } });

t.test(
  "a researcher's shell shows his own entries",
  { skip: process.getuid?.() === 0 ? false : "audit-out's file must be root's" },
  async (t) => {
    const coordinator = await RunningCoordinator.create();
    t.teardown(() => coordinator[Symbol.asyncDispose]());
    await coordinator.startSearch();
    const alice = (await coordinator.control({ verb: "add-user", username: "alice", admin: false })) as User;
    for (let i = 0; i < 5; i++) await coordinator.get("/api/keys", alice.platformKey);
    const dir = t.testdir();
    const caFile = join(dir, "ca.pem");
    writeFileSync(caFile, coordinator.caPem);
    const env = { RESON_API_KEY: alice.platformKey, RESON_BASE_URL: coordinator.url, SSL_CERT_FILE: caFile };
    const search = (...args: string[]) => resontech(env, "audit", "search", "--type", "key.list", ...args);
    for (let tries = 0; tries < 100 && search("--json").stdout.split("\n").length < 6; tries++) await sleep(50);

    const first = search("--limit", "3", "--oldest", "--json");
    t.match(first, { status: 0, stderr: /there is more: .* --cursor / });
    const cursor = /--cursor (\S+)/.exec(first.stderr)![1]!;
    const rest = search("--oldest", "--json", "--cursor", cursor);
    const entries = [first, rest].flatMap(({ stdout }) =>
      stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { index: number }),
    );
    t.equal(entries.length, 5);
    t.same(
      entries.map(({ index }) => index),
      entries.map(({ index }) => index).toSorted((a, b) => a - b),
    );
    t.match(search(), { status: 0, stdout: /^ENTRY +TIME.*\n\d{4}\// });

    const proof = join(dir, "entry.tlog-proof");
    const shown = resontech(env, "audit", "show", String(entries[0]!.index), "--proof", proof);
    t.match(JSON.parse(shown.stdout), { event: { type: "key.list" }, leafHash: /^[0-9a-f]{64}$/ });
    const policy = coordinator.auditd.config.policyFile;
    t.match(execFileSync(process.execPath, [VERIFIER, proof, "--policy", policy], { encoding: "utf8" }), /SIGNATURE +PASS/);

    t.match(search("--object", "nobody"), { status: 0, stdout: "", stderr: /no entry that you may see matches/ });
    t.match(search("--from", "yesterday"), { status: 1, stderr: /validation_failed/ });
    t.match(resontech(env, "audit", "show", "999999"), { status: 1, stderr: /not_found/ });
    t.match(resontech(env, "audit", "show", "../keys"), { status: 1, stderr: /entry_invalid/ });
    t.match(resontech({ ...env, RESON_API_KEY: "rsk_live_wrong" }, "audit", "search"), { status: 1, stderr: /invalid_api_key/ });
    t.match(resontech({ ...env, SSL_CERT_FILE: "/nowhere.pem" }, "audit", "search"), { status: 1, stderr: /ca_unreadable/ });
    const { SSL_CERT_FILE: _trusted, ...untrusting } = env;
    t.match(
      resontech(untrusting, "audit", "search"),
      { status: 1, stderr: /unreachable/ },
      "a key goes to nobody who is not trusted",
    );
    t.notMatch(readFileSync(proof, "utf8"), /rsk_/);
  },
);

t.test("without settings, or with plain HTTP to elsewhere, nothing is sent", (t) => {
  t.match(resontech({}, "audit", "search"), { status: 1, stderr: /not_configured.*\n.*quickstart/ });
  t.match(resontech({ RESON_API_KEY: "k", RESON_BASE_URL: "http://example.org" }, "audit", "search"), {
    status: 1,
    stderr: /url_invalid/,
  });
  t.match(resontech({}, "audit", "search", "--limit", "0"), { status: 2, stderr: /1 to 1000000/ });
  t.match(resontech({}, "--help"), { status: 0, stdout: /audit/ });
  t.end();
});

t.test("a table fits the terminal, and what comes from outside is shown and not obeyed", (t) => {
  const table = asTable(
    ["A", "B"],
    [
      ["1", "x\u001b[2Jy\u202ez"],
      ["22", "b".repeat(100)],
    ],
    40,
  );
  t.equal(table.split("\n")[1], "1   x\\u{1b}[2Jy\\u{202e}z");
  t.ok(table.split("\n").every((line) => line.length <= 40));
  t.equal(asTable(["A"], [["b".repeat(100)]], null).split("\n")[1]?.length, 100);
  t.end();
});
