import fc from "fast-check";
import t from "tap";
import { ApiError } from "../../../../src/api-error.ts";
import {
  checkRequirements,
  lackingOf,
} from "../../../../src/workloads/federation/submission/requirements.ts";

const image = {
  profile: "fl-cpu",
  pythonVersion: "3.11.2",
  packages: {
    torch: "2.15.0+cpu",
    nvflare: "2.9.0",
    "scikit-learn": "1.8.0",
    "typing-extensions": "4.16.0",
  },
};
const codeOf = (text: string): string => {
  try {
    checkRequirements(text, image);
    return "ok";
  } catch (error) {
    return error instanceof ApiError ? error.code : String(error);
  }
};

t.test("lines that the image satisfies", async (t) => {
  const good = [
    "",
    "# nothing but a comment",
    "torch",
    "  Torch  # capital, spaces, comment",
    "torch==2.15.0",
    "torch == 2.15.0+cpu",
    "torch>=2,<3",
    "torch~=2.1",
    "torch (>=2.0)",
    "torch!=2.0.*",
    "Typing.Extensions>=4",
    "scikit_learn",
    "torch[extra1, extra2]>=2",
    'tensorflow; sys_platform == "win32"',
    'torch; python_version >= "3.8" and (os_name == "posix" or extra == "x")',
    'tensorflow ; python_version<"3"',
    'tensorflow; "linux" not in sys_platform',
    "torch \\\n  >=2",
    "\ufefftorch\r\nnvflare\r\n",
    "nvflare==2.9.0 ",
  ];
  for (const line of good) t.equal(codeOf(line), "ok", JSON.stringify(line));
});

t.test("lines that it does not satisfy, and lines that are none", async (t) => {
  const bad: [string, string][] = [
    ["requests", "requirement_unavailable"],
    ["torch==2.14.0", "requirement_unavailable"],
    ["torch>2.15.0,<2.15.0", "requirement_unavailable"],
    ['requests; python_version >= "3.8"', "requirement_unavailable"],
    ["toString", "requirement_unavailable"],
    ["-r more.txt", "requirement_unsupported"],
    ["-e git+https://example.org/x", "requirement_unsupported"],
    ["--index-url https://example.org", "requirement_unsupported"],
    ["torch --hash=sha256:00", "requirement_unsupported"],
    ["./local.whl", "requirement_unsupported"],
    ["/abs/local.whl", "requirement_unsupported"],
    ["https://example.org/x.whl", "requirement_unsupported"],
    ["torch @ file:///x.whl", "requirement_unsupported"],
    ["torch=2", "requirement_invalid"],
    ["torch==", "requirement_invalid"],
    ["torch>=two", "requirement_invalid"],
    ["torch nvflare", "requirement_invalid"],
    ["torch[", "requirement_invalid"],
    ["torch[a b]", "requirement_invalid"],
    ["torch; nonsense", "requirement_invalid"],
    ['torch; python_version >= "3.8" and', "requirement_invalid"],
    ['torch; (python_version >= "3.8"', "requirement_invalid"],
    ["_torch", "requirement_invalid"],
  ];
  for (const [line, code] of bad) t.equal(codeOf(line), code, JSON.stringify(line));
});

t.test("any text is judged, quickly, and never crashes", async () => {
  const part = fc.constantFrom(
    "torch",
    "==",
    ">=",
    "2",
    ".",
    "*",
    ";",
    " ",
    "(",
    ")",
    "and",
    "'",
    '"',
    "[",
    "]",
    ",",
    "#",
    "\n",
    "\\",
    "python_version",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(part).map((parts) => parts.join("")),
      ),
      (text) => {
        const before = process.cpuUsage();
        const code = codeOf(text);
        const { user } = process.cpuUsage(before);
        return (code === "ok" || code.startsWith("requirement_")) && user < 200_000;
      },
    ),
    { numRuns: 2_000 },
  );
  const long = codeOf(`torch${" ".repeat(60_000)}[`);
  if (long !== "requirement_invalid") throw new Error(long);
});

t.test("all that the image lacks is named at once, each with its line", async (t) => {
  t.throws(
    () =>
      checkRequirements(
        "torch\npandas\n\nnvflare>=3\ntensorflow; python_version < '3'\nmonai==1.5\n",
        image,
      ),
    {
      code: "requirement_unavailable",
      message:
        "requirements.txt line 2: pandas is not in the job image fl-cpu; requirements.txt line 4: the job image fl-cpu has nvflare 2.9.0, not >=3; requirements.txt line 6: monai is not in the job image fl-cpu",
    },
  );
});

t.test("a package of another version is told from one that is not there", async (t) => {
  const text = "torch==2.2.2\nnvflare\ntorchvision==0.17.2";
  t.same(lackingOf(text, image, "inference.yaml requirement"), [
    {
      kind: "version",
      sentence:
        "inference.yaml requirement 1: the job image fl-cpu has torch 2.15.0+cpu, not ==2.2.2",
    },
    {
      kind: "package",
      sentence: "inference.yaml requirement 3: torchvision is not in the job image fl-cpu",
    },
  ]);
});
