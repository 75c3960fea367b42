"""Makes a virtual environment that has nothing but a wheel and what the wheel needs.

    python3 environment.py FOLDER WHEEL

What it needs is copied from the environment of this program, so that nothing is downloaded.
"""

import shutil
import subprocess
import sys
import sysconfig
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

folder, wheel = sys.argv[1:]
subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
packages = Path(sysconfig.get_path("purelib", "posix_prefix", {"base": folder, "platbase": folder}))


def copy(name, copied):
    if name in copied:
        return
    copied.add(name)
    found = distribution(name)
    for file in found.files or []:
        if file.parts[0] != "..":
            (packages / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file.locate(), packages / file)
    for line in found.requires or []:
        needed = Requirement(line)
        if needed.marker is None or needed.marker.evaluate({"extra": ""}):
            copy(needed.name, copied)


copy("httpx", set())
# Fails if the wheel needs anything else, or another version.
pip = [sys.executable, "-m", "pip", "--python", f"{folder}/bin/python", "install", "--quiet", "--no-index", wheel]
subprocess.run(pip, check=True)
