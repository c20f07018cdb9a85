/** Pages of the navigation: where each is, and an action of the API that whoever opens it may ask for. */
export type PageEntry = { path: string; title: string; actions: readonly string[] };

export const PAGES: readonly PageEntry[] = [
  { path: "/jobs", title: "Jobs", actions: ["job.list"] },
  { path: "/inference", title: "Inference", actions: ["job.list"] },
  { path: "/submit", title: "Submit", actions: ["job.submit"] },
  { path: "/nodes", title: "Nodes", actions: ["node.list"] },
  { path: "/storage", title: "Storage", actions: ["bucket.read"] },
  { path: "/keys", title: "Keys", actions: ["key.list"] },
  { path: "/people", title: "People", actions: ["people.read", "membership.list"] },
  { path: "/approvals", title: "Approvals", actions: ["approval.list"] },
  { path: "/audit", title: "Audit", actions: ["audit.search"] },
  { path: "/appliance", title: "Appliance", actions: ["appliance.status"] },
];
