// Files dropped anywhere on the page; without this the browser would leave the page for the file.

/**
 * Hand on the files that are dropped on the page and that no part of it took.
 * @param {(files: FileList) => void} onFiles
 */
export function listenForFiles(onFiles) {
  document.addEventListener("dragover", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    mark(true);
  });
  document.addEventListener("dragleave", (event) => mark(event.relatedTarget !== null && holdsFiles(event)));
  document.addEventListener("drop", (event) => {
    mark(false);
    if (event.defaultPrevented || !holdsFiles(event) || !event.dataTransfer) return;
    event.preventDefault();
    onFiles(event.dataTransfer.files);
  });
}

/** @param {boolean} isOver */
function mark(isOver) {
  document.body.classList.toggle("file-over", isOver);
}

/** @param {DragEvent} event */
function holdsFiles({ dataTransfer }) {
  return dataTransfer?.types.includes("Files") ?? false;
}
