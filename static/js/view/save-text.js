// Hands a text or an address to the browser as a download.

import { element } from "./element.js";

/**
 * Save a text as a file.
 * @param {string} name
 * @param {string} text
 */
export function saveText(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  saveFrom(name, url);
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/**
 * Save what an address of this server gives; an empty name takes the server's.
 * @param {string} name
 * @param {string} url
 */
export function saveFrom(name, url) {
  const link = element("a", { href: url, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
}
