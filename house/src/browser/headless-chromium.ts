/**
 * Debian's Chromium without its window: pages, network and scripts are the same. The whole browser draws the frame of each window as a page of its
 * own, though nobody looks at it, and takes three times the CPU.
 */
export const HEADLESS_CHROMIUM = "/usr/lib/chromium/chromium-headless-shell";
