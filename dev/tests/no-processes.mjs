// Loaded before each unit test: a unit test that starts a process fails and says where it belongs.
import childProcess from "node:child_process";
import { syncBuiltinESMExports } from "node:module";

const refuse = (name) => () => {
  throw new Error(
    `a unit test called ${name}: name the file x.engines.test.ts, the tier of tests that start processes`,
  );
};
for (const name of ["exec", "execFile", "execFileSync", "execSync", "fork", "spawn", "spawnSync"])
  childProcess[name] = refuse(name);
syncBuiltinESMExports();
