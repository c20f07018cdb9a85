/** Where a browser may be sent after signing in: a page of this appliance, and never anywhere else. */

const PAGE = /^\/dashboard(?:\/[A-Za-z0-9._~-]+)*\/?(?:\?[A-Za-z0-9._~=&%-]*)?$/;
const MAX_LENGTH = 512;
export const HOME_PAGE = "/dashboard";

/** @param asked as the browser sent it; anything but a page's path leads home */
export function returnPath(asked: unknown): string {
  if (typeof asked !== "string" || asked.length > MAX_LENGTH || !PAGE.test(asked)) return HOME_PAGE;
  return asked.split(/[/?]/).some((part) => part === "." || part === "..") ? HOME_PAGE : asked;
}
