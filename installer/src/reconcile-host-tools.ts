import { HOST_TOOLS_HOME, type ReleaseManifest } from "@resontech/contracts/release-manifest";
import { Journal } from "./journal.ts";
import { bundledTools } from "./preflight/bundled-tools.ts";
import { isEngineNewEnough } from "./preflight/checks.ts";
import type { HostFacts } from "./preflight/checks.ts";
import { chooseHostTools, type HostTools } from "./preflight/tools.ts";
import type { InstallRequest } from "./request.ts";

/** The bundle was asked for tools that it has not. */
export class HostToolsMissingError extends Error {
  readonly code = "host_tools_missing";
  readonly hint =
    `take a bundle that brings them, or leave --host-tools out (${HOST_TOOLS_HOME} is where they would be)`;
}

/**
 * Decides once whose tools an install calls: as the operator said, as an earlier run of this install decided, or by what the host has. A Podman that
 * the host gets later changes nothing: containers of one are not the other's.
 */
export function reconcileHostTools(
  request: InstallRequest,
  release: ReleaseManifest,
  facts: Pick<HostFacts, "tools" | "engineVersion">,
): InstallRequest {
  const { config, root } = request;
  const bundled = bundledTools(release);
  if (config.hostTools === "bundle" && Object.keys(bundled).length === 0)
    throw new HostToolsMissingError("this bundle brings no tools for hosts");
  const { kind } = config.containerEngine;
  const hostTools =
    config.hostTools ??
    decidedBefore(root) ??
    chooseHostTools(kind, facts.tools, isEngineNewEnough(kind, facts.engineVersion), bundled);
  return { ...request, config: { ...config, hostTools } };
}

/** Answers what an earlier run chose; null where nothing was begun. An install of a release that knew no other called the host's. */
function decidedBefore(root: string): HostTools | null {
  const { lastBegin } = new Journal(root);
  return lastBegin === null ? null : (lastBegin.request.config.hostTools ?? "host");
}
