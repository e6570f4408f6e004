"""Debian's cloud-init, unpacked and not installed: its real units and its real schema."""
import os
import shutil
import subprocess


def unpacked(scratch):
    """The folder, or None where there is neither a package (GPUCHECK_CLOUD_INIT_DEB) nor a network."""
    package = os.environ.get("GPUCHECK_CLOUD_INIT_DEB")
    if not package and shutil.which("apt-get"):
        try:
            subprocess.run(["apt-get", "-qq", "download", "cloud-init"], cwd=scratch, capture_output=True, timeout=60)
        except subprocess.TimeoutExpired:
            pass
        package = next(scratch.glob("cloud-init_*.deb"), None)
    if not package or not shutil.which("dpkg-deb"):
        return None
    subprocess.run(["dpkg-deb", "-x", package, scratch / "package"], check=True, timeout=60)
    return scratch / "package"
