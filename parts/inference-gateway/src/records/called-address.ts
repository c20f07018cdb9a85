import { INFERENCE_PATH } from "@resontech/contracts/http-inference";
import { OPENAI_PATH } from "@resontech/contracts/openai-surface";
import { callOf } from "../call.ts";
import { openAiTargetOf } from "../openai-surface/openai-target.ts";

/** Says what a request asks for, as the log names it: method and form of the address, with none of the client's own text. Pure. */
export function calledAddress(method = "", url = ""): string {
  const target = openAiTargetOf(method, url);
  if (target !== null) {
    const { deployment, wish } = target;
    const below = {
      ...{ models: "models", model: "models/:model", none: "*" },
      call: wish.kind === "call" ? wish.call : "",
    }[wish.kind];
    const base = deployment === null ? "" : `${INFERENCE_PATH}/:deployment`;
    return `${method} ${base}${OPENAI_PATH}/${below}`;
  }
  const kind = callOf(method, url)?.kind;
  return `${method} ${INFERENCE_PATH}/:deployment/${kind === "own" ? "*" : (kind ?? "*")}`;
}
