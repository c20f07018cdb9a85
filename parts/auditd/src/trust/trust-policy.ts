/** The trust policy as auditd goes by it: read again when the file changed, and only if the log's own lines are the same. */
import { readFile, stat } from "node:fs/promises";
import type { Logger } from "pino";
import { roomViolation } from "../decisions/cosignature-room.ts";
import { logLinesViolation } from "../decisions/policy-change.ts";
import { parsePolicy, type Policy, PolicyError } from "@resontech/audit/format/note/policy";
import { ConfigError } from "../config.ts";

/** The policy is one, and no checkpoint can carry what its witnesses say. */
class WitnessesTooMany extends PolicyError {
  override readonly name = "PolicyError";
  override readonly code = "witnesses_too_many";
}

/** @throws PolicyError when it is none, or has more witnesses than a checkpoint has room for */
export function parseTrustPolicy(bytes: Buffer): Policy {
  const policy = parsePolicy(bytes);
  const violation = roomViolation(policy);
  if (violation !== null) throw new WitnessesTooMany(violation);
  return policy;
}

export class TrustPolicy {
  readonly #file: string;
  readonly #originPrefix: string;
  readonly #log: Logger;
  #policy: Policy;
  /** Of the file as it was judged last. */
  #version: string;
  #changedMs: number;
  #refused = "";

  private constructor(
    file: string,
    originPrefix: string,
    log: Logger,
    policy: Policy,
    { version, changedMs }: Version,
  ) {
    this.#file = file;
    this.#originPrefix = originPrefix;
    this.#log = log;
    this.#policy = policy;
    this.#version = version;
    this.#changedMs = changedMs;
  }

  /** @throws ConfigError when there is none, or it is none */
  static async open(
    { policyFile, originPrefix }: { policyFile: string; originPrefix: string },
    log: Logger,
  ): Promise<TrustPolicy> {
    try {
      const version = await versionOf(policyFile);
      return new TrustPolicy(
        policyFile,
        originPrefix,
        log,
        parseTrustPolicy(await readFile(policyFile)),
        version,
      );
    } catch (error) {
      const code = error instanceof PolicyError ? `${error.code}: ` : "";
      throw new ConfigError(
        `${policyFile}: ${code}${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  /** When the file was last changed, milliseconds since the epoch: what it asks for can't have been done before. */
  get changedMs(): number {
    return this.#changedMs;
  }

  /**
   * As the file has it; as it had it before, when it can't be read or its log lines differ.
   * @param ownOrigin a shard whose lines auditd itself has just written anew
   */
  async current(ownOrigin?: string): Promise<Policy> {
    try {
      const { version, changedMs } = await versionOf(this.#file);
      if (version === this.#version) return this.#policy;
      const policy = parseTrustPolicy(await readFile(this.#file));
      this.#version = version;
      const others = ({ logs }: Policy) => logs.filter(({ name }) => name !== ownOrigin);
      const violation = logLinesViolation(others(this.#policy), others(policy), this.#originPrefix);
      if (violation !== null) throw new PolicyError(violation);
      this.#policy = policy;
      this.#changedMs = changedMs;
      this.#log.info(
        { witnesses: policy.witnesses.length, needsWitness: policy.needsWitness },
        "the trust policy was read again",
      );
    } catch (error) {
      this.#refuse(error);
    }
    return this.#policy;
  }

  /** Said once for each state of the file. */
  #refuse(error: unknown): void {
    const what = error instanceof Error ? error.message : String(error);
    if (this.#refused === what) return;
    this.#refused = what;
    this.#log.error(
      { err: error },
      "the changed trust policy is not taken; the one before it stays",
    );
  }
}

type Version = { version: string; changedMs: number };

async function versionOf(file: string): Promise<Version> {
  const { ino, size, mtimeMs, ctimeMs } = await stat(file);
  return { version: `${ino} ${size} ${mtimeMs} ${ctimeMs}`, changedMs: mtimeMs };
}
