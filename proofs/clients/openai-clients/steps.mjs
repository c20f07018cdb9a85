/** What both scripts share: the site, how a step is told, and packages from where they were installed. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export const { CHAT_URL, EMBEDDINGS_URL, API_KEY, CHAT, EMBEDDINGS } = process.env;
export const ASKED = "Say hello.";
export const CITIES = ["Paris", "Rome"];
export const TEXTS = ["The cat sleeps.", "The cat sleeps.", "Interest rates rose."];
const told = {};
const from = createRequire(join(process.env.NODE_MODULES, "..", "index.js"));

/** A package of the client's own folder. */
export const packageOf = async (name) => await import(pathToFileURL(from.resolve(name)).href);

/** What `work` answers says what is wrong; undefined: nothing is. */
export async function step(name, work) {
  try {
    const wrong = await work();
    told[name] = wrong === undefined ? true : JSON.stringify(wrong).slice(0, 600);
  } catch (error) {
    told[name] = String(error).slice(0, 600);
  }
}

/** Of three texts the first two are the same. */
export function wrongVectors(vectors) {
  const near = (a, b) => a.reduce((sum, x, at) => sum + x * b[at], 0);
  if (vectors.length !== 3 || vectors.some((one) => one.length !== 384))
    return vectors.map((one) => one.length);
  const [same, other] = [near(vectors[0], vectors[1]), near(vectors[0], vectors[2])];
  return same > 0.999 && other < 0.9 ? undefined : [same, other];
}

export function end() {
  process.stdout.write(`${JSON.stringify(told)}\n`);
}
