import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { command } from "../cache/command.ts";
import type { StepCache } from "../cache/step-cache.ts";

/** Same bytes for the same source: no paths, no build id, no symbols, no C. */
const REPRODUCIBLE_FLAGS = ["-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid="];

function goEnvironment(): NodeJS.ProcessEnv {
  // The sum database is beyond the module proxy; the pinned h1 sum is what we check against instead.
  return {
    ...process.env,
    CGO_ENABLED: "0",
    GOFLAGS: "-mod=mod",
    GOTOOLCHAIN: "local",
    GOOS: "linux",
    GOARCH: "amd64",
    GONOSUMDB: "*",
    GONOSUMCHECK: "1",
  };
}

/** One Go program of a published module, built by its own `go.mod`; the module's pinned h1 sum is checked before the build. */
export async function buildPublishedGo(
  cache: StepCache,
  pin: { package: string; module: string; version: string; sum: string | null },
  binary: string,
): Promise<string> {
  const toolchain = (await command("go", ["env", "GOVERSION"])).trim();
  const source = await cache.step(
    `fetch go ${binary}`,
    { module: pin.module, version: pin.version, sum: pin.sum },
    async (into) => {
      const answer: unknown = JSON.parse(
        await command("go", ["mod", "download", "-json", `${pin.module}@${pin.version}`], { cwd: into, env: goEnvironment() }),
      );
      const sum = typeof answer === "object" && answer !== null && "Sum" in answer ? answer.Sum : undefined;
      if (sum !== pin.sum)
        throw new Error(`${pin.module}@${pin.version} has the sum ${String(sum)}, the lock says ${String(pin.sum)}`);
      const dir = typeof answer === "object" && answer !== null && "Dir" in answer ? String(answer.Dir) : "";
      cpSync(dir, join(into, "src"), { recursive: true });
      await command("chmod", ["-R", "u+w", join(into, "src")]);
      await command("go", ["mod", "download"], { cwd: join(into, "src"), env: goEnvironment() });
    },
  );
  const built = await cache.step(
    `build ${binary}`,
    { source, toolchain, flags: REPRODUCIBLE_FLAGS, package: pin.package },
    async (into) => {
      const relative = pin.package === pin.module ? "." : `.${pin.package.slice(pin.module.length)}`;
      await command("go", ["build", ...REPRODUCIBLE_FLAGS, "-o", join(into, binary), relative], {
        cwd: join(source, "src"),
        env: goEnvironment(),
      });
    },
  );
  return join(built, binary);
}

/** A Go program of ours: a folder with go.mod and go.sum. Tests and other files beside the sources do not decide the result. */
export async function buildOwnGo(cache: StepCache, folder: string, binary: string): Promise<string> {
  const toolchain = (await command("go", ["env", "GOVERSION"])).trim();
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /(\.go|go\.mod|go\.sum)$/.test(name) && !name.endsWith("_test.go"))
    .sort();
  const hash = createHash("sha256");
  for (const name of files)
    hash
      .update(name)
      .update("\0")
      .update(readFileSync(join(folder, name)))
      .update("\0");
  const source = hash.digest("hex");
  if (existsSync(join(folder, "go.sum"))) {
    await cache.step(`fetch go modules of ${binary}`, { source }, async (into) => {
      mkdirSync(join(into, "src"));
      for (const name of files) cpSync(join(folder, name), join(into, "src", name));
      await command("go", ["mod", "download"], { cwd: join(into, "src"), env: goEnvironment() });
    });
  }
  const built = await cache.step(`build ${binary}`, { source, toolchain, flags: REPRODUCIBLE_FLAGS }, async (into) => {
    await command("go", ["build", ...REPRODUCIBLE_FLAGS, "-o", join(into, `${binary}.part`), "."], {
      cwd: folder,
      env: goEnvironment(),
    });
    renameSync(join(into, `${binary}.part`), join(into, binary));
  });
  return join(built, binary);
}
