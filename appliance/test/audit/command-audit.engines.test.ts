import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Command } from "commander";
import t from "tap";
import { declarationsOf, leaves, UndeclaredCommand } from "../../src/audit/command-audit.ts";
import { shippedProgram } from "@resontech/house/shipped-program";

const MAIN = shippedProgram("appliance");

t.test(
  "every command of appliance declares what it leaves: one that did not would stop them all",
  async (t) => {
    const { stdout } = await promisify(execFile)(process.execPath, [MAIN, "status", "--help"]);
    t.match(stdout, /appliance status/);
  },
);

t.test("an undeclared command is named, also inside a group", async (t) => {
  const program = new Command("dummy");
  leaves(program.command("known"), { event: "admin.stop" });
  t.same([...declarationsOf(program)], [["known", { event: "admin.stop" }]]);
  const group = program.command("group");
  leaves(group.command("inner"), { none: "status" });
  t.same([...declarationsOf(program).keys()], ["known", "group inner"]);
  group.command("dummy");
  t.throws(() => declarationsOf(program), new UndeclaredCommand("group dummy"));
});
