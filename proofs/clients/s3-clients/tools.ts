/** The clients as their makers publish them, kept in `.cache/`; Debian's come by `dev/setup.mjs`. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { buildPublishedGo } from "@resontech/airgap/published-go";
import { StepCache } from "@resontech/airgap/step-cache";
import { clientPython } from "@resontech/house/client-venv";

const run = promisify(execFile);
const cache = new StepCache(join(import.meta.dirname, "../../../.cache/clients"));

const S5CMD = {
  ...{
    package: "github.com/peak/s5cmd/v2",
    module: "github.com/peak/s5cmd/v2",
    version: "v2.3.0",
    licence: "MIT",
  },
  sum: "h1:g8KSD2o4pcyzUsAaWsn7TGb+j4w+/mI1B5NmfDR0Bbs=",
};
const CRANE = {
  package: "github.com/google/go-containerregistry/cmd/crane",
  module: "github.com/google/go-containerregistry",
  version: "v0.22.1",
  licence: "Apache-2.0",
  sum: "h1:RZuuSYhTvlDvtsK+NkutoCZ//C0X2ebLK8X8l3ULs84=",
};
/** Run here as its users run it; under the AGPL, so nothing of it is linked, shipped or read. */
const MC = {
  ...{
    package: "github.com/minio/mc",
    module: "github.com/minio/mc",
    version: "v0.0.0-20250313080218-cf909e1063a9",
    licence: "AGPL-3.0",
  },
  sum: "h1:6RyInOHKL6jz8zxcAar/h6rg/aJCxDP/uFuSNvYSuMI=",
};
const MINIO = "minio@8.0.7";
const PYTHON_CLIENTS = ["pyarrow==26.0.1", "minio==7.2.20"];

/** Paths of programs. `aws` and `s3cmd` run on Debian's own Python. */
export type Tools = Record<
  "aws" | "s3cmd" | "s3fs" | "rclone" | "skopeo" | "s5cmd" | "mc" | "crane" | "python",
  string
> & {
  /** A folder with `node_modules/minio`. */
  minio: string;
  /** Packages of `python3`, as its `PYTHONPATH` names them: Arrow and MinIO's client. */
  pythonClients: string;
};

export async function installTools(progress: (line: string) => void): Promise<Tools> {
  progress("s5cmd, mc and crane, built from the module proxy");
  const [s5cmd, mc, crane] = [
    await buildPublishedGo(cache, S5CMD, "s5cmd"),
    await buildPublishedGo(cache, MC, "mc"),
    await buildPublishedGo(cache, CRANE, "crane"),
  ];
  progress(`npm ${MINIO}`);
  const minio = await cache.fetch("minio", { MINIO }, async (into) => {
    await run("npm", [
      "install",
      "--prefix",
      into,
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
      MINIO,
    ]);
  });
  progress(PYTHON_CLIENTS.join(", "));
  const pythonClients = await cache.fetch("python clients", { PYTHON_CLIENTS }, async (into) => {
    const quiet = ["--quiet", "--disable-pip-version-check", "--target", into];
    await run("python3", ["-m", "pip", "install", ...quiet, ...PYTHON_CLIENTS]);
  });
  const debian = (name: string): string => join("/usr/bin", name);
  return {
    ...{
      aws: debian("aws"),
      s3cmd: debian("s3cmd"),
      s3fs: debian("s3fs"),
      rclone: debian("rclone"),
      skopeo: debian("skopeo"),
    },
    ...{ s5cmd, mc, crane, minio, pythonClients, python: await clientPython("0.3.0") },
  };
}
