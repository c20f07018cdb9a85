/** Tab in a real bash and a real zsh, each in a real terminal, beside the real coordinator. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { shippedProgram } from "@resontech/house/shipped-program";
import { RunningCoordinator } from "@resontech/coordinator/testing/running-coordinator";
import {
  goodBody,
  goodFiles,
  upload,
  uploadPredictor,
} from "@resontech/coordinator/testing/workspace";
import { Terminal } from "@resontech/house/terminal";

t.setTimeout(600_000);
const running = await RunningCoordinator.create();
t.teardown(() => running[Symbol.asyncDispose]());
const dir = mkdtempSync(join(tmpdir(), "rt-tab-"));
t.teardown(() => rmSync(dir, { recursive: true, force: true }));
writeFileSync(join(dir, "ca.crt"), running.caPem);
const user = await running.control("add-user", { username: "ada" });
await upload(running.s3, user.bucketAlias, "digits", goodFiles());
const submitted = await running.request("POST", "/api/tasks", user.platformKey, goodBody("digits"));
const id = String(submitted.body["id"]);
await uploadPredictor(running.s3, user.bucketAlias, "echo");
const deployed = await running.request("POST", "/api/inference/jobs", user.platformKey, {
  ...{ name: "echo", jobPath: "/inference_jobs/echo", gpuModels: ["cpu"] },
});
const deployment = String(deployed.body["jobId"]);

mkdirSync(join(dir, "bin"));
const program = join(dir, "bin", "resontech");
writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${shippedProgram("resontech")} "$@"\n`);
chmodSync(program, 0o755);
writeFileSync(join(dir, "a file.zip"), "");
const env = {
  ...{ PATH: `${join(dir, "bin")}:/usr/bin:/bin`, HOME: dir, PS1: "> ", PROMPT: "> " },
  ...{ RESON_API_KEY: user.platformKey, RESON_BASE_URL: running.url },
  SSL_CERT_FILE: join(dir, "ca.crt"),
};
const LOAD = {
  bash: { start: ["bash", "--norc", "-i"], load: 'eval "$(resontech completion bash)"' },
  zsh: {
    start: ["zsh", "-f", "-i"],
    load: 'autoload -Uz compinit && compinit -u -D && eval "$(resontech completion zsh)"',
  },
} as const;

for (const shell of ["bash", "zsh"] as const)
  t.test(`${shell} completes commands, options, files and ids of jobs`, async (t) => {
    using terminal = new Terminal(LOAD[shell].start, { ...env, PWD: dir });
    const last = async (pattern: RegExp) => await terminal.until(pattern, { isLastLine: true });
    await last(/^>$/);
    terminal.enter(`cd ${dir}; ${LOAD[shell].load}; echo loa''ded`);
    await terminal.until(/^loaded$/m);
    // Clears the line: C-c is a signal, which may come after what is typed next.
    const line = async (typed: string, completed: RegExp) => {
      terminal.press("C-u");
      await last(/^>$/);
      terminal.type(typed);
      terminal.press("Tab");
      t.match(await last(completed), completed, typed);
    };
    await line("resontech sto", /> resontech storage$/);
    await line("resontech jobs resu", /> resontech jobs resubmit$/);
    await line("resontech jobs ls --sta", /> resontech jobs ls --state$/);
    await line("resontech jobs show --js", /> resontech jobs show --json$/);
    await line(`resontech jobs show ${id.slice(0, 8)}`, new RegExp(`> resontech jobs show ${id}$`));
    await line("resontech jobs watch digi", new RegExp(`> resontech jobs watch ${id}$`));
    // After an option's value the place is still the first.
    await line("resontech jobs logs --of site-1 digi", new RegExp(`site-1 ${id}$`));
    await line("resontech infer logs ech", new RegExp(`> resontech infer logs ${deployment}$`));
    await line("resontech infer rot", /> resontech infer rotate-key$/);
    await line("resontech storage put a", /storage put a\\ file\.zip$/);
    await line("resontech service-accounts create --scope sto", /--scope storage$/);
    terminal.press("C-u");
    await last(/^>$/);
    terminal.type("resontech jobs ");
    terminal.press("Tab", "Tab");
    // In rows or in columns, as many as the terminal has room for; zsh fills in the first one.
    const all = ["cancel", "compare", "files", "logs", "resubmit", "use", "watch"];
    const listed = all.map((command) => `(?=[^]*\\b${command}\\b)`).join("");
    await terminal.until(new RegExp(`> resontech jobs(?: cancel)? *\n${listed}`));
    t.pass("and lists what there is");
  });

t.test("a shell that can't ask, or waits, is told nothing", async (t) => {
  // Whoever presses Tab waits no longer: what never ends is ended with an error.
  const ids = (more: Record<string, string>) =>
    execFileSync(program, ["completion", "ids", "jobs", "--", ""], {
      env: { ...env, ...more },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
      timeout: 120_000,
    });
  t.match(ids({}), new RegExp(`^${id}\tdigits {2}[A-Z]+\n$`));
  t.equal(ids({ RESON_API_KEY: "rsk_dev_none" }), "");
  t.equal(ids({ RESON_API_KEY: "", XDG_CONFIG_HOME: join(dir, "none") }), "");
  t.equal(ids({ RESON_BASE_URL: "https://localhost:1" }), "");
  // Somebody who takes the connection and says nothing.
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  t.teardown(() => silent.close());
  await new Promise((resolve) => silent.once("listening", resolve));
  const { port } = silent.address() as { port: number };
  t.equal(ids({ RESON_BASE_URL: `http://127.0.0.1:${port}` }), "");
});
