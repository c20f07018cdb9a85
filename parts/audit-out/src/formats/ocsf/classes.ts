/** The classes of OCSF 1.8.0 that events are exported as, each with the activities that are used of it. */

const OTHER = { Other: 99 } as const;

export const OCSF_CLASSES = {
  account: { uid: 3001, name: "Account Change", activities: { Create: 1, ...OTHER } },
  authentication: {
    uid: 3002,
    name: "Authentication",
    activities: { Logon: 1, Logoff: 2, ...OTHER },
  },
  entity: {
    ...{ uid: 3004, name: "Entity Management" },
    activities: {
      Create: 1,
      Read: 2,
      Update: 3,
      Delete: 4,
      Enroll: 6,
      Activate: 10,
      Deactivate: 11,
      Suspend: 12,
      ...OTHER,
    },
  },
  eventLog: {
    ...{ uid: 1008, name: "Event Log Activity" },
    activities: { Delete: 2, Export: 3, Rotate: 5, Start: 6, Stop: 7, ...OTHER },
  },
  configState: { uid: 5019, name: "Device Config State Change", activities: { Log: 1, ...OTHER } },
  application: {
    ...{ uid: 6002, name: "Application Lifecycle" },
    activities: { Install: 1, Remove: 2, Start: 3, Stop: 4, Restart: 5, ...OTHER },
  },
  api: {
    uid: 6003,
    name: "API Activity",
    activities: { Create: 1, Read: 2, Update: 3, Delete: 4, ...OTHER },
  },
  /** The same with the profile `ai_operation`. */
  model: {
    uid: 6003,
    name: "API Activity",
    activities: { Create: 1, Read: 2, Update: 3, Delete: 4, ...OTHER },
  },
  datastore: {
    ...{ uid: 6005, name: "Datastore Activity" },
    activities: { Read: 1, Update: 2, Create: 6, Delete: 7, List: 8, ...OTHER },
  },
  file: {
    ...{ uid: 6006, name: "File Hosting Activity" },
    activities: { Upload: 1, Download: 2, Update: 3, Delete: 4, "Access Check": 17, ...OTHER },
  },
} as const;

export type OcsfClass = keyof typeof OCSF_CLASSES;

/** One class with one of its own activities. */
export type OcsfMeaning = {
  [C in OcsfClass]: { class: C; activity: keyof (typeof OCSF_CLASSES)[C]["activities"] & string };
}[OcsfClass];

const CATEGORY_NAMES: Record<number, string> = {
  1: "System Activity",
  3: "Identity & Access Management",
  5: "Discovery",
  6: "Application Activity",
};

/** A class's number begins with its category's. */
export function categoryOf(classUid: number): { uid: number; name: string } {
  const uid = Math.floor(classUid / 1_000);
  return { uid, name: CATEGORY_NAMES[uid] ?? "Unknown" };
}
