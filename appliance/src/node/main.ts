/** The `appliance-node` command of a host that joined an appliance. Root alone. */
import { EXIT } from "@resontech/contracts/exit-codes";
import { join, resolve } from "node:path";
import { asTable } from "@resontech/cli/table";
import { Command, CommanderError } from "commander";
import { versionOf } from "../release.ts";
import { askSupervisor, listParts } from "../supervisor/control.ts";
import { openNode } from "./node-context.ts";
import { prepareNode } from "./prepare-node.ts";
import { startNode, stopNode, superviseNode } from "./supervise-node.ts";

const STOP_TIMEOUT_MS = 180_000;

// The release lies at <root>/releases/<id>/app/appliance-node.mjs; from sources there is no default root.
const defaultRoot = resolve(join(import.meta.dirname, "..", "..", ".."));
const program = new Command("appliance-node")
  .description("Operates this host as a node of an appliance. `<root>/leave` takes it away again.")
  .version(versionOf(defaultRoot), "--version", "the version of this release")
  .option("--root <dir>", "install root", defaultRoot)
  .exitOverride()
  .showHelpAfterError("(--help lists all commands)")
  .hook("preAction", () => {
    if (process.getuid?.() !== 0)
      program.error("appliance-node must be run as root: sudo appliance-node …");
  })
  .addHelpText(
    "after",
    "\nExit codes: 0 done, 1 failed, 2 wrong usage, 3 not running or not healthy.",
  );
const root = (): string => resolve(program.opts<{ root: string }>().root);

program
  .command("supervise")
  .description("run container engine and agent in the foreground (what the systemd unit starts)")
  .action(() => superviseNode(root()));
program
  .command("prepare")
  .description("make missing folders and the agent's configuration, as each start does")
  .action(() => prepareNode(openNode(root())));
program
  .command("start")
  .description("start container engine and agent; they outlive this command")
  .action(() => startNode(root()));
program
  .command("stop")
  .description("stop the agent and its container engine; jobs that run here end with their lease")
  .action(async () => {
    const wasRunning = await stopNode(root(), STOP_TIMEOUT_MS);
    process.stderr.write(wasRunning ? "stopped\n" : "it was not running\n");
  });
program
  .command("status")
  .description("container engine and agent with health, process and restarts")
  .option("--json", "one JSON line", false)
  .action(async ({ json }: { json: boolean }) => {
    const { layout, config } = openNode(root());
    const answer = await askSupervisor(layout.supervisorSocket, listParts, {});
    const parts = answer?.parts ?? [];
    if (json) process.stdout.write(`${JSON.stringify({ node: config.node, parts })}\n`);
    else if (answer === null) process.stderr.write("not running: appliance-node start\n");
    else
      process.stdout.write(
        asTable(
          ["PART", "STATE", "PID", "RESTARTS", "LAST EXIT"],
          parts.map(({ name, phase, pid, restarts, lastExit }) => [
            name,
            phase,
            String(pid ?? "-"),
            String(restarts),
            lastExit ?? "-",
          ]),
          process.stdout.columns ?? null,
        ),
      );
    if (parts.length === 0 || parts.some(({ phase }) => phase !== "healthy"))
      process.exitCode = EXIT.notAsWanted;
  });

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = explain(error);
}

function explain(error: unknown): number {
  // Commander has said it already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  const code = error instanceof Error && "code" in error ? String(error.code) : "failed";
  process.stderr.write(
    `appliance-node: ${error instanceof Error ? error.message : String(error)} [${code}]\n`,
  );
  return EXIT.failed;
}
