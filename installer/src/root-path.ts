/** It stands in a systemd unit, in configuration files of engines and in socket names, whose quoting differs. */
const ROOT_FORM = /^\/[A-Za-z0-9._/-]{1,160}$/;

/** Whether an appliance can be installed at this absolute path: at most 160 letters, digits and `. _ - /`. */
export function isRootPath(path: string): boolean {
  return ROOT_FORM.test(path);
}
