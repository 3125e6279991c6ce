// Puts the chart page together: the only module that knows all of its parts.

import { Api } from "./net/api.js";
import { loadSettings } from "./model/settings.js";
import { createStore } from "./model/store.js";
import { createDialog } from "./view/dialog.js";
import { createTabs } from "./view/tabs.js";
import { createToast } from "./view/toast.js";

/** @param {string} id */
function part(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

const settings = createStore(loadSettings(localStorage));
const api = new Api(() => settings.get().author);
createTabs(
  part("side-tabs"),
  [
    { id: "annotate", title: "Annotate", panel: part("annotate-panel") },
    { id: "train", title: "Train", panel: part("train-panel") },
    { id: "data", title: "Data", panel: part("data-panel") },
  ],
  "annotate",
);
createToast(part("toasts"));
createDialog(document.body);
void api.get("/api/series");
