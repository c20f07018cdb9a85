import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { makeCTools } from "../../src/engines/c-tools.ts";
import { goEnvironment } from "../../src/engines/go-engine.ts";

/** As a newcomer's clone may lie: a blank, a letter beyond ASCII, a long name. */
const dir = join(t.testdir(), "klinik Süd", "x".repeat(100));

t.test("Go compiles C with them at whatever path a clone may have", async (t) => {
  const [tools, headers, source] = ["tools", "a root", "src"].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [tools, source, join(headers, "usr", "include")])
    mkdirSync(folder, { recursive: true });
  mkdirSync(join(headers, "usr", "lib", "x86_64-linux-gnu"), { recursive: true });
  writeFileSync(join(headers, "usr", "include", "answer.h"), "#define ANSWER 42\n");
  // In place of zig's compiler, the host's: the arguments before the fourth are zig's own. The library is libseccomp's name, and empty.
  const zig = join(tools, "zig");
  writeFileSync(zig, '#!/bin/sh\nshift 3\nexec gcc "$@"\n', { mode: 0o755 });
  writeFileSync(join(headers, "usr", "lib", "x86_64-linux-gnu", "libseccomp.a"), "!<arch>\n");
  writeFileSync(join(source, "go.mod"), "module answer\n\ngo 1.24\n");
  writeFileSync(
    join(source, "main.go"),
    `package main

// #cgo pkg-config: libseccomp
// #include <answer.h>
import "C"

func main() { println(C.ANSWER) }
`,
  );
  const env = { ...goEnvironment(), ...makeCTools(tools, { zig, headers }) };
  execFileSync("go", ["build", "-o", join(dir, "answer"), "."], { cwd: source, env });
  const said = execFileSync("sh", ["-c", 'exec "$0" 2>&1', join(dir, "answer")], {
    encoding: "utf8",
  });
  t.equal(said, "42\n");
});
