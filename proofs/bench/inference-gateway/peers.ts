/** Other gateways of the same API, as they are published, before the same engine. They keep no record of a call. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { StepCache } from "@resontech/airgap/step-cache";
import type { LoadTarget } from "./load.ts";
import { freePort } from "@resontech/house/free-port";

const run = promisify(execFile);
const cache = new StepCache(join(import.meta.dirname, "../../../.cache/test-venvs"));
const LITELLM = "litellm[proxy]==1.100.0";
const PORTKEY = "@portkey-ai/gateway@1.15.2";
const START_MS = 120_000;

export type Peer = AsyncDisposable & { name: string; target: LoadTarget };

/** https://docs.litellm.ai/docs/proxy/configs */
export async function startLitellm(dir: string, enginePort: number): Promise<Peer> {
  const venv = await cache.fetch("python litellm", { packages: [LITELLM] }, async (into) => {
    await run("python3", ["-m", "venv", into]);
    await run(join(into, "bin/python"), ["-m", "pip", "install", "--quiet", LITELLM]);
  });
  const port = await freePort();
  const config = join(dir, "litellm.yaml");
  writeFileSync(
    config,
    JSON.stringify({
      model_list: [
        {
          model_name: "m",
          litellm_params: {
            ...{ model: "openai/m", api_key: "none" },
            api_base: `http://127.0.0.1:${enginePort}/v1`,
          },
        },
      ],
    }),
  );
  const args = ["--config", config, "--host", "127.0.0.1", "--port", String(port)];
  // By the interpreter: the script's first line names the folder in which the environment was made.
  const program = [join(venv, "bin/litellm"), ...args, "--num_workers", "1"];
  const child = spawn(join(venv, "bin/python"), program, {
    stdio: "ignore",
    env: {
      ...{ PATH: process.env["PATH"], HOME: dir, LITELLM_LOG: "ERROR" },
      LITELLM_LOCAL_MODEL_COST_MAP: "True",
    },
  });
  return await answering("litellm", child, { port, headers: { authorization: "Bearer none" } });
}

/** https://portkey.ai/docs/product/ai-gateway */
export async function startPortkey(dir: string, enginePort: number): Promise<Peer> {
  const folder = await cache.fetch("npm portkey", { packages: [PORTKEY] }, async (into) => {
    mkdirSync(into, { recursive: true });
    const options = ["--prefix", into, "--no-audit", "--no-fund", "--omit=dev", "--ignore-scripts"];
    await run("npm", ["install", ...options, PORTKEY]);
  });
  const port = await freePort();
  const program = join(folder, "node_modules/@portkey-ai/gateway/build/start-server.js");
  const child = spawn(process.execPath, [program, `--port=${port}`, "--headless"], {
    ...{ stdio: "ignore", cwd: dir },
    env: {
      ...{ PATH: process.env["PATH"], HOME: dir, NODE_ENV: "production" },
      TRUSTED_CUSTOM_HOSTS: "127.0.0.1,localhost",
    },
  });
  return await answering("portkey", child, {
    port,
    headers: {
      ...{ authorization: "Bearer none", "x-portkey-provider": "openai" },
      "x-portkey-custom-host": `http://127.0.0.1:${enginePort}/v1`,
    },
  });
}

async function answering(name: string, child: ChildProcess, target: LoadTarget): Promise<Peer> {
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  for (const end = Date.now() + START_MS; ; await sleep(250)) {
    const answer = await fetch(`http://127.0.0.1:${target.port}/v1/chat/completions`, {
      method: "POST",
      headers: { ...target.headers, "content-type": "application/json" },
      body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "hello" }] }),
    }).catch(() => null);
    if (answer?.ok === true) return { name, target, [Symbol.asyncDispose]: stop };
    if (child.exitCode !== null || Date.now() > end) {
      await stop();
      throw new Error(`${name} does not answer: ${answer?.status} ${await answer?.text()}`);
    }
  }
}
