// Focus is never lost: where the control that had it goes away, what is left of the open dialog takes it, or else the chart.

const CONTROLS = ":is(button, input, select, textarea):enabled";

/**
 * Watch the page for controls that go away, are hidden or switched off while they have the focus.
 * @param {HTMLElement} home takes it where no dialog is open
 */
export function keepFocus(home) {
  document.addEventListener("focusout", ({ target, relatedTarget }) => {
    if (relatedTarget || !(target instanceof HTMLElement)) return;
    requestAnimationFrame(() => {
      if (document.activeElement !== document.body || !isGone(target)) return;
      const dialog = document.querySelector("dialog[open]");
      const next = dialog ? (dialog.querySelector(`.dialog-body ${CONTROLS}`) ?? dialog.querySelector(CONTROLS)) : home;
      /** @type {HTMLElement | null} */ (next)?.focus({ preventScroll: true });
    });
  });
}

/** @param {HTMLElement} control */
function isGone(control) {
  return !control.isConnected || !control.checkVisibility() || control.matches(":disabled");
}
