import type { DesiredMember } from "@resontech/contracts/agent-protocol";
import { formatFence } from "@resontech/contracts/fence";
import type { ScriptedAgent } from "./scripted-agent.ts";

/** Stores a round's model and manifest, and tells it. */
export async function commitRound(
  agent: ScriptedAgent,
  server: DesiredMember,
  round: number,
  content = `model of round ${round}`,
) {
  const folder = `${server.member}-${formatFence(server.fence)}/${round}`;
  const model = await agent.upload(server, `${folder}/model`, content, "checkpoint");
  const manifest = await agent.upload(server, `${folder}/manifest.json`, "{}", "checkpoint");
  return agent.report(server, {
    kind: "checkpoint",
    round,
    model: model.upload,
    manifest: manifest.upload,
  });
}
