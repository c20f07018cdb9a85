/** Pages of deployments, newest first. */
import type { DeploymentListReply, DeploymentRow } from "@resontech/contracts/http-inference";
import { getJson } from "../api-client.ts";
import type { Settings } from "../settings.ts";

type Filter = { state?: string; project?: string | undefined; text?: string };

const PAGE = 200;

/** @returns `areMore` where `limit` cut the list @throws CliError */
export async function readDeployments(
  settings: Settings,
  filter: Filter,
  limit: number,
): Promise<{ deployments: DeploymentRow[]; areMore: boolean }> {
  const deployments: DeploymentRow[] = [];
  let before: number | undefined;
  do {
    const page: DeploymentListReply = await getJson(settings, "/api/inference/jobs", {
      query: { ...filter, before, limit: Math.min(PAGE, limit - deployments.length) },
    });
    deployments.push(...page.deployments);
    before = page.next ?? undefined;
  } while (before !== undefined && deployments.length < limit);
  return { deployments, areMore: before !== undefined };
}
