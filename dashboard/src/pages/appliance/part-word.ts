/** How a part of the appliance is told. Pure. */
import type { HostReply } from "@resontech/contracts/http-appliance";
import type { StateWord } from "../../ui/state-word.ts";

type PartPhase = HostReply["parts"][number]["phase"];

const WORDS: Record<PartPhase, StateWord> = {
  idle: { word: "waits for others", tone: "wait", shape: "ring" },
  starting: { word: "starting", tone: "busy", shape: "half" },
  healthy: { word: "healthy", tone: "good", shape: "tick" },
  unhealthy: { word: "does not answer", tone: "bad", shape: "cross" },
  stopping: { word: "stopping", tone: "wait", shape: "half" },
  exited: { word: "ended", tone: "bad", shape: "cross" },
};

export function partWord(phase: PartPhase, isHeld: boolean): StateWord {
  const isDown = phase === "exited" || phase === "idle";
  return isHeld && isDown ? { word: "stopped", tone: "quiet", shape: "dash" } : WORDS[phase];
}
