/** The judging code without its command line, for who runs it many times. */
export { verifyProof } from "./event-proof.ts";
export { parseKnown } from "./known.ts";
export { nodePlatform } from "./platform-node.ts";
export { type Report, verify } from "./verify.ts";
