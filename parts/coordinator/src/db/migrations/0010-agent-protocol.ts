import type { Migration } from "@resontech/frame/migrate";

/**
 * The version of the agent protocol that a node's registration agreed on. It counts for that registration alone: an older program registers nodes
 * without noting any.
 */
export const agentProtocol: Migration = {
  version: 10,
  name: "agent-protocol",
  sql: `
    ALTER TABLE nodes ADD COLUMN agent_protocol INTEGER;
    ALTER TABLE nodes ADD COLUMN agent_protocol_at INTEGER;
  `,
};
