/** The `appliance` command: everything that an operator does on the box. Root alone. */
import { EXIT, EXIT_WORDS } from "@resontech/contracts/exit-codes";
import { applyRealm } from "@resontech/keycloak/apply-realm";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import Docker from "dockerode";
import { MAX_MAINTENANCE_S } from "@resontech/contracts/operator-appliance";
import { onClosedPipe } from "@resontech/cli/closed-pipe";
import { asTable } from "@resontech/cli/table";
import { HOST_COMMANDS } from "@resontech/parts/host-commands";
import { Command, CommanderError, InvalidArgumentError } from "commander";
import { declarationsOf, leaves } from "./audit/command-audit.ts";
import { connectOperator, operated } from "./audit/operator-record.ts";
import { askOperator, type OperatorShell, printedAnswer } from "./commands/ask-operator.ts";
import { hostShell } from "./commands/host-shell.ts";
import { askAuditd } from "./operator/ask-auditd.ts";
import {
  type CallsOptions,
  exportAudit,
  type EvidenceOptions,
  exportEvidence,
  exportModelCalls,
  printCheckpoint,
  proveEntry,
} from "./commands/audit-export.ts";
import { type DiscloseOptions, disclosureOf, withDisclosure } from "./commands/disclose-options.ts";
import { restartRecorded, startRecorded, stopRecorded } from "./commands/recorded-parts.ts";
import { addBackupCommands } from "./commands/backup-commands.ts";
import { addHostCommands } from "./commands/host-commands.ts";
import { addJobCommands } from "./commands/job-commands.ts";
import { addKeyCommands } from "./commands/key-commands.ts";
import { addNodeCommands } from "./commands/node-commands.ts";
import { addIdentityCommands } from "./commands/identity-commands.ts";
import { addOwnImageCommands } from "./commands/own-image-commands.ts";
import { addPolicyCommands } from "./commands/policy-commands.ts";
import { addProjectCommands } from "./commands/project-commands.ts";
import { addCalendarCommands } from "./commands/calendar-commands.ts";
import { addPoolCommands } from "./commands/pool-commands.ts";
import { addSchedulerCommands } from "./commands/scheduler-commands.ts";
import { addShareCommands } from "./commands/share-commands.ts";
import { addCertificateCommands } from "./commands/certificate-commands.ts";
import { addRenameCommand } from "./commands/rename-command.ts";
import { addSupportCommands } from "./commands/support-commands.ts";
import { addMetricsCommands } from "./commands/metrics-commands.ts";
import { addUserCommands } from "./commands/user-commands.ts";
import { addPrivacyCommands } from "./commands/privacy-commands.ts";
import type { ReleaseManifest } from "@resontech/contracts/release-manifest";
import { checkImages } from "./commands/check-images.ts";
import { readStatus, renderStatus } from "./status/status.ts";
import { showRoot } from "./commands/show-root.ts";
import {
  announceStop,
  duringPlannedStop,
  endStop,
  requireParts,
  startHeldParts,
  startParts,
  stopParts,
} from "./commands/planned-stop.ts";
import { MAX_TOKEN_S, tokenSeconds } from "./commands/token-seconds.ts";
import {
  addApprovalCommands,
  approved,
  proofOf,
  type ProofOptions,
} from "./commands/approval-commands.ts";
import { addConfigCommands } from "./commands/config-commands.ts";
import { collected } from "@resontech/frame/collected";
import { two } from "./commands/two-people.ts";
import { verifierDigests } from "./commands/verifier-digests.ts";
import { waitHealthy } from "./commands/wait-healthy.ts";
import { ensureFirstPeople, publishAuditPolicy } from "./first-boot/first-boot.ts";
import { applianceAdmin } from "./keycloak/appliance-admin.ts";
import { ownRealm } from "./keycloak/own-realm.ts";
import { replaceBootstrapAdmin } from "./keycloak/replace-bootstrap-admin.ts";
import { whileUnreachable } from "./keycloak/while-unreachable.ts";
import { takeAwayRemovals } from "./keycloak/take-away-removals.ts";
import { imageReference } from "./parts/context.ts";
import { pullImage } from "./parts/pull-image.ts";
import { prepare } from "./first-boot/prepare.ts";
import { Layout } from "@resontech/frame/layout";
import { versionOf } from "./release.ts";
import { openContext, startDetached, stopAndWait, supervise } from "./supervise.ts";
import { recordedUninstall } from "./commands/recorded-uninstall.ts";
import { runInstaller } from "./commands/run-installer.ts";

const STOP_TIMEOUT_MS = 180_000;
/** The part that callers meet first. */
const DOOR = "door";
const UNINSTALL_CONNECT_MS = 2_000;
/** First boot of Keycloak takes a minute of CPU and may take three on a slow host. */
const HEALTH_TIMEOUT_S = 300;

// The release lies at <root>/releases/<id>/app/appliance.mjs; from sources there is no default root.
const defaultRoot = resolve(join(import.meta.dirname, "..", "..", ".."));
type UpgradeFlags = { yes: boolean; dryRun: boolean; allowOlder: boolean };

const program = new Command("appliance")
  .description("Operates the sovereign appliance of this host.")
  .version(versionOf(defaultRoot), "--version", "the version of this release")
  .option("--root <dir>", "install root", defaultRoot)
  .exitOverride()
  .showHelpAfterError("(--help lists all commands)")
  .hook("preAction", () => {
    if (process.getuid?.() !== 0)
      program.error("appliance must be run as root: sudo appliance …", {
        exitCode: EXIT.failed,
        code: "not_root",
      });
  })
  .addHelpText(
    "after",
    `\nExamples:\n  appliance status\n  appliance audit export --out /media/usb/audit.tar\n  appliance restart coordinator\n  appliance stop --for 600\n  appliance key renew k_4f… --days 90\n  appliance logs coordinator -f\n\nExit codes: ${EXIT_WORDS}.`,
  );

const root = (): string => resolve(program.opts<{ root: string }>().root);
const auditControl = (): string => openContext(root()).layout.run("audit", "control", "sock");
const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};
const print = (value: unknown): void => {
  process.stdout.write(`${JSON.stringify(value)}\n`);
};

leaves(program.command("supervise"), {
  none: "each part that it starts says so itself: audit.producer.start, admin.coordinator.start",
})
  .description("run every part in the foreground (what the systemd unit starts)")
  .action(() => supervise(root()));

const shell: OperatorShell = {
  openContext: () => openContext(root()),
  ask: askOperator(() => openContext(root())),
  print,
  table: (head, rows, none) => {
    if (rows.length === 0) say(none);
    else process.stdout.write(asTable(head, rows, process.stdout.columns ?? null));
  },
  say: (line) => process.stdout.write(`${line}\n`),
};

const seconds = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > MAX_MAINTENANCE_S)
    throw new InvalidArgumentError(`seconds from 1 to ${MAX_MAINTENANCE_S} are meant`);
  return value;
};

leaves(program.command("start [part...]"), { event: "admin.start" })
  .description(
    "start everything, or the parts that were stopped by name, and wait until all is healthy",
  )
  .option("--no-wait", "do not wait for health")
  .option("--within <seconds>", "how long to wait for health", seconds, HEALTH_TIMEOUT_S)
  .action(async (parts: string[], options: { wait: boolean; within: number }) => {
    const context = openContext(root());
    if (parts.length === 0) {
      if (!(await startHeldParts(context))) await startDetached(root());
    } else {
      await requireParts(context, parts);
      await startRecorded(context, parts, (named) => startParts(context, named));
    }
    if (!options.wait) return;
    const limitMs = options.within * 1_000;
    await waitHealthy(context, limitMs, say, parts.length === 0 ? undefined : parts);
    // Whatever stop was announced is over.
    if (parts.length === 0 || parts.includes("coordinator")) await endStop(context);
  });

leaves(program.command("stop [part...]"), { event: "admin.stop" })
  .description(
    "stop everything in reverse order, or single parts, which stay down until they are started; waits",
  )
  .option(
    "--for <seconds>",
    `keep running jobs alive meanwhile, at most ${MAX_MAINTENANCE_S}; for single parts ${MAX_MAINTENANCE_S} unless said`,
    seconds,
  )
  .option("--keep-door", "the front door goes on, and tells callers when to come again", false)
  .action(async (parts: string[], options: { for?: number; keepDoor: boolean }) => {
    const context = openContext(root());
    if (parts.length > 0) await requireParts(context, parts);
    const forS = options.for ?? (parts.length === 0 ? 0 : MAX_MAINTENANCE_S);
    if (forS > 0) await announceStop(context, forS, say);
    if (parts.length > 0) {
      await stopRecorded(context, parts, (named) => stopParts(context, named, STOP_TIMEOUT_MS));
      say(`stopped: ${parts.join(", ")}`);
      return;
    }
    const kept = options.keepDoor ? [DOOR] : [];
    say((await stopAndWait(root(), STOP_TIMEOUT_MS, kept)) ? "stopped" : "it was not running");
  });

leaves(program.command("restart [part...]"), { event: "admin.restart" })
  .description("stop and start everything, or single parts; running jobs go on meanwhile")
  .action(async (parts: string[]) => {
    const context = openContext(root());
    if (parts.length === 0) return await restartAll();
    await requireParts(context, parts);
    await restartParts(parts);
  });

/** Single ones, while jobs go on. */
async function restartParts(parts: readonly string[]): Promise<void> {
  const context = openContext(root());
  await duringPlannedStop(context, MAX_MAINTENANCE_S, say, async () => {
    await restartRecorded(context, parts, async (named) => {
      await stopParts(context, named, STOP_TIMEOUT_MS);
      await startParts(context, named);
    });
    await waitHealthy(openContext(root()), HEALTH_TIMEOUT_S * 1_000, say, parts);
  });
}

/** Everything, while jobs go on. */
async function restartAll(): Promise<void> {
  await duringPlannedStop(openContext(root()), MAX_MAINTENANCE_S, say, async () => {
    await stopAndWait(root(), STOP_TIMEOUT_MS, [DOOR]);
    await startDetached(root());
    await waitHealthy(openContext(root()), HEALTH_TIMEOUT_S * 1_000, say);
  });
}

leaves(program.command("status"), { none: "status" })
  .description("each part with health, version, port, process and restarts")
  .option("--json", "one JSON line", false)
  .action(async (options: { json: boolean }) => {
    const status = await readStatus(openContext(root()));
    if (options.json) print(status);
    else process.stdout.write(renderStatus(status));
    if (!status.healthy || status.findings.some(({ severity }) => severity === "fault"))
      process.exitCode = EXIT.notAsWanted;
  });

leaves(program.command("take-away-removals"), {
  none: "a step of a return, whose end is recorded: admin.install",
})
  .description(
    "take from the kept database of an earlier release what people lost since; a step of a rollback",
  )
  .action(() => takeAwayRemovals(openContext(root())));

leaves(program.command("first-boot"), { event: "admin.install" })
  .description(
    "replace Keycloak's temporary administrator, make the first user and its credentials file; what is there stays",
  )
  .requiredOption("--username <name>", "login of the first user")
  .action(async (options: { username: string }) => {
    const context = openContext(root());
    await using producer = await connectOperator(context.layout);
    const install = {
      type: "admin.install",
      action: "appliance first-boot",
      object: { kind: "appliance", id: "appliance" },
    } as const;
    await operated(producer, [install], async () => {
      await whileUnreachable(async () => {
        await replaceBootstrapAdmin(context);
        await applyRealm(await applianceAdmin(context), ownRealm(context));
      });
      const credentials = await ensureFirstPeople(context, options.username);
      print({ credentials, auditPolicy: publishAuditPolicy(context) });
      return { result: null };
    });
  });

leaves(program.command("add-user <username>"), {
  event: "iam.user.create",
  loggedBy: "coordinator",
})
  .description(
    "make a user with default project, bucket, S3 key pair and one platform key; each secret is shown once",
  )
  .option(
    "--auditor",
    "make an auditor instead: no project, no bucket, no key pair and no platform key",
    false,
  )
  .action(async (username: string, { auditor }: { auditor: boolean }) => {
    if (!auditor)
      return print(printedAnswer("add-user", await shell.ask("add-user", { username })));
    const duty = "compliance-auditor";
    print(printedAnswer("add-person", await shell.ask("add-person", { username, duty })));
  });

leaves(program.command("site-files <username> <on|off>"), {
  event: "admin.control",
  loggedBy: "coordinator",
})
  .description(
    "whether files that a user's jobs write at their sites come back; off unless said otherwise",
  )
  .action(async (username: string, word: string) => {
    if (word !== "on" && word !== "off")
      return program.error(`site-files takes on or off, not ${JSON.stringify(word)}`, {
        exitCode: EXIT.usage,
      });
    const set = await shell.ask("site-files", { username, allowed: word === "on" });
    print(printedAnswer("site-files", set));
  });
leaves(program.command("join-token <node>"), {
  event: "iam.node.join-token",
  loggedBy: "coordinator",
})
  .description("a one-use token that admits a node")
  .option("--ttl <seconds>", `validity, 1 to ${MAX_TOKEN_S}`, tokenSeconds, 3600)
  .action(async (node: string, options: { ttl: number }) => {
    const made = await shell.ask("join-token", { node, ttlS: options.ttl });
    print(printedAnswer("join-token", made));
  });

const image = program
  .command("image")
  .description("images in the local registry: those of the release, and your own");
const repositoryOf = ({ images }: ReleaseManifest, name: string): string => {
  const found = images.find(
    ({ profile, repository }) => profile === name || repository === name,
  )?.repository;
  if (found !== undefined) return found;
  const known = images.map(({ profile, repository }) => profile ?? repository).join(", ");
  return program.error(`the release has no image ${name}; it has ${known}`, {
    exitCode: EXIT.usage,
  });
};
leaves(image.command("pull <profile>"), { event: "admin.control", loggedBy: "coordinator" })
  .description(
    "pull an image of the release into the appliance's container engine; prints its reference",
  )
  .action(async (profile: string) => {
    const context = openContext(root());
    const { config, layout, release } = context;
    const repository = repositoryOf(release, profile);
    const engine = new Docker({
      socketPath:
        config.containerEngine.kind === "podman"
          ? layout.podmanSocket
          : config.containerEngine.socket,
    });
    const reference = imageReference(context, repository);
    await pullImage(engine, reference, () => shell.ask("registry-login", { repository }));
    process.stdout.write(`${reference}\n`);
  });
leaves(image.command("login <name>"), { event: "admin.control", loggedBy: "coordinator" })
  .description(
    "user name and password to pull an image of the release with any OCI client; the issue and each use are logged",
  )
  .option("--for <minutes>", "how long they are good, from 1 to 1440", "60")
  .action(async (profile: string, options: { for: string }) => {
    const context = openContext(root());
    const repository = repositoryOf(context.release, profile);
    const minutes = /^\d{1,4}$/.test(options.for) ? Number(options.for) : 0;
    if (minutes < 1 || minutes > 1440)
      return program.error("--for takes whole minutes from 1 to 1440", { exitCode: EXIT.usage });
    const { username, password } = await shell.ask("registry-login", {
      repository,
      forS: minutes * 60,
    });
    print({
      image: imageReference(context, repository),
      username,
      password,
      minutes,
      ca: context.layout.trustCert,
    });
  });
leaves(image.command("check"), { event: "admin.control", loggedBy: "coordinator" })
  .description(
    "ask the running registry for every image of the release; prints what it does not serve",
  )
  .action(async () => {
    const checked = await checkImages(openContext(root()));
    print(checked);
    if (checked.unserved.length > 0) process.exitCode = EXIT.notAsWanted;
  });

addOwnImageCommands(image, shell);

const audit = program.command("audit").description("the audit log");
withDisclosure(leaves(audit.command("export"), { event: "audit.export" }))
  .description("write the log as one file for the offline verifier; the export is itself logged")
  .requiredOption("--out <file>", "ustar file to write")
  .option("--shard <slug>", "an earlier shard, like 2026; the one that is written unless said")
  .option(
    "--nonce <hex>",
    "the auditor's 32 bytes: shows that the export is no older than they are",
  )
  .action(async (options: { out: string; shard?: string; nonce?: string } & DiscloseOptions) => {
    const { out, shard, nonce } = options;
    const disclosure = await disclosureOf(audit, shell.ask, options);
    print(
      await exportAudit(openContext(root()), out, {
        ...(shard === undefined ? {} : { shard }),
        ...(nonce === undefined ? {} : { nonce }),
        ...(disclosure === null ? {} : { disclosure }),
      }),
    );
  });
leaves(audit.command("evidence <framework>"), { event: "audit.export" })
  .description(
    "write what the log holds for hipaa, soc2, gdpr, dora or ai-act: operations in tables, OSCAL, a report, and the log itself to prove them with; logged as an export",
  )
  .requiredOption("--out <folder>", "folder that is made")
  .option("--shard <slug>", "an earlier shard, like 2026; the one that is written unless said")
  .option(
    "--from <time>",
    "operations that were asked for from then on, in all shards: 2026-11-28, 2026-11-28T14:00Z, 30d",
  )
  .option("--to <time>", "until then; a day counts whole")
  .option(
    "--nonce <hex>",
    "the auditor's 32 bytes, by which a sample is drawn; the appliance draws them unless said, and could choose them",
  )
  .option("--sample <count>", "entries that are drawn of each shard, 1 to 500", "25")
  .addHelpText(
    "after",
    "\nExamples:\n  appliance audit evidence hipaa --out /media/usb/hipaa\n  appliance audit evidence soc2 --from 2026-10-01 --to 2027-03-31 --out /media/usb/soc2\n\nExit codes: 0 written, 1 not written, 2 wrong usage.",
  )
  .action(async (framework: string, options: { out: string } & EvidenceOptions) => {
    const { out, ...which } = options;
    print(await exportEvidence(openContext(root()), framework, out, which));
  });
leaves(audit.command("calls"), { event: "audit.export" })
  .description(
    "write the journal of model calls as JSON, a line each, with the proof that each stands in the log: for the offline verifier and its --calls; logged as an export",
  )
  .requiredOption("--out <file>", "file to write")
  .option("--from <time>", "calls on record from then on: 2026-11-28, 2026-11-28T14:00Z, 30d")
  .option("--to <time>", "until then; a day counts whole")
  .option("--deployment <id>", "calls of one deployment alone")
  .option("--shard <slug>", "an earlier shard, like 2026; the one that is written unless said")
  .addHelpText(
    "after",
    "\nTake the export of the log behind it: appliance audit export --out FILE\n\nExamples:\n  appliance audit calls --out /media/usb/calls.jsonl\n  appliance audit calls --from 2026-11-01 --to 2026-11-30 --deployment job-7f3a --out /media/usb/calls.jsonl\n\nExit codes: 0 written, 1 not written, 2 wrong usage, 3 written, but lines of the journal are not those of the log.",
  )
  .action(async (options: { out: string } & CallsOptions) => {
    const { out, ...which } = options;
    const exported = await exportModelCalls(openContext(root()), out, which);
    print(exported);
    if (exported.firstDamaged !== null) process.exitCode = EXIT.notAsWanted;
  });
leaves(audit.command("prove <entry>"), { event: "audit.read" })
  .description(
    "write the proof of one entry, by its number, for the offline verifier; reading it is itself logged",
  )
  .requiredOption("--out <file>", "tlog-proof file to write")
  .option("--shard <slug>", "an earlier shard, like 2026; the one that is written unless said")
  .action(async (entry: string, options: { out: string; shard?: string }) => {
    print(await proveEntry(openContext(root()), Number(entry), options.out, options.shard));
  });

leaves(audit.command("checkpoint"), {
  none: "a checkpoint says nothing of any entry, and is meant to be handed out",
})
  .description(
    "show the newest checkpoint with its QR code, to be kept on paper as an anchor; audit-out writes one a day",
  )
  .option("--out <file>", "write it as an HTML page to print")
  .action(async (options: { out?: string }) => {
    const shown = await printCheckpoint(openContext(root()), options.out);
    if (typeof shown === "string") process.stdout.write(shown);
    else print(shown);
  });
leaves(audit.command("verifier"), {
  none: "the verifier is a part of the release and says nothing of the log",
})
  .description(
    "show the SHA-256 of the release's copies of the offline verifier, to compare with the vendor's",
  )
  .action(() => print(verifierDigests(openContext(root()).layout)));
leaves(audit.command("status"), { none: "status" })
  .description("how the log stands: its shard, size, last checkpoint")
  .action(async () => print(await askAuditd(auditControl(), { verb: "status" })));
leaves(audit.command("open-shard"), { event: "audit.shard.open", loggedBy: "auditd" })
  .description(
    "go on in a new shard after the log was put back to an older state; two people must agree, and both are named in it, unproven: nobody can sign in meanwhile",
  )
  .option("--approver <id>", "one of the two, given twice", collected, [])
  .action(async (options: { approver: string[] }) => {
    print(
      await askAuditd(auditControl(), {
        verb: "open-shard",
        approvers: two(program, options.approver),
      }),
    );
  });
approved(leaves(audit.command("set-policy <file>"), { event: "audit.policy", loggedBy: "auditd" }))
  .description(
    "let other witnesses countersign: the whole trust policy, the log's own lines as they are; by the signatures of two people, which auditd checks",
  )
  .action(async (file: string, options: ProofOptions) => {
    const context = openContext(root());
    const policy = readFileSync(file, "utf8");
    const approval = await proofOf(shell.ask, options);
    await askAuditd(auditControl(), { verb: "set-policy", policy, approval });
    print(publishAuditPolicy(context));
  });
leaves(audit.command("clock-is-right"), { event: "audit.clock.vouched", loggedBy: "auditd" })
  .description(
    "vouch for the clock until it is set, so that the log may turn to the new year and retention may end what is over; for hosts without time synchronization",
  )
  .action(async () => print(await askAuditd(auditControl(), { verb: "clock-is-right" })));

addKeyCommands(program, shell);
addUserCommands(program, shell);
addProjectCommands(program, shell);
addShareCommands(program, shell);
addPoolCommands(program, shell);
addCalendarCommands(program, shell);
addIdentityCommands(program, shell);
addJobCommands(program, shell);
addSchedulerCommands(program, shell);
addNodeCommands(program, shell);
addPolicyCommands(program, shell);
addHostCommands(program, shell);
addMetricsCommands(program, shell);
addConfigCommands(program, shell, restartParts);
addSupportCommands(program, shell);
addRenameCommand(program, shell);
addCertificateCommands(program, shell, { restart: restartAll, tell: say });
for (const add of HOST_COMMANDS) add(program, hostShell(shell));
addPrivacyCommands(program, shell);
addApprovalCommands(program, shell);
addBackupCommands(program, shell, {
  root,
  stop: async () => void (await stopAndWait(root(), STOP_TIMEOUT_MS)),
  start: async () => {
    await startDetached(root());
    await waitHealthy(openContext(root()), HEALTH_TIMEOUT_S * 1_000, say, ["auditd"]);
  },
});

leaves(
  program.command("ca").description("the appliance's own certificate authority").command("show"),
  {
    none: "the certificate is public",
  },
)
  .description("the root certificate that clients must trust: its file, fingerprint and life")
  .option("--json", "one JSON line", false)
  .option("--pem", "the certificate itself, for a file of a client", false)
  .action((options: { json: boolean; pem: boolean }) => {
    const { rootCert } = openContext(root()).layout;
    const shown = showRoot(rootCert);
    if (options.pem) process.stdout.write(readFileSync(rootCert, "utf8"));
    else if (options.json) print(shown);
    else
      for (const [name, value] of Object.entries(shown))
        process.stdout.write(`${name.padEnd(12)} ${value}\n`);
  });

leaves(program.command("prepare"), {
  none: "what each start does before auditd runs; it makes only what is missing",
})
  .description(
    "make folders, certificates, secrets and configuration as each start does; what is there stays",
  )
  .action(() => prepare(openContext(root())));

leaves(program.command("resume"), {
  none: "goes on with an install whose end is recorded: admin.install",
})
  .description("go on with an install that was broken off")
  .action(async () => {
    process.exitCode = await runInstaller(new Layout(root(), "-"), ["resume", "--root", root()]);
  });

leaves(program.command("upgrade <medium>"), {
  none: "the newer release records that it is installed: admin.install",
})
  .description("bring the newer release of a bundle folder; what install.sh of the bundle does")
  .option("--yes", "do not ask", false)
  .option("--dry-run", "verify and show the plan, change nothing", false)
  .option(
    "--allow-older",
    "install a release that is older than the installed one, or was not made to follow it",
    false,
  )
  .action(async (medium: string, flags: UpgradeFlags) => {
    const args = ["upgrade", resolve(medium), "--root", root()];
    if (flags.yes) args.push("--yes");
    if (flags.dryRun) args.push("--dry-run");
    if (flags.allowOlder) args.push("--allow-older");
    process.exitCode = await runInstaller(new Layout(root(), "-"), args);
  });

leaves(program.command("rollback"), {
  none: "the release that comes back records that it is installed: admin.install",
})
  .description("return to the release that ran before the last upgrade, from what is kept here")
  .option("--yes", "do not ask", false)
  .action(async ({ yes }: { yes: boolean }) => {
    const args = ["rollback", "--root", root(), ...(yes ? ["--yes"] : [])];
    process.exitCode = await runInstaller(new Layout(root(), "-"), args);
  });

leaves(program.command("uninstall"), { event: "admin.uninstall" })
  .description(
    "stop and remove everything that the install made, all data and the audit log included",
  )
  .option("--yes", "do not ask", false)
  .action(async ({ yes }: { yes: boolean }) => {
    const args = ["uninstall", "--root", root(), ...(yes ? ["--yes"] : [])];
    process.exitCode = await recordedUninstall(
      async () => {
        try {
          return await connectOperator(openContext(root()).layout, UNINSTALL_CONNECT_MS);
        } catch {
          // A configuration that can't be read is no reason to keep it.
          return null;
        }
      },
      () => runInstaller(new Layout(root(), "-"), args),
      say,
    );
  });

// What was begun goes on to its end, whoever listens.
onClosedPipe(() => {});

try {
  declarationsOf(program);
  await program.parseAsync();
} catch (error) {
  process.exitCode = explain(error);
}

function explain(error: unknown): number {
  // An argument that only its action could judge: wrong usage as well.
  if (error instanceof InvalidArgumentError) {
    say(`appliance: ${error.message}`);
    return EXIT.usage;
  }
  // Commander has said it already.
  if (error instanceof CommanderError)
    return error.exitCode === 0 ? EXIT.done : error.code === "not_root" ? EXIT.failed : EXIT.usage;
  const code = error instanceof Error && "code" in error ? `${String(error.code)}: ` : "";
  const hint =
    error instanceof Error && "hint" in error ? `\n  what to do: ${String(error.hint)}` : "";
  say(`appliance: ${code}${error instanceof Error ? error.message : String(error)}${hint}`);
  return EXIT.failed;
}
