"""Fetch what only the tests need: the JavaScript checkers and a Chromium."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import browser_libraries

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def main() -> int:
    """Install the tools; a missing one that cannot be installed is an error, since no check is skipped."""
    code = browser_libraries.main(["--dev"])
    return code or _chromium()


def _chromium() -> int:
    if any(map(shutil.which, BROWSERS)):
        return 0
    if not (hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get")):
        print(
            "The browser tests need Chromium: install it (Debian: apt-get install chromium) and run make test again.",
            file=sys.stderr,
        )
        return 1
    for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "chromium"]):
        done = subprocess.run(
            command, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, stdout=subprocess.DEVNULL, check=False
        )
        if done.returncode:
            print("apt-get could not install Chromium for the browser tests; its words stand above.", file=sys.stderr)
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
