/** What a part's commands of `appliance` get: the installation, the words to answer with, and the record of what they do. */
import type { EventDetail, EventType, OperationType } from "@resontech/contracts/audit-catalogue";
import type { EventObject } from "@resontech/contracts/audit-event";
import type { Command } from "commander";
import type { PartPlace } from "./define-part.ts";

/** What a command leaves in the audit log, or why it leaves nothing. */
export type CommandAudit =
  | { event: EventType }
  /** Logged by the part that is asked. */
  | { event: EventType; loggedBy: "coordinator" | "auditd" | "vault" }
  | { none: string };

/** What of an operator's command stands in the log. */
export type RecordedOperation<Type extends OperationType> = {
  type: Type;
  object: EventObject;
  action: string;
  detail?: EventDetail<Type>;
};

export type HostShell = {
  facts: () => PartPlace;
  /** One JSON line. */
  print: (value: unknown) => void;
  /** A table that fits the terminal. */
  table: (head: readonly string[], rows: readonly (readonly string[])[], none: string) => void;
  /** One line of words. */
  say: (line: string) => void;
  /** States what a command leaves in the log; one that states nothing stops every command. @returns the command */
  leaves: (command: Command, audit: CommandAudit) => Command;
  /** A secret from a file of root's, or typed; never from the command line. @param file null: it is typed @param option how the file is named there */
  readSecret: (file: string | null, prompt: string, option: string) => Promise<string>;
  /** Does it between a request and its outcome on record. */
  recorded: <Type extends OperationType>(
    operation: RecordedOperation<Type>,
    effect: () => Promise<void>,
  ) => Promise<void>;
};

export type AddHostCommands = (program: Command, shell: HostShell) => void;
