/** The steps of an install in their order. Each may be repeated from any point: a crash can come between its effect and its journal line. */
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
import { linkRelease } from "@resontech/registry/link-release";
import type { InstallRequest } from "./request.ts";
import { UPGRADE_START_LIMIT_S } from "./upgrade/decisions/switch-limits.ts";
import { upgradedRelease } from "./upgrade/earlier-release.ts";
import { progressBar, say } from "./say.ts";
import { applianceCommand, stopForSwitch } from "./steps/appliance-command.ts";
import { checkImages } from "./steps/check-images.ts";
import { currentRelease, isCurrent, makeCurrent, releaseFolder } from "./steps/current-release.ts";
import { keepForReturn } from "./upgrade/people-database.ts";
import { trustRegistry } from "./steps/docker-trust.ts";
import { importBlobs } from "./steps/import-blobs.ts";
import { stageTree } from "./steps/stage-tree.ts";
import { LAST_STEP, type Step, SWITCH_STEP } from "./steps/step.ts";

export function planSteps(request: InstallRequest, bundle: VerifiedBundle): Step[] {
  const { root, config } = request;
  const { release, releaseSha256 } = bundle;
  const store = join(root, "blobs", "sha256");
  const releaseDir = releaseFolder(root, release.version, releaseSha256);
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
      name: SWITCH_STEP,
      title: "write the configuration and make this release the current one",
      run: async () => {
        const before = currentRelease(root);
        // Parts of another release or configuration must not run on files of this one. Jobs go on meanwhile.
        if (before !== null && !isCurrent(root, releaseDir, config)) await stopForSwitch(root);
        if (before !== null && before !== releaseDir) keepForReturn(root, before, release);
        makeCurrent(root, releaseDir, config);
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
        const isUpgrade = upgradedRelease(journal, releaseSha256) !== null;
        const within = isUpgrade ? ["--within", String(UPGRADE_START_LIMIT_S)] : [];
        await applianceCommand(root, ["start", ...within]);
      },
    },
    {
      name: "images",
      title: "ask the local registry for every image of the release",
      run: (journal) => checkImages(root, journal),
    },
    {
      name: LAST_STEP,
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
