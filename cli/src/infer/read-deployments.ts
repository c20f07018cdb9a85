/** Pages of deployments, newest first. */
import type { DeploymentListReply, DeploymentRow } from "@resontech/contracts/http-inference";
import { getJson } from "../api-client.ts";
import type { Settings } from "../settings.ts";

export const DEPLOYMENTS = "/api/inference/jobs";
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
    const page = (await getJson(settings, DEPLOYMENTS, {
      ...{ ...filter, before, limit: Math.min(PAGE, limit - deployments.length) },
    })) as DeploymentListReply;
    deployments.push(...page.deployments);
    before = page.next ?? undefined;
  } while (before !== undefined && deployments.length < limit);
  return { deployments, areMore: before !== undefined };
}
