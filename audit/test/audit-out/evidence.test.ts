import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { csvLine } from "../../src/audit-out/evidence/csv.ts";
import { uuidV5 } from "../../src/audit-out/evidence/uuid-v5.ts";
import { writeEvidence } from "../../src/audit-out/evidence/write-evidence.ts";
import { hashLeaf } from "../../src/log/merkle.ts";
import { jobSubmit, lacksMount, SmallDisk, temporaryFolder } from "../helper.ts";
import { keyLists, WrittenLog } from "./helper.ts";

const VERIFIER = join(import.meta.dirname, "../../src/verifier/main.ts");
const CONTROLS = join(import.meta.dirname, "../../../policies/controls.json");

t.test("no cell is taken for a formula, and none ends before its end", async (t) => {
  for (const hostile of ["=1+1", "+1", "-1", "@SUM(A1)", "|calc", "%0A=1", "\t=1", "\r=1", " =1", "\n=cmd|' /C calc'!A0"])
    t.match(csvLine([hostile]), /^"'/, JSON.stringify(hostile));
  t.equal(csvLine(['a "quoted", cell', "plain", 5]), '"a ""quoted"", cell","plain",5\r\n');
  t.equal(csvLine(["2026-03-01"]), '"2026-03-01"\r\n');
});

t.test("a UUID comes from its name alone", async (t) => {
  t.equal(uuidV5("a"), uuidV5("a"));
  t.not(uuidV5("a"), uuidV5("b"));
  t.match(uuidV5("a"), /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

t.test("a pack counts what the log holds for each control, is the same for the same tree, and replaces nothing", async (t) => {
  const root = temporaryFolder(t);
  const log = await new WrittenLog(root).open("2026");
  const leaves = await log.append([
    ...keyLists(300),
    { ...jobSubmit(), phase: "requested" },
    { ...jobSubmit(), phase: "requested" },
  ]);
  const run = (framework: string, out: string) =>
    writeEvidence(log.options, { framework, controlsFile: CONTROLS, outFolder: join(root, out) });
  const read = (out: string, file: string): string => readFileSync(join(root, out, file), "utf8");
  t.match(await run("gdpr", "one"), { origin: "box.audit.acme/2026", size: 302 });
  t.match(read("one", "controls.csv"), /^"Art-30","Records of processing activities",2,300,301\r$/m);
  t.match(read("one", "controls.csv"), /^"Art-17","[^"]+",0,"",""\r$/m);
  const events = read("one", "events.csv").trimEnd().split("\r\n");
  t.equal(events.length, 3, "what bears on no control of this framework is left out");
  t.match(
    events[2],
    new RegExp(
      `^301,"[^"]+","job.submit","requested","usr-1","job","job-1","","${hashLeaf(leaves[301]!).toString("hex")}","Art-30"$`,
    ),
  );
  const results = JSON.parse(read("one", "assessment-results.json"))["assessment-results"];
  t.match(
    results.results[0].observations.find(({ title }: { title: string }) => title.startsWith("Records")),
    {
      props: [{ name: "entries", value: "2" }],
      "relevant-evidence": [{ href: "urn:audit:box.audit.acme/2026:300" }, { href: "urn:audit:box.audit.acme/2026:301" }],
    },
  );
  t.equal(statSync(join(root, "one")).mode & 0o007, 0);
  await run("gdpr", "two");
  const files = ["SHA256SUMS", "assessment-results.json", "controls.csv", "events.csv", "log.tar"];
  t.same(readdirSync(join(root, "one")).sort(), files);
  for (const file of files) t.equal(read("two", file), read("one", file), file);
  const sums = read("one", "SHA256SUMS");
  for (const file of files.slice(1))
    t.ok(
      sums.includes(
        `${createHash("sha256")
          .update(readFileSync(join(root, "one", file)))
          .digest("hex")}  ${file}\n`,
      ),
      file,
    );
  await t.rejects(run("gdpr", "one"), { code: "config_invalid", message: /there already/ });
  await t.rejects(run("iso", "three"), { message: /there is no framework iso/ });
  await t.rejects(run("constructor", "four"), { message: /there is no framework/ });
});

t.test("the verifier bears out the bundle of a pack", async (t) => {
  const root = temporaryFolder(t);
  const log = await new WrittenLog(root).open("2026");
  await log.append(keyLists(300));
  await writeEvidence(log.options, { framework: "soc2", controlsFile: CONTROLS, outFolder: join(root, "pack") });
  const { stdout } = spawnSync(process.execPath, [VERIFIER, join(root, "pack/log.tar"), "--policy", log.policyFile], {
    encoding: "utf8",
  });
  t.match(stdout, /INTEGRITY +PASS/);
  t.match(stdout, /SIGNATURE +PASS/);
});

t.test("a disk that becomes full leaves nothing of a pack", { skip: lacksMount }, async (t) => {
  const log = await new WrittenLog(temporaryFolder(t)).open("2026");
  await log.append(keyLists(1_000));
  const disk = new SmallDisk(t, 65_536);
  const request = { framework: "soc2", controlsFile: CONTROLS, outFolder: join(disk.folder, "pack") };
  await t.rejects(writeEvidence(log.options, request), { code: "ENOSPC" });
  t.same(readdirSync(disk.folder), []);
  disk.resize(16_777_216);
  await writeEvidence(log.options, request);
  t.same(readdirSync(disk.folder), ["pack"]);
});
