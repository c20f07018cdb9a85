import type { Migration } from "@resontech/frame/migrate";

/** When nodes did not answer. Triggers write it, so that what an older release finds silent stands there too; what is older than a week goes with the next one. */
export const nodeOutages: Migration = {
  version: 42,
  name: "node outages",
  sql: `
    CREATE TABLE node_outages (
      node_id TEXT NOT NULL,
      since INTEGER NOT NULL,
      -- Null while it does not answer.
      until INTEGER,
      PRIMARY KEY (node_id, since)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO node_outages (node_id, since) SELECT id, state_since FROM nodes WHERE state IN ('SUSPECT', 'DEAD');
    CREATE TRIGGER nodes_fall_silent AFTER UPDATE OF state ON nodes
      WHEN OLD.state = 'READY' AND NEW.state IN ('SUSPECT', 'DEAD')
      BEGIN
        INSERT OR REPLACE INTO node_outages (node_id, since) VALUES (NEW.id, NEW.state_since);
        DELETE FROM node_outages WHERE until < NEW.state_since - 604800000;
      END;
    CREATE TRIGGER nodes_answer_again AFTER UPDATE OF state ON nodes
      WHEN OLD.state IN ('SUSPECT', 'DEAD') AND NEW.state NOT IN ('SUSPECT', 'DEAD')
      BEGIN UPDATE node_outages SET until = NEW.state_since WHERE node_id = NEW.id AND until IS NULL; END;
  `,
};
