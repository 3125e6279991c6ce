// How ESLint checks the page's modules and their tests; every warning is an error (`--max-warnings 0`).
import js from "@eslint/js";
import jsdoc from "eslint-plugin-jsdoc";
import globals from "globals";

const HTML_SINKS = ["innerHTML", "outerHTML"].map((property) => ({
  property,
  message: "Names are data: build elements and set textContent.",
}));

const BROWSER_ONLY = ["document", "window", "fetch", "localStorage", "navigator", "requestAnimationFrame"].map((name) => ({
  name,
  message: "model/ has no DOM and no fetch; pass it in or move it to view/ or net/.",
}));

export default [
  { ignores: ["static/vendor/**", "node_modules/**", ".venv/**", "data/**"] },
  js.configs.recommended,
  jsdoc.configs["flat/recommended-typescript-flavor-error"],
  {
    files: ["static/js/**/*.js"],
    languageOptions: { ecmaVersion: 2023, sourceType: "module", globals: globals.browser },
    rules: {
      "max-lines": ["error", { max: 300 }],
      "max-lines-per-function": ["error", { max: 60 }],
      "no-restricted-properties": ["error", ...HTML_SINKS],
    },
  },
  {
    files: ["static/js/model/**/*.js"],
    languageOptions: { globals: { ...Object.fromEntries(Object.keys(globals.browser).map((name) => [name, "off"])), atob: "readonly" } },
    rules: { "no-restricted-globals": ["error", ...BROWSER_ONLY] },
  },
  {
    files: ["tests/js/**/*.js", "eslint.config.js"],
    languageOptions: { ecmaVersion: 2023, sourceType: "module", globals: globals.node },
  },
  {
    rules: {
      eqeqeq: "error",
      "no-var": "error",
      "prefer-const": "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-shadow": "error",
      "no-console": "error",
      "jsdoc/require-jsdoc": ["error", { publicOnly: true, require: { ClassDeclaration: true, FunctionDeclaration: true } }],
      "jsdoc/require-param-description": "off",
      "jsdoc/require-returns-description": "off",
      "jsdoc/require-returns": "off",
      "jsdoc/require-property-description": "off",
      "jsdoc/require-template-description": "off",
      "jsdoc/tag-lines": "off",
      "jsdoc/reject-any-type": "off",
    },
  },
];
