import type { Migration } from "@resontech/frame/migrate";

/**
 * Attempts over several nodes: where a node is reached by the others, and the port on which an attempt's server is. Two living attempts
 * never share one (`one_bridge_port`).
 */
export const jobNetwork: Migration = {
  version: 3,
  name: "job-network",
  sql: `
    -- Null: no other node can reach it.
    ALTER TABLE nodes ADD COLUMN bridge_address TEXT;
    ALTER TABLE nodes ADD COLUMN bridge_port_from INTEGER;
    ALTER TABLE nodes ADD COLUMN bridge_port_to INTEGER;
    -- The server's node and its agent's port for the other nodes; null when all members are on one node.
    ALTER TABLE attempts ADD COLUMN bridge_node TEXT REFERENCES nodes (id);
    ALTER TABLE attempts ADD COLUMN bridge_port INTEGER;
    CREATE UNIQUE INDEX one_bridge_port ON attempts (bridge_node, bridge_port) WHERE ended_at IS NULL AND bridge_port IS NOT NULL;
  `,
};
