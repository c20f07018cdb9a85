/** Where code that pages show is run as a person would run it: in a folder with the root certificate, with keys in the environment. */
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { shippedProgram } from "@resontech/house/shipped-program";

const run = promisify(execFile);

export class CodeDesk {
  readonly #folder: string;
  readonly #env: Record<string, string>;

  /** @param folder an empty one, below this tree where code asks for a package of it */
  constructor(folder: string, caPem: string, env: Record<string, string> = {}) {
    this.#folder = folder;
    const root = this.put("root.crt", caPem);
    const command = this.put(
      "bin/resontech",
      `#!/bin/sh\nexec ${process.execPath} ${shippedProgram("resontech")} "$@"\n`,
    );
    chmodSync(command, 0o755);
    this.#env = {
      ...{ PATH: `${dirname(command)}:/usr/bin:/bin`, HOME: folder },
      ...{ SSL_CERT_FILE: root, AWS_CA_BUNDLE: root, NODE_EXTRA_CA_CERTS: root },
      ...env,
    };
  }

  put(path: string, content: string | Uint8Array): string {
    const file = join(this.#folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  }

  shell(code: string, env: Record<string, string> = {}): Promise<string> {
    return this.#run("/bin/sh", ["-euc", code], env);
  }

  /** @param python with the packages that the code names */
  python(python: string, code: string, env: Record<string, string> = {}): Promise<string> {
    return this.#run(python, [this.put("shown.py", code)], env);
  }

  /** By Node. */
  script(code: string, env: Record<string, string> = {}): Promise<string> {
    return this.#run(process.execPath, [this.put("shown.mjs", code)], env);
  }

  /** What it printed. */
  async #run(program: string, args: string[], env: Record<string, string>): Promise<string> {
    const { stdout } = await run(program, args, {
      ...{ cwd: this.#folder, env: { ...this.#env, ...env }, timeout: 300_000 },
    });
    return stdout;
  }
}
