/** Every command of `appliance` states which audit event it leaves, or why it leaves none; one that states neither stops every command. */
import type { CommandAudit } from "@resontech/frame/host-shell";
import type { Command } from "commander";

const declared = new WeakMap<Command, CommandAudit>();

/** A command forgot to say what it leaves in the audit log. */
export class UndeclaredCommand extends Error {
  override readonly name = "UndeclaredCommand";
  readonly code = "undeclared_command";

  constructor(command: string) {
    super(`${command} declares no audit event`);
  }
}

/** @returns the command, so that its definition goes on */
export function leaves(command: Command, audit: CommandAudit): Command {
  declared.set(command, audit);
  return command;
}

/**
 * What each command of the tree declares, by its full name; groups of commands do nothing themselves.
 * @throws UndeclaredCommand
 */
export function declarationsOf(program: Command, prefix = ""): Map<string, CommandAudit> {
  const all = new Map<string, CommandAudit>();
  for (const command of program.commands) {
    const name = `${prefix}${command.name()}`;
    const audit = declared.get(command);
    if (command.commands.length > 0)
      for (const [inner, its] of declarationsOf(command, `${name} `)) all.set(inner, its);
    else if (audit === undefined) throw new UndeclaredCommand(name);
    else all.set(name, audit);
  }
  return all;
}
