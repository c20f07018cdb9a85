import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { createInterface } from "node:readline";

/** Longest `sync -f` before it counts as failed, in milliseconds. */
const DEADLINE_MS = 120_000;
/** One line in, one sync, one line out; it ends with whoever writes to it, however that one ends. */
const LOOP =
  'while read -r _; do if out=$(sync -f "$1" 2>&1); then echo done; else echo "failed $out"; fi; done';

/**
 * `sync -f` of one folder, again and again, by a shell that is started once. To start a process from this one holds its main thread for some ten
 * milliseconds, since all of its memory is mapped anew, and each submission syncs.
 */
export class SyncProcess implements AsyncDisposable {
  readonly #folder: string;
  #shell: ChildProcess | null = null;
  #waiting: PromiseWithResolvers<void> | null = null;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** One at a time. @throws what `sync` said */
  async sync(): Promise<void> {
    if (this.#waiting !== null) throw new Error("a sync runs already");
    try {
      await this.#syncOnce();
    } catch (error) {
      // Somebody killed it: another one tells whether the disk takes the bytes.
      if (!(error instanceof ShellEnded)) throw error;
      await this.#syncOnce();
    }
  }

  async #syncOnce(): Promise<void> {
    const waiting = Promise.withResolvers<void>();
    this.#waiting = waiting;
    const shell = (this.#shell ??= this.#start());
    const deadline = setTimeout(
      () => this.#drop(shell, new Error(`sync -f ${this.#folder} took too long`)),
      DEADLINE_MS,
    );
    hold(shell, true);
    shell.stdin!.write("\n");
    try {
      await waiting.promise;
    } finally {
      clearTimeout(deadline);
      this.#waiting = null;
      hold(shell, false);
    }
  }

  /** Without its shell; another sync would start one. */
  async [Symbol.asyncDispose](): Promise<void> {
    const shell = this.#shell;
    if (shell === null) return;
    const ended = new Promise((resolve) => shell.once("exit", resolve));
    shell.ref();
    this.#drop(shell, new Error(`sync -f ${this.#folder}: its process stops`));
    await ended;
  }

  #start(): ChildProcess {
    const shell = spawn("sh", ["-c", LOOP, "sh", this.#folder], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    createInterface({ input: shell.stdout }).on("line", (line) => {
      if (line === "done") this.#waiting?.resolve();
      else this.#waiting?.reject(new Error(`sync -f ${this.#folder}: ${line}`));
    });
    // What a write to a shell that is gone meets is told by its end.
    shell.stdin.on("error", () => {});
    shell.once("error", (error) => this.#drop(shell, error));
    shell.once("exit", () => this.#drop(shell, new ShellEnded()));
    return shell;
  }

  /** The next sync has a shell of its own. */
  #drop(shell: ChildProcess, error: Error): void {
    if (this.#shell !== shell) return;
    this.#shell = null;
    shell.kill("SIGKILL");
    this.#waiting?.reject(error);
  }
}

class ShellEnded extends Error {}

/** Whether this process stays for the shell's answer: it ends while nobody waits. */
function hold(shell: ChildProcess, isHeld: boolean): void {
  const handles = [shell, shell.stdin as Socket, shell.stdout as Socket];
  for (const handle of handles) {
    if (isHeld) handle.ref();
    else handle.unref();
  }
}
