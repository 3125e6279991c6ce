"""Install the project's Python packages into its environment: by uv where it is installed, by pip elsewhere.

Usage: python tools/install.py VENV [TORCH] [EXTRA | FILE.txt]. TORCH=cpu adds PyTorch's CPU index; a file lists what
to install in place of the project.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

TORCH_INDEX = "https://download.pytorch.org/whl/"


def main(venv: str, torch: str = "", extra: str = "") -> int:
    """Install, and give the installer's exit code."""
    listed = extra.endswith(".txt")
    what = ["--requirement", extra] if listed else ["--editable", f".[{extra}]" if extra else "."]
    python = str(Path(venv) / "bin" / "python")
    words = "peers" if listed else "test tools" if extra else "packages"
    print(f"Installing the {words} into {venv} (minutes at the first time) …", flush=True)
    uv = shutil.which("uv")
    command = [uv, "pip", "install", "--python", python] if uv else [python, "-m", "pip", "install", "-qq"]
    options = ["--extra-index-url", TORCH_INDEX + torch] if torch else []
    done = subprocess.run([*command, *options, *what], env=_environment(), check=False)
    if done.returncode:
        print("The packages could not be installed; the lines above say why. Is the network there?", file=sys.stderr)
    return done.returncode


def _environment() -> dict[str, str]:
    # uv does not read pip's settings; without its find-links it would take another build of torch.
    links = os.environ.get("PIP_FIND_LINKS")
    return {**os.environ, **({"UV_FIND_LINKS": links} if links and "UV_FIND_LINKS" not in os.environ else {})}


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
