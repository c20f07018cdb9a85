import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { command } from "../cache/command.ts";
import { resultId, type StepCache } from "../cache/step-cache.ts";
import { fetchWheels } from "../fetch/pypi.ts";
import type { LockFile } from "../lock/lock-file.ts";
import { makeCTools } from "./c-tools.ts";
import { fetchGoSource, goEnvironment, REPRODUCIBLE_FLAGS } from "./go-engine.ts";
import { unpackZig, ZIG_TARGET } from "./zig.ts";

/** Counts changes of this file that change a byte. */
const REVISION = 1;

export type BuiltRunc = { program: string; licence: string };

/**
 * runc from its own source: Debian 12 has 1.1.5, from which containers are known to escape. A part of it is C, and it filters system calls by
 * libseccomp, whose headers and library are Debian's.
 *
 * @param seccomp folder of fetched Debian packages, and the names of those with libseccomp and its headers
 */
export async function buildRunc(
  cache: StepCache,
  lock: LockFile,
  seccomp: { debs: string; packages: readonly string[] },
): Promise<BuiltRunc> {
  const pin = lock.go["runc"];
  if (pin === undefined) throw new Error("the lock has no Go program runc");
  const source = await fetchGoSource(cache, pin, "runc");
  const wheels = await fetchWheels(cache, lock, "compiler");
  const toolchain = (await command("go", ["env", "GOVERSION"])).trim();
  const inputs = {
    ...{ source: resultId(source), wheels: resultId(wheels), debs: resultId(seccomp.debs) },
    ...{ toolchain, ZIG_TARGET, REVISION },
  };
  const folder = await cache.step("build runc", inputs, async (into) => {
    const scratch = join(into, "scratch");
    mkdirSync(scratch);
    const headers = join(scratch, "seccomp");
    for (const name of seccomp.packages)
      await command("dpkg-deb", ["--extract", join(seccomp.debs, `${name}.deb`), headers]);
    const zig = await unpackZig(wheels, join(scratch, "compiler"));
    await command(
      "go",
      [
        ...["build", ...REPRODUCIBLE_FLAGS.filter((flag) => !flag.startsWith("-ldflags"))],
        `-ldflags=-s -w -buildid= -X main.version=${pin.version.replace(/^v/, "")}`,
        ...["-tags", "seccomp", "-o", join(into, "runc"), "."],
      ],
      {
        cwd: join(source, "src"),
        env: {
          ...goEnvironment(),
          ...makeCTools(scratch, { zig, headers }),
        },
      },
    );
    cpSync(join(source, "src", "LICENSE"), join(into, "LICENSE"));
    rmSync(scratch, { recursive: true });
  });
  return { program: join(folder, "runc"), licence: join(folder, "LICENSE") };
}
