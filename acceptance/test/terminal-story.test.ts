/**
 * A researcher's shell on the installed appliance, in a real terminal of 80 columns: `resontech` is fetched from the appliance as a laptop
 * fetches it, and runs a job from submission to model. What each command shows is `cli/test/terminal-story.engines.test.ts`'s.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import t from "tap";
import { Terminal } from "../../cli/test/helper/terminal.ts";
import { LocalAppliance } from "../../dev/local-appliance.ts";
import { Workstation } from "../../dev/workstation.ts";

const COLUMNS = 80;
const root = process.env["RT_TEST_APPLIANCE"] ?? "";
if (!existsSync(join(root, "current")))
  throw new Error("npm test starts the appliance; run it through `npm test`");
const appliance = LocalAppliance.at(root);
const quickstart = appliance.quickstart();
const { RESON_BASE_URL: base = "", SSL_CERT_FILE: certificate = "" } = quickstart;

t.setTimeout(300_000);
const work = join(t.testdir(), "work");
mkdirSync(join(work, "bin"), { recursive: true });

t.test("submit, watch, logs and get, by the executable that the appliance gives out", async (t) => {
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
  const resontech = (...words: string[]) =>
    execFileSync(join(bin, "resontech"), words, {
      env: { HOME: work, ...quickstart },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });

  // A ready folder, as the public client renders the example.
  const workstation = await Workstation.open(appliance, work);
  await workstation.python(["/example/make_shards.py", "--out", "/work"]);
  const rendered = "rendered-for-a-shell";
  const { id: first } = await workstation.submit(() => undefined, ["--name", rendered, "--detach"]);
  resontech("jobs", "cancel", first);
  for (const part of ["shards", "scripts", "configs", "requirements"])
    for (const line of resontech("storage", "ls", `jobs/${rendered}/${part}`, "--json")
      .trim()
      .split("\n")) {
      const { key } = JSON.parse(line) as { key: string };
      const file = join(work, "shell-study", key.slice(`jobs/${rendered}/`.length));
      mkdirSync(dirname(file), { recursive: true });
      resontech("storage", "get", key, file);
    }

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
  t.match(watched.said.at(-1), /SUCCEEDED$/);
  t.equal((await ran("logs", `resontech jobs logs ${id} --of server --tail 200 >log`)).code, 0);
  t.ok(statSync(join(work, "log")).size > 0);
  const model = "jobs/shell-study/model_out/checkpoint.pt";
  t.equal((await ran("get", `resontech storage get ${model} model.pt`)).code, 0);
  t.ok(statSync(join(work, "model.pt")).size > 0);
});
