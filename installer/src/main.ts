/** The installer: run by install.sh from a verified medium, and by the `appliance` command for `resume` and `uninstall`. */
import { EXIT } from "@resontech/contracts/exit-codes";
import { isFullDisk } from "@resontech/frame/durable-file";
import { onClosedPipe } from "@resontech/cli/closed-pipe";
import { resolve } from "node:path";
import { Command, CommanderError } from "commander";
import { install } from "./install.ts";
import {
  addInstallOptions,
  applyAnswers,
  applyInstalled,
  DEFAULT_ROOT,
  type InstallFlags,
  OptionInvalidError,
  toRequest,
  ALLOW_OLDER,
} from "./options.ts";
import { Journal } from "./journal.ts";
import { READY_WITHIN_MS } from "./node/await-ready.ts";
import { joinNode } from "./node/join.ts";
import { addJoinOptions, type JoinFlags, toJoinRequest } from "./node/join-options.ts";
import { evaluateInstalled } from "./preflight/evaluate-installed.ts";
import { leave } from "./node/leave.ts";
import { DEFAULT_NODE_ROOT } from "./node-root.ts";
import { showJoined } from "./node/show-joined.ts";
import { reconcileUpgrade, upgradeNode } from "./node/upgrade-node.ts";
import { rename } from "./rename/rename.ts";
import { resume } from "./resume.ts";
import { rollback } from "./upgrade/rollback.ts";
import { upgrade } from "./upgrade/upgrade.ts";
import { settle } from "./upgrade/settle.ts";
import { say } from "./say.ts";
import { uninstall } from "./uninstall.ts";

// What is installed must be readable by the users that run it, whatever the caller's mask is.
process.umask(0o022);

const program = new Command("install.sh")
  .description("Installs and removes the sovereign appliance, from a bundle alone.")
  .exitOverride()
  .showHelpAfterError("(--help lists all options)")
  .addHelpText(
    "after",
    "\nExit codes: 0 done, 1 failed (run it again to go on), 2 wrong usage, 3 the bundle was refused, 4 the node joined without a good worker.",
  );

addInstallOptions(program.command("install").description("verify, show the plan, install"))
  .hook("preAction", (command) => {
    applyAnswers(command);
    applyInstalled(
      command,
      new Journal(resolve(command.opts<InstallFlags>().root)).lastBegin?.request ?? null,
    );
  })
  .addHelpText(
    "after",
    "\nExamples:\n  sh install.sh --name gpu.hospital.example --address 10.1.2.3 --customer hospital\n  sh install.sh --answers site.json --yes\n  sh install.sh --dry-run\n  sh install.sh resume\n  sh install.sh uninstall --root /opt/resontech",
  )
  .action((flags: InstallFlags) => install(toRequest(flags), flags));

program
  .command("resume")
  .description(
    "go on with an install that was broken off, from the same bundle with the same choices",
  )
  .option("--root <dir>", "install root", DEFAULT_ROOT)
  .option("--bundle <dir>", "the bundle folder, when it lies elsewhere by now")
  .action((options: { root: string; bundle?: string }) =>
    resume(resolve(options.root), options.bundle),
  );

program
  .command("rollback")
  .description("return to the release that ran before the last upgrade, from what is kept here")
  .option("--root <dir>", "install root", DEFAULT_ROOT)
  .option("--yes", "do not ask", false)
  .action((options: { root: string; yes: boolean }) => rollback(resolve(options.root), options));

program
  .command("upgrade <medium>")
  .description(
    "bring the newer release of a bundle folder, once the installed key has vouched for it",
  )
  .option("--root <dir>", "install root", DEFAULT_ROOT)
  .option("--yes", "do not ask", false)
  .option("--dry-run", "verify and show the plan, change nothing", false)
  .option("--allow-older", ALLOW_OLDER, false)
  .action(
    async (
      medium: string,
      options: { root: string; yes: boolean; dryRun: boolean; allowOlder: boolean },
    ) => {
      process.exitCode = await upgrade(resolve(options.root), medium, options);
    },
  );

program
  .command("rename <name>")
  .description("give the installed appliance another name (`appliance rename` runs this)")
  .option("--root <dir>", "install root", DEFAULT_ROOT)
  .option("--address <ip>", "another address of this host")
  .option("--yes", "do not ask", false)
  .option("--dry-run", "say what it costs and look at the host, change nothing", false)
  .action(
    (name: string, options: { root: string; address?: string; yes: boolean; dryRun: boolean }) =>
      rename(resolve(options.root), { name, address: options.address }, options),
  );

program
  .command("settle")
  .description("end a switch between releases that a power cut broke off (each start runs this)")
  .option("--root <dir>", "install root", DEFAULT_ROOT)
  .option("--driver", "this is the installer of the release that began the switch", false)
  .action((options: { root: string; driver: boolean }) =>
    settle(resolve(options.root), options.driver),
  );

program
  .command("preflight")
  .description("look at the host as an install does, and print what was found as JSON")
  .option("--root <dir>", "install root", DEFAULT_ROOT)
  .action(async (options: { root: string }) => {
    process.stdout.write(`${JSON.stringify(await evaluateInstalled(resolve(options.root)))}\n`);
  });

program
  .command("uninstall")
  .description(
    "stop and remove everything that the install made, all data and the audit log included",
  )
  .option("--root <dir>", "install root", DEFAULT_ROOT)
  .option("--yes", "do not ask", false)
  .action((options: { root: string; yes: boolean }) => uninstall(resolve(options.root), options));

addJoinOptions(
  program
    .command("join")
    .description("make this host a node of an appliance (join-node.sh runs this)"),
).action(async (flags: JoinFlags) => {
  const joined = await joinNode(await toJoinRequest(flags), flags.dryRun);
  if (joined === null) return;
  if (flags.json) process.stdout.write(`${JSON.stringify(joined)}\n`);
  else showJoined(joined);
  if (!joined.workers.some(({ isGood }) => isGood)) process.exitCode = EXIT.noGoodWorker;
});

program
  .command("upgrade-node")
  .description(
    "bring this node the release of its appliance, and back where it is not answered (its agent runs this)",
  )
  .option("--root <dir>", "install root", DEFAULT_NODE_ROOT)
  .option("--order <id>", "the appliance's order: it is carried out once")
  .option("--release <name>", "the release that is meant")
  .option("--source <url|dir>", "where its files are (default: the node's appliance)")
  .option(
    "--wait <seconds>",
    "how long the appliance may take to answer",
    String(READY_WITHIN_MS / 1_000),
  )
  .option("--settle", "end what an earlier run left open, once nobody else is at it", false)
  .action(
    async (options: {
      root: string;
      order?: string;
      release?: string;
      source?: string;
      wait: string;
      settle: boolean;
    }) => {
      const { order, release, source = null } = options;
      const root = resolve(options.root);
      const waitMs = secondsOf(options.wait) * 1_000;
      if (options.settle) return await reconcileUpgrade(root, waitMs);
      if (order === undefined || release === undefined)
        throw new OptionInvalidError("--order and --release are needed, or --settle");
      await upgradeNode({ ...{ root, order, release, source, waitMs } });
    },
  );

program
  .command("leave")
  .description("take away all that joining made on this host (`<root>/leave` runs this)")
  .option("--root <dir>", "install root", DEFAULT_NODE_ROOT)
  .option("--yes", "do not ask", false)
  .action((options: { root: string; yes: boolean }) => leave(resolve(options.root), options));

// What was begun goes on to its end, whoever listens.
onClosedPipe(() => {});

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = explain(error);
}

/** @throws OptionInvalidError */
function secondsOf(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 3_600)
    throw new OptionInvalidError(`--wait ${text}: seconds from 1 to 3600 are meant`);
  return value;
}

function explain(error: unknown): number {
  // Commander has said it already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  const said = error instanceof Error && "code" in error ? String(error.code) : "failed";
  const code = isFullDisk(error) ? "disk_full" : said;
  const message = error instanceof Error ? error.message : String(error);
  if (code === "bundle_refused") {
    say(`install: refused: ${message}`);
    say(
      "  what to do: copy the bundle again and compare it with its source\nNothing on this host was changed.",
    );
    return EXIT.notAsWanted;
  }
  say(`install: ${message} [${code}]`);
  if (error instanceof Error && "hint" in error) say(`  what to do: ${String(error.hint)}`);
  else if (code === "disk_full") say("  what to do: free space, and run the same command again");
  return code === "option_invalid" ? EXIT.usage : EXIT.failed;
}
