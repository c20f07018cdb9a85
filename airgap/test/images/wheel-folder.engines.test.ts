/** Images of wheels that the builder was given. The wheel here is made on the spot: it stands for a torch that is not on PyPI. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { StepCache } from "../../src/cache/step-cache.ts";
import { DEFAULT_CACHE } from "../../src/engines/ensure-engine.ts";
import { readImage } from "../../src/images/oci-image.ts";
import { buildWheelFolder } from "../../src/images/wheel-folder.ts";
import { readLock } from "../../src/lock/lock-file.ts";

const NEEDS = { vendor: "amd", leastDriver: "6.4", architectures: ["gfx942"] };
const MAKE_WHEEL = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr(zipfile.ZipInfo("torch/__init__.py"), "version = 'for ROCm'\\n")
    wheel.writestr(zipfile.ZipInfo("torch-9.9.0.dist-info/METADATA"), "Metadata-Version: 2.1\\nName: torch\\nVersion: 9.9.0\\n")
    wheel.writestr(zipfile.ZipInfo("torch-9.9.0.dist-info/WHEEL"), "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(zipfile.ZipInfo("torch-9.9.0.dist-info/RECORD"), "")
`;

function folderOf(t: Test, description: unknown, withWheel = true): string {
  const folder = join(t.testdir({}), "wheels");
  mkdirSync(folder);
  if (description !== null) writeFileSync(join(folder, "image.json"), JSON.stringify(description));
  if (withWheel)
    execFileSync("python3", ["-c", MAKE_WHEEL, join(folder, "torch-9.9.0-py3-none-any.whl")]);
  return folder;
}
const build = async (folder: string) =>
  readImage(await buildWheelFolder(new StepCache(DEFAULT_CACHE), readLock(true), folder));

t.test("wheels and a description become a job image with the shared packages", async (t) => {
  const image = await build(folderOf(t, { profile: "fl-rocm-test", needs: NEEDS }));
  t.match(image, { repository: "resontech/fl-rocm-test", use: "job", needs: NEEDS });
  t.match(image.packages, { torch: "9.9.0", nvflare: "2.9.0" });
  t.ok(image.modules?.includes("torch"));
  t.ok((image.unpackedBytes ?? 0) > image.blobs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0));
});

t.test("a folder that can't become an image is refused by name", async (t) => {
  const refused = async (description: unknown, message: RegExp, withWheel = true) =>
    await t.rejects(build(folderOf(t, description, withWheel)), {
      code: "wheel_folder_invalid",
      message,
    });
  await refused(null, /image\.json can't be read/);
  await refused({ profile: "fl-rocm", needs: { ...NEEDS, vendor: "acme" } }, /\/needs\/vendor/);
  await refused({ profile: "../x", needs: NEEDS }, /\/profile/);
  await refused({ profile: "fl-rocm", needs: NEEDS }, /has no wheel of torch/, false);
});
