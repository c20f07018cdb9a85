/** Verify, preflight, plan, then journaled steps. Nothing on the host changes before the plan was shown and agreed to. */
import { mkdirSync, readFileSync, readlinkSync, renameSync, rmSync, statSync, symlinkSync, existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { verifyBundle, type VerifiedBundle } from "@resontech/airgap/verify-bundle";
import { ROOT, writeOwned } from "@resontech/appliance/owned-file";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { ApplianceConfig as ApplianceConfigSchema } from "@resontech/contracts/appliance-config";
import { linkRelease } from "@resontech/registry-mirror/link-release";
import { Value } from "typebox/value";
import { Journal } from "./journal.ts";
import { digestOf, type InstallFlags, toConfig } from "./options.ts";
import { check, type Finding } from "./preflight/checks.ts";
import { readHostFacts } from "./preflight/host-facts.ts";
import { progressBar, say } from "./say.ts";
import { applianceCommand } from "./steps/appliance-command.ts";
import { importBlobs, stageTree } from "./steps/import-blobs.ts";
import { hasSystemd, installUnit, unitFile } from "./steps/systemd-unit.ts";

/** The host is not ready; each finding was shown with its remedy. */
export class PreflightFailedError extends Error {
  readonly code = "preflight_failed";
}

type Step = { name: string; title: string; run: () => Promise<void> };

export async function install(flags: InstallFlags): Promise<void> {
  const startedAt = Date.now();
  const root = resolve(flags.root);
  const config = toConfig(flags);
  const wrong = Value.Errors(ApplianceConfigSchema, config)[0];
  if (wrong !== undefined) throw new Error(`option ${wrong.instancePath.slice(1).replaceAll("/", " ")}: ${wrong.message}`);

  const release = await verifyOnce(flags, root);
  const releaseDir = join(root, "releases", `${release.release.version}-${release.releaseSha256.slice(0, 12)}`);
  const journal = new Journal(root);
  const steps = planSteps({ root, flags, config, bundle: release, releaseDir, journal });
  const done = isSameRun(journal, release.releaseSha256, config) ? journal.doneSteps : new Set<string>();
  const isComplete = steps.every((step) => done.has(step.name));

  if (!isComplete) await runPreflight(root, config, release, done.size === 0 && !existsSync(join(root, "current")));
  showPlan(steps, done, root, release);
  if (flags.dryRun) return;
  if (!isComplete && !flags.yes) await askToGoOn();

  if (!isSameRun(journal, release.releaseSha256, config)) {
    mkdirSync(root, { recursive: true, mode: 0o755 });
    journal.append({
      kind: "begin",
      release: release.releaseSha256,
      configuration: digestOf(config),
      at: new Date().toISOString(),
    });
  }
  for (const step of steps) {
    // Starting and its health are never taken from the journal: a host may have been restarted since.
    const always = step.name === "start";
    if (done.has(step.name) && !always) continue;
    const from = Date.now();
    say(step.title);
    journal.append({ kind: "step", step: step.name, state: "started", at: new Date().toISOString() });
    await step.run();
    journal.append({ kind: "step", step: step.name, state: "done", at: new Date().toISOString() });
    say(`  ${((Date.now() - from) / 1000).toFixed(1)} s`);
  }
  say(`installed ${release.release.version} below ${root} in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);
  say(`  status: ${join(root, "current/bin/appliance")} --root ${root} status`);
}

/** A bundle that was verified and whose every blob is in the store is not read again: a second run on it takes seconds. */
async function verifyOnce(flags: InstallFlags, root: string): Promise<VerifiedBundle> {
  const bundle = resolve(flags.bundle);
  say(`verifying ${bundle}`);
  const bar = progressBar("verified");
  const verified = await verifyBundle(bundle, { publicKeyPem: readFileSync(flags.key, "utf8"), onProgress: bar });
  say(
    `  release ${verified.release.version}, ${verified.release.blobs.length} blobs, ${(verified.bytes / 1e6).toFixed(0)} MB: signatures and every byte are right (${root})`,
  );
  return verified;
}

function isSameRun(journal: Journal, release: string, config: ApplianceConfig): boolean {
  const begin = journal.lastBegin;
  return begin !== null && begin.release === release && begin.configuration === digestOf(config);
}

async function runPreflight(
  root: string,
  config: ApplianceConfig,
  { release }: VerifiedBundle,
  checkPorts: boolean,
): Promise<void> {
  const facts = await readHostFacts(root, config);
  const findings = check(facts, {
    root,
    name: config.name,
    address: config.address,
    engine: config.containerEngine.kind,
    neededBytes: release.diskNeedBytes,
    checkPorts,
  });
  const failed = findings.filter((finding) => !finding.ok);
  say(`preflight: ${findings.length - failed.length} of ${findings.length} checks passed`);
  for (const finding of failed) say(`  ${describeFinding(finding)}`);
  if (failed.some((finding) => finding.severity === "error"))
    throw new PreflightFailedError("the host is not ready; nothing was changed");
}

function describeFinding({ id, severity, found, remedy }: Finding): string {
  return `${severity === "error" ? "✗" : "!"} ${id}: ${found}\n      what to do: ${remedy}`;
}

function showPlan(steps: readonly Step[], done: ReadonlySet<string>, root: string, { release }: VerifiedBundle): void {
  say(`plan: ${release.version} → ${root}`);
  for (const [index, step] of steps.entries())
    say(`  ${index === steps.length - 1 ? "└" : "├"}─ ${step.title}${done.has(step.name) ? " (done)" : ""}`);
}

async function askToGoOn(): Promise<void> {
  if (!process.stdin.isTTY) throw new Error("this would change the host: add --yes to agree, or --dry-run to look");
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await prompt.question("go on? [y/N] ");
  prompt.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error("not agreed to; nothing was changed");
}

function planSteps(context: {
  root: string;
  flags: InstallFlags;
  config: ApplianceConfig;
  bundle: VerifiedBundle;
  releaseDir: string;
  journal: Journal;
}): Step[] {
  const { root, flags, config, bundle, releaseDir, journal } = context;
  const store = join(root, "blobs", "sha256");
  const own = (what: "unit" | "folder", path: string): void =>
    journal.append({ kind: "owns", what, path, at: new Date().toISOString() });
  const steps: Step[] = [
    {
      name: "import",
      title: `import ${(bundle.bytes / 1e6).toFixed(0)} MB into the store of blobs`,
      run: async () => {
        const bar = progressBar("stored");
        await importBlobs(bundle.release, bundle.directory, store, bar);
      },
    },
    {
      name: "stage",
      title: `stage the release tree ${releaseDir}`,
      run: async () => stageTree(bundle.release, store, releaseDir, JSON.stringify(bundle.release)),
    },
    {
      name: "registry",
      title: "link the images into the local registry (no second copy)",
      run: async () => {
        linkRelease(bundle.release, store, join(root, "data", "registry"));
      },
    },
    {
      name: "configure",
      title: "write the configuration",
      run: async () => {
        mkdirSync(join(root, "etc"), { recursive: true, mode: 0o755 });
        writeOwned(join(root, "etc", "appliance.json"), `${JSON.stringify(config, null, 2)}\n`, ROOT, 0o644);
      },
    },
    {
      name: "switch",
      title: "make this release the current one",
      run: async () => {
        // Parts of an older release must not run on files of this one. An upgrade that lengthens leases first comes with its own issue.
        if (existsSync(join(root, "current")) && readlinkSync(join(root, "current")) !== releaseDir)
          await applianceCommand(root, ["stop"]);
        switchTo(root, releaseDir);
      },
    },
  ];
  if (hasSystemd()) {
    steps.push({
      name: "unit",
      title: `install the systemd unit ${unitFile(config.instance)}`,
      run: async () => {
        own("unit", config.instance);
        installUnit(root, config.instance);
      },
    });
  }
  steps.push(
    {
      name: "start",
      title: "start every part and wait for its health",
      run: async () => {
        own("folder", join("/run/resontech", config.instance));
        await applianceCommand(root, ["start"]);
      },
    },
    {
      name: "first-boot",
      title: "make the first user, project and bucket; write data/credentials.txt",
      run: async () => {
        const answer = JSON.parse(await applianceCommand(root, ["first-boot", "--username", flags.username])) as {
          credentials: string;
          auditPolicy: { file: string; sha256: string };
        };
        say(`  credentials: ${answer.credentials} (0600)`);
        say(`  audit policy: ${answer.auditPolicy.file}`);
        say(`  its SHA-256, to be kept on paper by the auditor: ${answer.auditPolicy.sha256}`);
      },
    },
  );
  return steps;
}

function switchTo(root: string, releaseDir: string): void {
  const current = join(root, "current");
  if (existsSync(current) && statSync(current).isDirectory() && readlinkSync(current) === releaseDir) return;
  const beside = `${current}.part`;
  rmSync(beside, { force: true });
  symlinkSync(releaseDir, beside);
  renameSync(beside, current);
}
