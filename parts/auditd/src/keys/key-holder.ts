import type { LogSigner } from "@resontech/audit/format/note/note-key";
import type { ShardFiles } from "../shard-files.ts";

/** Keeps one of a shard's two keys. */
export type KeyHolder = {
  /** For people: where the shard's key is, or would be. */
  nameOf: (shard: ShardFiles) => string;
  has: (shard: ShardFiles) => Promise<boolean>;
  /** Makes it where it is missing; durable when it resolves. */
  ensure: (shard: ShardFiles) => Promise<void>;
  /** @throws ConfigError when it is missing, or not what it must be */
  signerOf: (shard: ShardFiles) => Promise<LogSigner>;
  /** Nothing is signed with it again. Safe to repeat. */
  destroy: (shard: ShardFiles) => Promise<void>;
  [Symbol.dispose]?: () => void;
};
