/** The clients as their makers publish them, kept in `.cache/`. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { StepCache } from "@resontech/airgap/step-cache";

const run = promisify(execFile);
const cache = new StepCache(join(import.meta.dirname, "../../../.cache/clients"));

export type Client = {
  name: string;
  /** What must hold of it, in the order of its script. */
  steps: readonly string[];
  program: string;
  script: string;
  env: Record<string, string>;
};

const ALL = ["chat", "stream", "tools", "json", "responses", "embeddings"] as const;

/** Each in an environment of its own: they want different releases of what they share. */
const PYTHON: readonly {
  name: string;
  script: string;
  packages: readonly string[];
  steps?: readonly string[];
}[] = [
  { name: "openai for Python", script: "with_openai.py", packages: ["openai==3.57.0"] },
  { name: "LangChain", script: "with_langchain.py", packages: ["langchain-openai==1.7.4"] },
  {
    ...{ name: "LlamaIndex", script: "with_llama_index.py" },
    packages: ["llama-index-llms-openai-like==0.8.1", "llama-index-embeddings-openai-like==0.4.0"],
    // It has another class for responses, which takes models of OpenAI alone.
    steps: ALL.filter((step) => step !== "responses"),
  },
  {
    ...{ name: "pydantic-ai", script: "with_pydantic_ai.py" },
    packages: ["pydantic-ai-slim[openai]==2.68.0"],
  },
  { name: "litellm", script: "with_litellm.py", packages: ["litellm==1.110.2"] },
];
const NODE = ["ai@7.0.173", "@ai-sdk/openai@4.0.118", "openai@7.59.0", "zod@4.6.7"];

/** Every client with its script. */
export async function installClients(progress: (line: string) => void): Promise<Client[]> {
  const script = (name: string): string => join(import.meta.dirname, name);
  const clients: Client[] = [];
  for (const { name, packages, steps = ALL, ...one } of PYTHON) {
    progress(packages.join(", "));
    const venv = await cache.fetch(`openai ${name}`, { packages }, async (into) => {
      await run("python3", ["-m", "venv", into]);
      await run(join(into, "bin/python"), ["-m", "pip", "install", "--quiet", ...packages]);
    });
    const program = join(venv, "bin/python");
    clients.push({ name, steps, program, script: script(one.script), env: {} });
  }
  progress(NODE.join(", "));
  const node = await cache.fetch("openai node", { NODE }, async (into) => {
    const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
    await run("npm", ["install", "--prefix", into, ...quiet, ...NODE]);
  });
  for (const [name, file] of [
    ["openai for JavaScript", "with_openai.mjs"],
    ["AI SDK", "with_ai_sdk.mjs"],
  ] as const)
    clients.push({
      ...{ name, steps: ALL, program: process.execPath, script: script(file) },
      env: { NODE_MODULES: join(node, "node_modules") },
    });
  return clients;
}
