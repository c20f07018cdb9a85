/**
 * A researcher's shell on the installed appliance, in a real terminal of 80 columns: `resontech` is fetched from the appliance as a laptop
 * fetches it, and runs a job from submission to model. What each command shows is `cli/test/terminal-story.engines.test.ts`'s.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { Terminal } from "@resontech/house/terminal";
import { untilFound } from "@resontech/house/until-found";
import { LocalAppliance } from "@resontech/house/local-appliance";
import { readyFolder } from "./helper/ready-folder.ts";

const COLUMNS = 80;
const root = process.env["RT_TEST_APPLIANCE"] ?? "";
if (!existsSync(join(root, "current")))
  throw new Error("npm test starts the appliance; run it through `npm test`");
const appliance = LocalAppliance.at(root);
const quickstart = appliance.quickstart();
const { RESON_BASE_URL: base = "", SSL_CERT_FILE: certificate = "" } = quickstart;

t.setTimeout(600_000);
const work = join(t.testdir(), "work");
mkdirSync(join(work, "bin"), { recursive: true });

t.test(
  "submit, watch, logs, get and cancel, by the executable that the appliance gives out",
  async (t) => {
    const bin = join(work, "bin");
    for (const name of ["resontech", "resontech.sha256"])
      execFileSync(
        "curl",
        [
          ...["--silent", "--show-error", "--fail", "--cacert", certificate, "--remote-name"],
          `${base}/dashboard/downloads/${name}`,
        ],
        { cwd: bin },
      );
    execFileSync("sha256sum", ["-c", "resontech.sha256"], { cwd: bin });
    chmodSync(join(bin, "resontech"), 0o755);
    const study = join(work, "shell-study");
    await readyFolder(appliance, study);
    const server = join(study, "configs", "config_fed_server.json");
    const rounds = readFileSync(server, "utf8").replace(/("num_rounds": *)3/, "$11");
    t.match(rounds, /"num_rounds": *1\b/, "one round is enough for a shell");
    writeFileSync(server, rounds);

    using terminal = new Terminal(["bash", "--norc", "-i"], {
      ...{ PATH: `${bin}:/usr/bin:/bin`, HOME: work, PS1: "> " },
      ...quickstart,
    });
    await terminal.until(/^>/);
    terminal.enter(`cd ${work}`);
    const ran = async (mark: string, command: string) => {
      terminal.enter(`${command}; echo ${mark}''=$?`);
      const text = await terminal.until(new RegExp(`^${mark}=\\d+$`, "m"), { withinMs: 200_000 });
      const said = text
        .slice(text.lastIndexOf(`; echo ${mark}`))
        .split("\n")
        .slice(1);
      const end = said.findIndex((line) => line.startsWith(`${mark}=`));
      const lines = said.slice(0, end);
      t.same(
        lines.filter((line) => line.length > COLUMNS),
        [],
        `${mark}: the terminal breaks no line`,
      );
      return { said: lines, code: Number(said[end]?.slice(mark.length + 1)) };
    };

    const submitted = await ran("submit", "resontech submit shell-study --gpu-models cpu");
    t.equal(submitted.code, 0);
    const id = submitted.said.find((line) => line.startsWith("job-")) ?? "";
    const watched = await ran("watch", `resontech jobs watch ${id}`);
    t.equal(watched.code, 0);
    t.match(watched.said.at(-1), /finished$/);
    t.equal((await ran("logs", `resontech jobs logs ${id} --of server --tail 200 >log`)).code, 0);
    t.ok(statSync(join(work, "log")).size > 0);
    const model = "jobs/shell-study/model_out/checkpoint.pt";
    t.equal((await ran("get", `resontech storage get ${model} model.pt`)).code, 0);
    t.ok(statSync(join(work, "model.pt")).size > 0);

    // Through the S3 front, which takes a copy of the coordinator's by its signature alone; the log is verified by the upgrade.
    for (const words of ["one", "other"]) {
      writeFileSync(join(work, "notes"), words);
      t.equal((await ran(words, "resontech storage put notes notes/notes.txt")).code, 0);
    }
    const oldest = "resontech storage versions notes/notes.txt | awk 'END { print $1 }'";
    const restored = await ran("old", `resontech storage restore notes/notes.txt $(${oldest})`);
    t.equal(restored.code, 0, restored.said.join("\n"));
    t.equal((await ran("back", "resontech storage get notes/notes.txt notes.back")).code, 0);
    t.equal(readFileSync(join(work, "notes.back"), "utf8"), "one");

    const again = await ran("again", "resontech submit shell-study --name again --gpu-models cpu");
    const other = again.said.find((line) => line.startsWith("job-")) ?? "";
    t.equal((await ran("cancel", `resontech jobs cancel ${other}`)).code, 0);
    t.not((await ran("cancelled", `resontech jobs watch ${other}`)).code, 0);

    // Prometheus looks each 15 s.
    let looks = 0;
    const used = await untilFound("what its members used", async () => {
      const { said } = await ran(`use${++looks}`, `resontech jobs use ${id}`);
      return said.some((line) => line.startsWith("MEMBER")) && said;
    });
    for (const member of ["server", "site-1"])
      t.ok(
        used.some((line) => new RegExp(`^MEMBER +${member}$`).test(line)),
        member,
      );
    t.match(used.join("\n"), /^MEMORY MAX +\d+\.\d [KMG]iB$/m, "memory of a real container");
  },
);
