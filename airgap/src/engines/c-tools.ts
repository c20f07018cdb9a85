import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ZIG_TARGET } from "./zig.ts";

/**
 * What Go compiles C with: our compiler for the oldest glibc that we support, and an answer where libseccomp is.
 * @param into an existing folder, at a path with whatever characters @param tools the compiler `zig`, and a folder that is laid out as `/` is
 * @returns environment for `go`
 */
export function makeCTools(
  into: string,
  { zig, headers }: { zig: string; headers: string },
): NodeJS.ProcessEnv {
  const compiler = script(join(into, "cc"), `exec "$RUNC_ZIG" cc -target ${ZIG_TARGET} "$@"`);
  // The module asks pkg-config, which a build machine need not have. Go takes its answer apart at blanks that no backslash stands before.
  const pkgConfig = script(
    join(into, "pkg-config"),
    [
      String.raw`root=$(printf %s "$RUNC_SECCOMP" | sed 's/ /\\ /g')`,
      'case "$*" in',
      String.raw`*--cflags*) printf '%s\n' "-I$root/usr/include" ;;`,
      String.raw`*) printf '%s\n' "-L$root/usr/lib/x86_64-linux-gnu -lseccomp" ;;`,
      "esac",
    ].join("\n"),
  );
  return {
    ...{ CGO_ENABLED: "1", CC: quoted(compiler), PKG_CONFIG: quoted(pkgConfig) },
    ...{ RUNC_ZIG: zig, RUNC_SECCOMP: headers },
    ...{ ZIG_GLOBAL_CACHE_DIR: into, ZIG_LOCAL_CACHE_DIR: into },
  };
}

/** Go takes these variables for a command with arguments. Set-up refuses a clone whose path has a quote. */
function quoted(path: string): string {
  return `'${path}'`;
}

function script(file: string, body: string): string {
  writeFileSync(file, `#!/bin/sh\n${body}\n`);
  chmodSync(file, 0o755);
  return file;
}
