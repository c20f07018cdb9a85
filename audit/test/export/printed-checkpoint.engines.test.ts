import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import jsqr from "jsqr";
import t from "tap";
import { asPage, asTerminalText, printedCheckpoint } from "../../src/export/printed-checkpoint.ts";
import { exportLog } from "../../src/export/export-log.ts";
import { connectProducer } from "../../src/producer/producer.ts";
import { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";
import { keyList } from "../helper/event-drafts.ts";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { shippedProgram } from "@resontech/house/shipped-program";

const VERIFIER = shippedProgram("sov-verify");

/** What a camera sees of the terminal's half blocks: RGBA at four pixels a module. */
function photographed(lines: readonly string[]): {
  data: Uint8ClampedArray;
  width: number;
  height: number;
} {
  const zoom = 4;
  const [columns, rows] = [lines[0]!.length, lines.length * 2];
  const data = new Uint8ClampedArray(columns * rows * zoom * zoom * 4);
  const isLight = (x: number, y: number): boolean => {
    const cell = lines[y >> 1]![x]!;
    return cell === "█" || cell === (y % 2 === 0 ? "▀" : "▄");
  };
  for (let y = 0; y < rows * zoom; y++)
    for (let x = 0; x < columns * zoom; x++)
      data.set(
        isLight(Math.floor(x / zoom), Math.floor(y / zoom)) ? [255, 255, 255, 255] : [0, 0, 0, 255],
        (y * columns * zoom + x) * 4,
      );
  return { data, width: columns * zoom, height: rows * zoom };
}

t.test(
  "the code of a printed checkpoint is read back, and the verifier holds a later export to it",
  async (t) => {
    const auditd = new AuditdFixture(temporaryFolder(t));
    auditd.init();
    t.teardown(() => auditd.stop("SIGKILL"));
    await auditd.start();
    await using producer = await connectProducer({
      socketPath: auditd.socket("appliance"),
      boot: "b-1",
    });
    await producer.covered((await producer.fact(keyList())).index);
    const policy = readFileSync(auditd.config.policyFile);
    const printed = printedCheckpoint(
      readFileSync(join(auditd.logDir, "checkpoint"), "utf8"),
      policy,
    );

    const terminal = asTerminalText(printed).split("\n");
    const code = terminal.filter((line) => /^[ █▀▄]{40,}$/u.test(line));
    t.ok(code[0]!.length <= 80, `${code[0]!.length} columns`);
    const { data, width, height } = photographed(code);
    const read = (jsqr as unknown as typeof jsqr.default)(data, width, height);
    t.equal(Buffer.from(read?.binaryData ?? []).toString("utf8"), printed.text);

    await producer.covered((await producer.fact(keyList())).index);
    const file = join(auditd.root, "export.tar");
    const known = join(auditd.root, "known.txt");
    await exportLog({ logDir: auditd.logDir, file });
    const verdictWith = (text: string): string => {
      writeFileSync(known, text);
      const args = [VERIFIER, file, "--policy", auditd.config.policyFile, "--known", known];
      return (
        /APPEND-ONLY\s+(PASS|FAIL|NOT CHECKED)/.exec(
          spawnSync(process.execPath, args, { encoding: "utf8" }).stdout,
        )?.[1] ?? ""
      );
    };
    t.equal(verdictWith(printed.text), "PASS");
    t.equal(
      verdictWith(printed.text.replace(/\n.{3}(.*=\n\n)/, "\nAAA$1")),
      "FAIL",
      "a sheet of another history",
    );
  },
);

t.test("a page needs nothing but itself, and shows what it was given as text", (t) => {
  const page = asPage(
    { origin: `<b>&"`, size: 7, policySha256: "0".repeat(64), text: "<i>\n" },
    "2026-01-01T00:00:00.000Z",
  );
  t.notMatch(page, /<b>|<i>|<script|https?:\/\/(?!www\.w3\.org)/);
  t.match(page, /default-src 'none'/);
  t.match(page, /<svg/);
  t.end();
});

t.test("what the policy's Ed25519 key did not sign is not printed", (t) => {
  const policy = Buffer.from(
    "log box.audit.acme/2026+00000000+AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyAh\nquorum none\n",
  );
  t.throws(() => printedCheckpoint("hello", policy), RangeError);
  t.end();
});
