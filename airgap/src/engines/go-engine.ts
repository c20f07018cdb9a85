import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { command } from "../cache/command.ts";
import { resultId, type StepCache } from "../cache/step-cache.ts";
import type { LockFile } from "../lock/lock-file.ts";
import { patchesOf } from "./patches.ts";

/** Same bytes for the same source: no paths, no build id, no symbols, no C. */
export const REPRODUCIBLE_FLAGS = ["-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid="];

export function goEnvironment(): NodeJS.ProcessEnv {
  return {
    ...process.env,
    CGO_ENABLED: "0",
    GOOS: "linux",
    GOARCH: "amd64",
    GOTOOLCHAIN: "local",
    GOWORK: "off",
    // A module that go.sum does not name is refused, so the public sum database has nothing to add.
    GOFLAGS: "-mod=readonly",
    GONOSUMDB: "*",
  };
}

/**
 * One Go program of a published module, built by its own `go.mod`; the module's pinned h1 sum is checked before our patches are applied to it.
 */
export async function buildPublishedGo(
  cache: StepCache,
  pin: LockFile["go"][string],
  binary: string,
): Promise<string> {
  const source = await fetchGoSource(cache, pin, binary);
  const { module } = pin;
  const from = pin.package === module ? "." : `.${pin.package.slice(module.length)}`;
  const changed = await patched(cache, source, binary);
  return await compile(cache, join(changed, "src"), from, binary, { source: resultId(changed) });
}

/** A published module in `src/` of the folder that is answered, what it needs in Go's own cache. @throws Error when its sum is not the pinned one */
export async function fetchGoSource(
  cache: StepCache,
  { module, version, sum }: LockFile["go"][string],
  binary: string,
): Promise<string> {
  return await cache.fetch(`go ${binary}`, { module, version, sum }, async (into) => {
    const got = await downloadModule(module, version, into);
    if (got.sum !== sum)
      throw new Error(`${module}@${version} has the sum ${got.sum}, the lock says ${String(sum)}`);
    const src = join(into, "src");
    cpSync(got.dir, src, { recursive: true });
    // The module cache is read-only, and so is what is copied from it.
    await command("chmod", ["-R", "u+w", src]);
    await command("go", ["mod", "download"], { cwd: src, env: goEnvironment() });
  });
}

/** The source with our patches in it, by their numbers; the source itself where there are none. */
async function patched(cache: StepCache, source: string, binary: string): Promise<string> {
  const patches = patchesOf(binary).map((file) => ({ file, text: readFileSync(file, "utf8") }));
  if (patches.length === 0) return source;
  const inputs = { source: resultId(source), patches: patches.map(({ text }) => text) };
  return await cache.step(`patch ${binary}`, inputs, async (into) => {
    const src = join(into, "src");
    cpSync(join(source, "src"), src, { recursive: true });
    // Not by what Git says of the tree that the cache lies in: it would leave out what that tree ignores.
    const env = { ...process.env, GIT_CEILING_DIRECTORIES: dirname(src) };
    for (const { file } of patches) await command("git", ["apply", file], { cwd: src, env });
  });
}

async function downloadModule(
  module: string,
  version: string,
  cwd: string,
): Promise<{ dir: string; sum: string }> {
  const output = await command("go", ["mod", "download", "-json", `${module}@${version}`], {
    cwd,
    env: goEnvironment(),
  });
  const answer = JSON.parse(output) as { Dir: string; Sum: string };
  return { dir: answer.Dir, sum: answer.Sum };
}

/** What is built of a module of ours where that is not the module itself. */
export type GoTarget = { package: string; tags: readonly string[] };

/**
 * A Go program of ours: a folder with go.mod and, when it needs modules, go.sum. Tests beside the sources do not decide the result.
 * @param target a program of another module that ours names, with build tags
 */
export async function buildOwnGo(
  cache: StepCache,
  folder: string,
  binary: string,
  target: GoTarget = { package: ".", tags: [] },
): Promise<string> {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /(\.go|(^|\/)go\.(mod|sum))$/.test(name) && !name.endsWith("_test.go"))
    .sort();
  const hash = createHash("sha256");
  for (const name of files)
    hash
      .update(`${name}\0`)
      .update(readFileSync(join(folder, name)))
      .update("\0");
  const digest = hash.digest("hex");
  const source = await cache.fetch(`go ${binary}`, { digest }, async (into) => {
    const src = join(into, "src");
    mkdirSync(src);
    for (const name of files) cpSync(join(folder, name), join(src, name));
    await command("go", ["mod", "download"], { cwd: src, env: goEnvironment() });
  });
  return await compile(cache, join(source, "src"), target.package, binary, { digest }, target.tags);
}

async function compile(
  cache: StepCache,
  source: string,
  packagePath: string,
  binary: string,
  inputs: Readonly<Record<string, string>>,
  tags: readonly string[] = [],
): Promise<string> {
  const flags = [...REPRODUCIBLE_FLAGS, ...(tags.length === 0 ? [] : [`-tags=${tags.join(",")}`])];
  const toolchain = (await command("go", ["env", "GOVERSION"])).trim();
  const built = await cache.step(
    `build ${binary}`,
    { ...inputs, toolchain, flags, packagePath },
    async (into) => {
      await command("go", ["build", ...flags, "-o", join(into, binary), packagePath], {
        cwd: source,
        env: goEnvironment(),
      });
    },
  );
  return join(built, binary);
}
