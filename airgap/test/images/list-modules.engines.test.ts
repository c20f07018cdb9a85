import { execFileSync } from "node:child_process";
import { join } from "node:path";
import t from "tap";

const LIST = join(import.meta.dirname, "../../recipes/python/list-modules.py");
const MAKE_WHEEL = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    for name in sys.argv[2:]:
        wheel.writestr(name, "")
`;

t.test("modules of the library and of wheels, whatever their files are called", async (t) => {
  const dir = t.testdir({
    library: {
      json: { "__init__.py": "" },
      "csv.py": "",
      "lib-dynload": { "_ssl.cpython-311-x86_64-linux-gnu.so": "" },
      "turtledemo-data": { "x.txt": "" },
      README: "",
    },
  });
  const wheel = join(dir, "a.whl");
  const files = [
    "pandas/core/x.py",
    "six.py",
    "_yaml.abi3.so",
    "pandas.libs/libx.so",
    "a-1.dist-info/METADATA",
    "docs/readme.txt",
  ];
  execFileSync("python3", ["-c", MAKE_WHEEL, wheel, ...files]);
  const found = JSON.parse(
    execFileSync("python3", [LIST, join(dir, "library"), wheel], { encoding: "utf8" }),
  ) as string[];
  for (const name of ["json", "csv", "_ssl", "sys", "pandas", "six", "_yaml"])
    t.ok(found.includes(name), name);
  for (const name of ["docs", "README", "a-1", "turtledemo-data"])
    t.notOk(found.includes(name), name);
});
