import type { NatsConnection } from "@nats-io/transport-node";
import { agentSubject, type HintMessage } from "@resontech/contracts/agent-protocol";
import { SharedRun } from "@resontech/frame/shared-run";
import type { GroupCommit } from "../db/group-commit.ts";
import type { CommandOutbox } from "../kernel/command-outbox.ts";

export type HintParts = {
  commit: GroupCommit;
  commands: CommandOutbox;
  connection: NatsConnection;
  onError: (error: unknown) => void;
};

/**
 * Tells agents that their desired set changed. A hint only saves time: one that is lost, doubled or late changes nothing, because
 * every answered beat carries the version. So rows go first, and one message a node is sent for all of them.
 */
export class HintPump {
  readonly #parts: HintParts;
  readonly #rounds = new SharedRun();

  constructor(parts: HintParts) {
    this.#parts = parts;
  }

  kick(): void {
    const { commands, connection, onError } = this.#parts;
    if (this.#rounds.isUnderWay || connection.isClosed() || commands.due("hint").length === 0)
      return;
    void this.#rounds.run(() => this.#round().catch(onError));
  }

  async idle(): Promise<void> {
    await this.#rounds.idle();
  }

  async #round(): Promise<void> {
    const { commit, commands, connection } = this.#parts;
    for (let due = commands.due("hint"); due.length > 0; due = commands.due("hint")) {
      await commit.run(() => {
        for (const { seq } of due) commands.done(seq);
      });
      const nodes = new Set(
        due.flatMap((command) => (command.kind === "hint" ? [command.nodeId] : [])),
      );
      for (const node of nodes) giveHint(connection, node, { about: "desired" });
    }
  }
}

/** Sends one message that nobody waits for. */
export function giveHint(connection: NatsConnection, node: string, hint: HintMessage): void {
  if (!connection.isClosed()) connection.publish(agentSubject(node, "hint"), JSON.stringify(hint));
}
