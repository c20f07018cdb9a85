/** Opens what lies on the disk; nothing of it talks to anybody. */
import { join } from "node:path";
import type { VaultConfig } from "@resontech/contracts/vault-config";
import { acquireInstanceLock } from "@resontech/frame/instance-lock";
import { openDatabase } from "@resontech/frame/open-database";
import type Database from "better-sqlite3";
import { spillTo } from "@resontech/audit/scrub/scrub";
import { scrubInThread } from "@resontech/audit/scrub/scrub-thread";
import type { Seal } from "@resontech/audit/keys/seal";
import { tokenSeal } from "@resontech/audit/keys/token-seal";
import { tpmSeal } from "@resontech/audit/keys/tpm-seal";
import { SEALED_MIGRATIONS } from "./db/sealed-migrations.ts";
import { Epochs } from "./epochs/epochs.ts";
import { type KeyEncryptionKey, openKeyFile } from "./keys/key-encryption-key.ts";
import { KeyTable } from "./keys/key-table.ts";
import { Acts } from "./record/acts.ts";
import { CommitmentStore } from "./privacy/commitment-store.ts";
import { Outbox } from "./record/outbox.ts";

/**
 * A write waits while the thread makes the database anew, which takes minutes when there are many GB of it. What an act writes waits for its turn instead,
 * and holds nobody up; this is for the rest.
 */
const SCRUBBED_TIMEOUT_MS = 3_600_000;

export type OpenedVault = {
  kek: KeyEncryptionKey;
  keys: KeyTable;
  store: CommitmentStore;
  outbox: Outbox;
  acts: Acts;
  epochs: Epochs;
  scrub: () => Promise<void>;
  [Symbol.dispose]: () => void;
};

/** @throws ConfigError, DatabaseTooNew; AlreadyRunningError before anything is opened: two would each seal, erase and end keys by themselves */
export async function openParts(config: VaultConfig): Promise<OpenedVault> {
  using stack = new DisposableStack();
  stack.use(await acquireInstanceLock(config.dataDir));
  spillTo(config.dataDir);
  const file = join(config.dataDir, "sealed.sqlite");
  const db: Database.Database = stack.adopt(
    openDatabase(file, SEALED_MIGRATIONS, { timeoutMs: SCRUBBED_TIMEOUT_MS, spillsNothing: true }),
    (one) => {
      one.close();
    },
  );
  const store = new CommitmentStore(db);
  let kek: KeyEncryptionKey | null = null;
  const openKek = async (isEmpty: boolean): Promise<KeyEncryptionKey> => {
    // Rows without keys, and no file: the key is lost, and a new one would hide that.
    kek = await openKeyFile(config.keyFile, isEmpty && store.counts.sealed === 0, sealOf(config));
    return kek;
  };
  const keys = stack.use(await KeyTable.open(config.keysDir, openKek));
  const outbox = new Outbox(db, keys.count > 0);
  const owned = stack.move();
  return {
    ...{ kek: kek!, keys, store, outbox, acts: new Acts(db, outbox) },
    epochs: new Epochs(config, db, keys, kek!),
    scrub: async () => {
      // What erases comes first: the other file may lack the room. It is a thousandth of it.
      keys.scrub();
      await scrubInThread(db);
    },
    [Symbol.dispose]: () => owned.dispose(),
  };
}

function sealOf({ token, tpm }: VaultConfig): Seal | null {
  if (token !== undefined) return tokenSeal(token);
  return tpm === undefined ? null : tpmSeal(tpm);
}
