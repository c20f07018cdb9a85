import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const WITHIN_MS = 120_000;
const LOOK_MS = 50;

type Size = { columns?: number; lines?: number };

/** A real terminal: tmux, with a server of its own, that a person could sit before. */
export class Terminal implements Disposable {
  readonly #dir = mkdtempSync(join(tmpdir(), "rt-tty-"));

  /** @param command what runs in it; it ends with it @param env all that it sees, but for TERM */
  constructor(
    command: readonly string[],
    env: Readonly<Record<string, string>>,
    { columns = 80, lines = 24 }: Size = {},
  ) {
    // Nothing of the machine's own configuration, and the last screen stays when the command has ended.
    this.#tmux(
      ...["-f", "/dev/null", "new-session", "-d", "-x", String(columns), "-y", String(lines)],
      ...["env", "-i", "TERM=screen", "LANG=C.UTF-8"],
      // A shell that ends writes its history: nobody removes the folder meanwhile.
      "HISTFILE=/dev/null",
      ...[...Object.entries(env).map(([name, value]) => `${name}=${value}`), ...command],
    );
    this.#tmux("set-option", "-g", "remain-on-exit", "on");
  }

  /** As a person types: words of tmux such as `Enter` and `Tab` are keys. */
  press(...keys: string[]): void {
    this.#tmux("send-keys", "-t", "0", ...keys);
  }

  type(text: string): void {
    this.#tmux("send-keys", "-t", "0", "-l", text);
  }

  /** The command and Enter. */
  enter(command: string): void {
    this.type(command);
    this.press("Enter");
  }

  /** What can be seen, and what scrolled away above it; a line that the terminal broke is one, and longer than the terminal. */
  lines(): string[] {
    const text = this.#tmux("capture-pane", "-p", "-J", "-t", "0", "-S", "-");
    return text
      .replace(/\n+$/, "")
      .split("\n")
      .map((line) => line.trimEnd());
  }

  /** @param where.isLastLine of all, the last line that is not empty is meant */
  async until(
    pattern: RegExp,
    { isLastLine = false, withinMs = WITHIN_MS }: { isLastLine?: boolean; withinMs?: number } = {},
  ): Promise<string> {
    for (const deadline = Date.now() + withinMs; ; await sleep(LOOK_MS)) {
      const lines = this.lines();
      const text = isLastLine ? (lines.at(-1) ?? "") : lines.join("\n");
      if (pattern.test(text)) return text;
      if (Date.now() > deadline) throw new Error(`never ${pattern}:\n${lines.join("\n")}`);
    }
  }

  [Symbol.dispose](): void {
    try {
      this.#tmux("kill-server");
    } catch {
      // It is gone.
    }
    rmSync(this.#dir, { recursive: true, force: true });
  }

  #tmux(...words: string[]): string {
    return execFileSync("tmux", ["-S", join(this.#dir, "tmux"), ...words], {
      encoding: "utf8",
      env: { PATH: "/usr/bin:/bin", TERM: "xterm", LANG: "C.UTF-8" },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: WITHIN_MS,
      killSignal: "SIGKILL",
    });
  }
}
