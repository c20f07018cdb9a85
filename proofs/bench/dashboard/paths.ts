/** Every page below `/dashboard`, as a large appliance has it. */
import { jobOfReason, LONG_LOG_JOB } from "./seed.ts";

export const JOB_TABS = [
  ...(["rounds", "curves", "use", "gpu", "events", "logs", "files", "inputs"] as const),
] as const;
export const PATHS = [
  ...[
    "/",
    "/jobs",
    "/queue",
    "/inference",
    "/submit",
    "/nodes",
    "/nodes/rack00-00",
    "/storage",
    "/keys",
  ],
  ...["/people", "/approvals", "/audit", "/appliance", "/no-such-page"],
  ...["/submit?as=command", "/submit?as=predictor", `/submit?again=${LONG_LOG_JOB}`],
  `/compare?jobs=${jobOfReason("user_exception")},${LONG_LOG_JOB}`,
  `/jobs/${jobOfReason("user_exception")}/rounds`,
  ...JOB_TABS.map((tab) => `/jobs/${LONG_LOG_JOB}/${tab}`),
];
