/**
 * Has the node's installer bring another release, as the coordinator wishes. The installer stops this very agent, so it runs in a session of its own and
 * outlives it; what came of it lies in `upgrade.json` (contracts/src/agent/node-upgrade.ts).
 */
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  isUpgradeOpen,
  NODE_UPGRADE_FILE,
  NodeUpgrade,
  type UpgradeFailure,
  type UpgradeRequest,
} from "@resontech/contracts/agent-protocol";
import { reader } from "@resontech/contracts/readable";
import type { Logger } from "pino";

/** An installer that ended without a word was killed, or somebody else was at it. */
const AGAIN_MS = 30_000;

const readUpgrade = reader(NodeUpgrade);

export type NodeUpgraderParts = {
  /** Where the node is installed, and the release that runs. */
  root: string;
  release: string;
  dataDir: string;
  /** An order has failed while this agent runs: the coordinator is to hear of it. */
  onFailure: () => void;
  log: Logger;
};

export class NodeUpgrader {
  readonly #parts: NodeUpgraderParts;
  #isRunning = false;
  #notBeforeMs = 0;

  constructor(parts: NodeUpgraderParts) {
    this.#parts = parts;
  }

  /** Begins once for each order; it may be told again and again. */
  take(wish: UpgradeRequest): void {
    const { release, onFailure } = this.#parts;
    if (this.#isRunning || wish.release === release) return;
    const kept = this.#kept();
    if (kept?.order === wish.order && !isUpgradeOpen(kept)) {
      // The coordinator asks on, so it has not heard of it.
      if (kept.state === "failed") onFailure();
      return;
    }
    if (performance.now() >= this.#notBeforeMs) this.#begin(wish);
  }

  /** How the last order failed; undefined where it did not. */
  failure(): UpgradeFailure | undefined {
    const kept = this.#kept();
    return kept === null || kept.failure === null || kept.state === "done"
      ? undefined
      : { order: kept.order, ...kept.failure };
  }

  #begin({ order, release: wanted }: UpgradeRequest): void {
    const { root, release, log, onFailure } = this.#parts;
    const folder = join(root, "releases", release);
    mkdirSync(join(root, "log"), { recursive: true, mode: 0o750 });
    const logFile = openSync(join(root, "log", "upgrade.log"), "a", 0o640);
    const args = [
      ...[join(folder, "app", "installer.mjs"), "upgrade-node", "--root", root],
      ...["--order", order, "--release", wanted],
    ];
    log.info({ order, release: wanted }, "the node's installer brings another release");
    this.#isRunning = true;
    const child = spawn(join(folder, "bin", "node"), args, {
      ...{ detached: true, stdio: ["ignore", logFile, logFile], cwd: "/" },
      env: { PATH: process.env["PATH"] ?? "", LANG: "C.UTF-8" },
    });
    closeSync(logFile);
    child.unref();
    const ended = (how: string): void => {
      if (!this.#isRunning) return;
      this.#isRunning = false;
      this.#notBeforeMs = performance.now() + AGAIN_MS;
      log.warn({ order, how }, "the node's installer has ended, and this release runs on");
      if (this.failure()?.order === order) onFailure();
    };
    child.once("error", (error) => ended(error.message));
    child.once("exit", (code, signal) => ended(signal ?? `exit ${code ?? "?"}`));
  }

  #kept(): NodeUpgrade | null {
    try {
      return readUpgrade(
        JSON.parse(readFileSync(join(this.#parts.dataDir, NODE_UPGRADE_FILE), "utf8")),
      );
    } catch {
      return null;
    }
  }
}
