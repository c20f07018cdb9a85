/** The gateway's process, behind the front door. */
import { join } from "node:path";
import { runPart } from "@resontech/frame/run-part";
import { CALLBACKS_FOLDER, CALLS_FOLDER, inferenceGateway } from "../part.ts";
import { openServing } from "./open-serving.ts";

runPart(inferenceGateway, async ({ config: { own, sockets }, dataDir, log, heldFd }) => {
  const serving = await openServing(
    {
      ...own,
      socket: sockets["calls"]!,
      callsDir: join(dataDir(), CALLS_FOLDER),
      callbacksDir: join(dataDir(), CALLBACKS_FOLDER),
    },
    log,
    heldFd,
  );
  return { answers: {}, [Symbol.asyncDispose]: () => serving[Symbol.asyncDispose]() };
});
