import { spawnSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { csvLine } from "../../src/audit-out/evidence/csv.ts";
import { uuidV5 } from "../../src/audit-out/evidence/uuid-v5.ts";
import { hashLeaf } from "../../src/log/merkle.ts";
import { jobSubmit, temporaryFolder } from "../helper.ts";
import { keyLists, WrittenLog } from "./helper.ts";

const MAIN = join(import.meta.dirname, "../../src/audit-out/main.ts");
const CONTROLS = join(import.meta.dirname, "../../../policies/controls.json");
const notRoot = process.getuid?.() === 0 ? false : "the configuration must be root's";

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

t.test(
  "a pack counts what the log holds for each control, is the same for the same tree, and replaces nothing",
  { skip: notRoot },
  async (t) => {
    const root = temporaryFolder(t);
    const log = await new WrittenLog(root).open("2026");
    const leaves = await log.append([
      ...keyLists(300),
      { ...jobSubmit(), phase: "requested" },
      { ...jobSubmit(), phase: "requested" },
    ]);
    const configFile = join(root, "audit-out.json");
    const { auditDir, policyFile, stateDir } = log.options;
    const sockets = { auditSocket: join(root, "a.sock"), searchSocket: join(root, "s.sock") };
    writeFileSync(configFile, JSON.stringify({ auditDir, policyFile, stateDir, ...sockets }), { mode: 0o440 });
    const run = (framework: string, out: string) =>
      spawnSync(
        process.execPath,
        [MAIN, "evidence", framework, "--config", configFile, "--controls", CONTROLS, "--out", join(root, out)],
        { encoding: "utf8" },
      );
    t.match(run("gdpr", "one"), { status: 0, stderr: "" });
    const read = (out: string, file: string): string => readFileSync(join(root, out, file), "utf8");
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
    t.equal(run("gdpr", "two").status, 0);
    for (const file of ["controls.csv", "events.csv", "assessment-results.json"])
      t.equal(read("two", file), read("one", file), file);
    t.match(run("gdpr", "one"), { status: 1, stderr: /EEXIST/ });
    t.match(run("iso", "three"), { status: 1, stderr: /there is no framework iso/ });
    t.match(run("constructor", "four"), { status: 1, stderr: /there is no framework/ });
  },
);
