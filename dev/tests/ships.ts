/** Documents that the release has, for alerts to lead to. */
const RUNBOOKS = "docs/operator/runbooks/";

/** Whether a bundle, and so the installed appliance, could be made of a file. @param file its path in this tree */
export function ships(file: string): boolean {
  if (file.startsWith(RUNBOOKS)) return true;
  return (
    !/^(?:parts\/)?[^/]+\/test\//.test(file) &&
    !/^(?:acceptance|house|proofs|docs|examples|dev|\.ci)\//.test(file) &&
    !/^(?:(?:parts\/)?[^/]+\/)?[A-Z]+\.md$/.test(file)
  );
}
