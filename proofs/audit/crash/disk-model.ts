/**
 * A disk as POSIX promises it: what was synced, and every change since, in order.
 *
 * fsync of a file makes durable what it held when the sync began, bytes, size and mode; fdatasync bytes and size alone; neither its name. fsync
 * of a folder makes durable the names that it held then. Nothing else is promised, so of every other change a power cut may keep or lose any part
 * (crash-state.ts chooses).
 */
import type { Call } from "./recording.ts";

export type BytesChange =
  | { kind: "write"; offset: number; bytes: Buffer }
  | { kind: "truncate"; length: number };
/** `node` is null where the name was removed. */
export type NameChange = { at: number; name: string; node: DiskNode | null };

const MAX_REMAINS = 16;

/** Blocks that such a file gave back are looked at, too. */
export function isKey(path: string): boolean {
  return path.startsWith("keys/");
}

/** A list of changes that forgets its beginning. */
class Changes<T> {
  pending: T[] = [];
  #settled = 0;

  get end(): number {
    return this.#settled + this.pending.length;
  }

  /** What came before `end` is durable: it is returned and forgotten. */
  settle(end: number): T[] {
    const settled = this.pending.splice(0, Math.max(0, end - this.#settled));
    this.#settled += settled.length;
    return settled;
  }
}

export class DiskFile {
  /** The name that it was given last. */
  path: string;
  /** The life that made it, counted from 1; 0 for what was there before. */
  readonly bornIn: number;
  durable: Buffer<ArrayBuffer>;
  durableMode: number;
  readonly changes = new Changes<BytesChange>();
  readonly modes = new Changes<number>();

  constructor(
    path: string,
    mode: number,
    bornIn: number,
    bytes: Buffer<ArrayBuffer> = Buffer.alloc(0),
  ) {
    this.path = path;
    this.bornIn = bornIn;
    this.durable = bytes;
    this.durableMode = mode;
  }

  /** What must be durable once a sync that begins now has ended. */
  beginSync(isDataOnly: boolean): () => void {
    const end = this.changes.end;
    const modesEnd = isDataOnly ? 0 : this.modes.end;
    return () => {
      this.durable = applyTo(this.durable, this.changes.settle(end));
      this.durableMode = this.modes.settle(modesEnd).at(-1) ?? this.durableMode;
    };
  }

  /** What a reader sees now. */
  current(): Buffer {
    return applyTo(Buffer.from(this.durable), this.changes.pending);
  }
}

export class DiskFolder {
  path: string;
  readonly mode: number;
  readonly durable = new Map<string, DiskNode>();
  readonly current = new Map<string, DiskNode>();
  readonly changes = new Changes<NameChange>();

  constructor(path: string, mode: number) {
    this.path = path;
    this.mode = mode;
  }

  set(at: number, name: string, node: DiskNode | null): void {
    this.changes.pending.push({ at, name, node });
    if (node === null) this.current.delete(name);
    else this.current.set(name, node);
  }

  beginSync(_isDataOnly: boolean): () => void {
    const { end } = this.changes;
    return () => {
      for (const { name, node } of this.changes.settle(end)) {
        if (node === null) this.durable.delete(name);
        else this.durable.set(name, node);
      }
    };
  }
}

/** `path` is relative to the recorded root, which is ""; `bytes` is null for a folder. */
export type FoundNode = {
  path: string;
  inode: number;
  mode: number;
  bytes: Buffer<ArrayBuffer> | null;
};
export type DiskNode = DiskFile | DiskFolder;

export class Disk {
  readonly root: DiskFolder;
  readonly #inodes = new Map<number, DiskNode>();
  readonly #syncs = new Map<number, () => void>();
  /** What removed files held, newest last: it may still lie in blocks that are used again. */
  readonly remains: Buffer[] = [];
  /** Key files that were removed. */
  readonly removedKeys: DiskFile[] = [];
  #at = 0;
  #life = 0;
  #lifeFrom = 0;

  /** @param found what is there, durably, when recording begins: the root first, folders before what they hold */
  constructor(found: readonly FoundNode[]) {
    const [root, ...others] = found;
    this.root = new DiskFolder("", root!.mode);
    this.#inodes.set(root!.inode, this.root);
    for (const { path, inode, mode, bytes } of others) {
      const node =
        this.#inodes.get(inode) ??
        (bytes === null ? new DiskFolder(path, mode) : new DiskFile(path, mode, 0, bytes));
      const [parent, name] = this.#place(path);
      parent.durable.set(name, node);
      parent.current.set(name, node);
      this.#inodes.set(inode, node);
    }
  }

  /** Calls applied. */
  get position(): number {
    return this.#at;
  }

  /** Processes that recorded. */
  get life(): number {
    return this.#life;
  }

  /** Calls applied when the last of them began. */
  get lifeFrom(): number {
    return this.#lifeFrom;
  }

  /** @param isDone false: this sync was left out of the program */
  apply(call: Call, isDone: (node: DiskNode) => boolean = () => true): void {
    const at = this.#at++;
    switch (call.op) {
      case "create":
      case "mkdir": {
        const node =
          call.op === "create"
            ? new DiskFile(call.path, call.mode, this.#life)
            : new DiskFolder(call.path, call.mode);
        this.#inodes.set(call.inode, node);
        return this.#setName(at, call.path, node);
      }
      case "write":
        this.#file(call.inode).changes.pending.push({
          kind: "write",
          offset: call.offset,
          bytes: call.bytes,
        });
        return;
      case "truncate":
        this.#file(call.inode).changes.pending.push({ kind: "truncate", length: call.length });
        return;
      case "chmod":
        this.#file(call.inode).modes.pending.push(call.mode);
        return;
      case "sync-begin": {
        const node = this.node(call.inode);
        if (isDone(node)) this.#syncs.set(call.token, node.beginSync(call.isDataOnly));
        return;
      }
      case "sync-end":
        this.#syncs.get(call.token)?.();
        this.#syncs.delete(call.token);
        return;
      case "rename": {
        const node = this.lookup(call.path);
        this.#setName(at, call.to, node);
        this.#setName(at, call.path, null);
        node.path = call.to;
        return;
      }
      case "link": {
        const node = this.lookup(call.path);
        this.#setName(at, call.to, node);
        node.path = call.to;
        return;
      }
      case "unlink":
      case "rmdir":
        this.#remember(call.path);
        return this.#setName(at, call.path, null);
      case "life":
        this.#life += 1;
        this.#lifeFrom = at;
        return;
      case "mark":
        return;
    }
  }

  /** @throws when nothing has this name now */
  lookup(path: string): DiskNode {
    const [parent, name] = this.#place(path);
    const node = parent.current.get(name);
    if (node === undefined) throw new Error(`the record names ${path}, which is not there`);
    return node;
  }

  #remember(path: string): void {
    const node = this.lookup(path);
    if (!(node instanceof DiskFile)) return;
    if (isKey(path)) this.removedKeys.push(node);
    this.remains.push(node.current());
    if (this.remains.length > MAX_REMAINS) this.remains.shift();
  }

  #setName(at: number, path: string, node: DiskNode | null): void {
    const [parent, name] = this.#place(path);
    parent.set(at, name, node);
  }

  #place(path: string): [DiskFolder, string] {
    const names = path.split("/");
    let folder = this.root;
    for (const name of names.slice(0, -1)) {
      const next = folder.current.get(name);
      if (!(next instanceof DiskFolder))
        throw new Error(`the record names ${path}, whose folder is not there`);
      folder = next;
    }
    return [folder, names.at(-1)!];
  }

  node(inode: number): DiskNode {
    const node = this.#inodes.get(inode);
    if (node === undefined)
      throw new Error(`the record names inode ${inode}, which was never made`);
    return node;
  }

  #file(inode: number): DiskFile {
    const node = this.node(inode);
    if (!(node instanceof DiskFile)) throw new Error(`the record writes to ${node.path}, a folder`);
    return node;
  }
}

/** May change `bytes` itself. */
export function applyTo(
  bytes: Buffer<ArrayBuffer>,
  changes: readonly BytesChange[],
): Buffer<ArrayBuffer> {
  let result = bytes;
  for (const change of changes) {
    if (change.kind === "truncate") result = resized(result, change.length);
    else {
      result = resized(result, Math.max(result.length, change.offset + change.bytes.length));
      change.bytes.copy(result, change.offset);
    }
  }
  return result;
}

export function resized(bytes: Buffer<ArrayBuffer>, length: number): Buffer<ArrayBuffer> {
  if (length <= bytes.length) return bytes.subarray(0, length);
  return Buffer.concat([bytes], length);
}
