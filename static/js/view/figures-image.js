// The figures of the metrics as one picture, placed as on the page.

import { saveFrom } from "./save-text.js";

const SCALE = 2; // pixels of the picture a pixel of the page
const HEAD = 28; // for what the figures are of
const KEPT_MS = 60_000;

/**
 * Draw the shown figures into one PNG and save it.
 * @param {import("./plotly.js").Plotly} plotly
 * @param {readonly HTMLElement[]} plots drawn already, in one grid
 * @param {{name: string, words: string, text: string, background: string}} look name of the file, heading, colours
 */
export async function saveFigures(plotly, plots, { name, words, text, background }) {
  const boxes = plots.map((plot) => plot.getBoundingClientRect());
  const left = Math.min(...boxes.map((box) => box.left));
  const top = Math.min(...boxes.map((box) => box.top)) - HEAD;
  const canvas = document.createElement("canvas");
  canvas.width = SCALE * (Math.max(...boxes.map((box) => box.right)) - left);
  canvas.height = SCALE * (Math.max(...boxes.map((box) => box.bottom)) - top);
  const brush = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  brush.scale(SCALE, SCALE);
  brush.fillStyle = background;
  brush.fillRect(0, 0, canvas.width, canvas.height);
  brush.fillStyle = text;
  brush.font = "13px sans-serif";
  brush.fillText(words, 8, HEAD - 9);
  for (const [index, plot] of plots.entries()) {
    const { width, height } = boxes[index];
    const image = await pictured(await plotly.toImage(plot, { format: "png", scale: SCALE, width, height }));
    brush.drawImage(image, boxes[index].left - left, boxes[index].top - top, width, height);
  }
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  if (blob === null) throw new Error("the figures are too large for one picture; save them one by one by their cameras");
  const url = URL.createObjectURL(blob);
  saveFrom(name, url);
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}

/**
 * @param {string} url
 * @returns {Promise<HTMLImageElement>}
 */
async function pictured(url) {
  const image = new Image();
  image.src = url;
  await image.decode();
  return image;
}
