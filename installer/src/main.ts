/** The installer: run by install.sh from a verified medium, and by the `appliance` command for `resume` and `uninstall`. */
import { Command } from "commander";
import { install } from "./install.ts";
import { addInstallOptions, DEFAULT_ROOT, type InstallFlags } from "./options.ts";
import { say } from "./say.ts";
import { applianceCommand } from "./steps/appliance-command.ts";
import { uninstall } from "./uninstall.ts";

const program = new Command("installer")
  .description("Installs and removes the sovereign appliance, from a bundle alone.")
  .showHelpAfterError();

addInstallOptions(program.command("install").description("verify, show the plan, install"))
  .addHelpText(
    "after",
    "\nExamples:\n  sh install.sh --name gpu.hospital.example --address 10.1.2.3 --customer hospital\n  sh install.sh --dry-run",
  )
  .action((flags: InstallFlags) => install(flags));

program
  .command("resume")
  .description("start again what an installed release runs")
  .option("--root <dir>", "install root", DEFAULT_ROOT)
  .option("--yes", "do not ask", false)
  .action(async (options: { root: string }) => {
    await applianceCommand(options.root, ["start"]);
  });

program
  .command("uninstall")
  .description("stop and remove everything that the install made")
  .option("--root <dir>", "install root", DEFAULT_ROOT)
  .option("--yes", "do not ask", false)
  .action((options: { root: string; yes: boolean }) => uninstall(options.root, options.yes));

try {
  await program.parseAsync();
} catch (error) {
  const code = error instanceof Error && "code" in error ? String(error.code) : "failed";
  const refused = code === "bundle_refused";
  say(`install: ${refused ? "refused: " : ""}${error instanceof Error ? error.message : String(error)} [${code}]`);
  if (refused) say("  what to do: copy the bundle again and compare it with its source\nNothing on this host was changed.");
  process.exitCode = refused ? 3 : 1;
}
