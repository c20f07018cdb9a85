import type { IconName } from "../ui/icon/lucide/lucide.ts";

/** Pages of the navigation: where each is, and an action of the API that whoever opens it may ask for. */
export type PageEntry = {
  path: string;
  title: string;
  icon: IconName;
  group: (typeof PAGE_GROUPS)[number];
  actions: readonly string[];
};

/** What pages are about, in the order of the navigation. */
export const PAGE_GROUPS = ["Work", "Resources", "Access", "Appliance"] as const;

export const PAGES: readonly PageEntry[] = [
  { path: "/jobs", title: "Jobs", icon: "jobs", group: "Work", actions: ["job.list"] },
  {
    path: "/inference",
    title: "Inference",
    icon: "inference",
    group: "Work",
    actions: ["job.list"],
  },
  {
    ...{ path: "/queue", title: "Queue", icon: "queue", group: "Work" },
    actions: ["job.state.list", "share.read"],
  },
  { path: "/submit", title: "Submit", icon: "submit", group: "Work", actions: ["job.submit"] },
  { path: "/nodes", title: "Nodes", icon: "nodes", group: "Resources", actions: ["node.list"] },
  {
    path: "/storage",
    title: "Storage",
    icon: "storage",
    group: "Resources",
    actions: ["bucket.read"],
  },
  { path: "/keys", title: "Keys", icon: "keys", group: "Access", actions: ["key.list"] },
  {
    ...{ path: "/people", title: "People", icon: "people", group: "Access" },
    actions: ["people.read", "membership.list"],
  },
  {
    path: "/approvals",
    title: "Approvals",
    icon: "approvals",
    group: "Access",
    actions: ["approval.list"],
  },
  { path: "/audit", title: "Audit", icon: "audit", group: "Appliance", actions: ["audit.search"] },
  {
    ...{ path: "/appliance", title: "Appliance", icon: "appliance", group: "Appliance" },
    actions: ["appliance.status"],
  },
];
