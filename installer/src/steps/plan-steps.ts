/** The steps of an install in their order. Each may be repeated from any point: a crash can come between its effect and its journal line. */
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import type { VerifiedBundle } from "@resontech/airgap/verify-bundle";
import { ROOT, writeOwned } from "@resontech/appliance/owned-file";
import {
  hasSystemd,
  renderUnit,
  systemctl,
  unitFile,
  unitName,
} from "@resontech/appliance/systemd-unit";
import { syncNow } from "@resontech/daemon/durable-file-now";
import { linkRelease } from "@resontech/registry-mirror/link-release";
import type { InstallRequest } from "../request.ts";
import { progressBar, say } from "../say.ts";
import { applianceCommand } from "./appliance-command.ts";
import { checkImages } from "./check-images.ts";
import { trustRegistry } from "./docker-trust.ts";
import { importBlobs } from "./import-blobs.ts";
import { stageTree } from "./stage-tree.ts";
import type { Step } from "./step.ts";

export function planSteps(request: InstallRequest, bundle: VerifiedBundle): Step[] {
  const { root, config } = request;
  const { release, releaseSha256 } = bundle;
  const store = join(root, "blobs", "sha256");
  const releaseDir = join(root, "releases", `${release.version}-${releaseSha256.slice(0, 12)}`);
  const configFile = join(root, "etc", "appliance.json");
  const configText = `${JSON.stringify(config, null, 2)}\n`;
  const steps: Step[] = [
    {
      name: "import",
      title: `import ${(bundle.bytes / 1e6).toFixed(0)} MB into the store of blobs`,
      run: () => importBlobs(release, bundle.directory, store, progressBar("stored")),
    },
    {
      name: "stage",
      title: `stage the release tree ${releaseDir}`,
      run: async () =>
        stageTree(release, store, releaseDir, {
          ...bundle.signed,
          "release-key.pem": request.keyPem,
        }),
    },
    {
      name: "registry",
      title: "link the images into the local registry (no second copy)",
      run: async () => {
        linkRelease(release, store, join(root, "data", "registry"));
      },
    },
    {
      name: "switch",
      title: "write the configuration and make this release the current one",
      run: async () => {
        // Parts of another release or configuration must not run on files of this one. Longer leases for it come with the upgrade.
        const isSame =
          currentRelease(root) === releaseDir &&
          existsSync(configFile) &&
          readFileSync(configFile, "utf8") === configText;
        if (existsSync(join(root, "current")) && !isSame) await applianceCommand(root, ["stop"]);
        mkdirSync(join(root, "etc"), { recursive: true, mode: 0o755 });
        writeOwned(configFile, configText, ROOT, 0o644);
        switchTo(root, releaseDir);
      },
    },
  ];
  if (config.containerEngine.kind === "docker") steps.push(trustRegistry(request));
  if (hasSystemd()) {
    steps.push({
      name: "unit",
      title: `install the systemd unit ${unitFile(config.instance)}`,
      run: async (journal) => {
        journal.own("unit", config.instance);
        writeOwned(
          unitFile(config.instance),
          renderUnit(root, config.instance, "appliance"),
          ROOT,
          0o644,
        );
        systemctl("daemon-reload");
        systemctl("enable", unitName(config.instance));
      },
    });
  }
  steps.push(
    {
      name: "start",
      title: "start every part and wait for its health",
      always: true,
      run: async (journal) => {
        journal.own("tree", join("/run/resontech", config.instance));
        await applianceCommand(root, ["start"]);
      },
    },
    {
      name: "images",
      title: "ask the local registry for every image of the release",
      run: (journal) => checkImages(root, journal),
    },
    {
      name: "first-boot",
      title: "make the first user, project and bucket; write data/credentials.txt",
      run: async () => {
        const answer = JSON.parse(
          await applianceCommand(root, ["first-boot", "--username", request.username]),
        ) as {
          credentials: string;
          auditPolicy: { file: string; sha256: string };
        };
        say(`  credentials: ${answer.credentials} (0600)`);
        say(`  audit policy: ${answer.auditPolicy.file}`);
        say(`  its SHA-256, to be kept on paper by the auditor: ${answer.auditPolicy.sha256}`);
      },
    },
  );
  return steps;
}

function currentRelease(root: string): string | null {
  try {
    return readlinkSync(join(root, "current"));
  } catch {
    return null;
  }
}

function switchTo(root: string, releaseDir: string): void {
  if (currentRelease(root) !== releaseDir) {
    const beside = join(root, "current.part");
    rmSync(beside, { force: true });
    symlinkSync(releaseDir, beside);
    renameSync(beside, join(root, "current"));
  }
  syncNow(root);
}
