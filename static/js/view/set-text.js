// Sets a text only when it changed, so that nothing is announced twice and no click is lost.

/**
 * @param {HTMLElement} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
