/** Where the system's programs are: a supervisor may start us without their folders. */
export const SYSTEM_PATH = [
  "/usr/local/sbin",
  "/usr/local/bin",
  "/usr/sbin",
  "/usr/bin",
  "/sbin",
  "/bin",
];
