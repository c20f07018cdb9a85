/** What two installs of this host would share: users of parts and jobs, and ports. Pure. */
import type { PortRange } from "@resontech/contracts/port-range";
import type { UidRange } from "@resontech/contracts/uid-range";

export type Numbers = {
  /** Numeric users of its parts. */
  uids: readonly number[];
  jobUids: UidRange;
  ports: readonly number[];
  jobPorts: PortRange;
  address: string;
};
/** Another appliance or node of this host, whether it runs or not. */
export type Neighbour = Numbers & { root: string };

/** `users 61000-61015 of /opt/b`, for each neighbour and each kind of number; none: nothing is shared. */
export function sharedNumbers(own: Numbers, neighbours: readonly Neighbour[]): string[] {
  return neighbours.flatMap((other) => {
    const uids = own.uids.filter((uid) => other.uids.includes(uid) || isIn(uid, other.jobUids));
    const ofJobs = other.uids.filter((uid) => isIn(uid, own.jobUids));
    // Ports at two addresses are two ports, but for those that parts take at 127.0.0.1.
    const ports = own.ports.filter((port) => other.ports.includes(port));
    const isSameAddress = own.address === other.address;
    return [
      ...(uids.length + ofJobs.length === 0 ? [] : [`users ${spanOf([...uids, ...ofJobs])}`]),
      ...(overlap(own.jobUids, other.jobUids) ? ["users of jobs"] : []),
      ...(ports.length === 0 ? [] : [`ports ${ports.join(", ")}`]),
      ...(isSameAddress && overlap(own.jobPorts, other.jobPorts) ? ["ports of jobs"] : []),
    ].map((what) => `${what} with ${other.root}`);
  });
}

function isIn(number: number, { from, to }: UidRange): boolean {
  return from <= number && number <= to;
}

function overlap(a: UidRange, b: UidRange): boolean {
  return a.from <= b.to && b.from <= a.to;
}

function spanOf(numbers: readonly number[]): string {
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  return least === most ? String(least) : `${least}-${most}`;
}
