/** What starts the containers of this host. Pure. */
import { type Finding, warning } from "@resontech/frame/finding";
import { knownEscapes, RUNC_REMEDY, type RuncVersion } from "../../runc/known-escapes.ts";

/** A warning: a distribution may have nothing newer. */
export function runcFindings(runc: RuncVersion): Finding[] {
  const escapes = knownEscapes(runc);
  const what = `runc ${runc.version} has known escapes from a container: ${escapes.join(", ")}`;
  return escapes.length === 0 ? [] : [warning("runc_escapes", what, RUNC_REMEDY)];
}
