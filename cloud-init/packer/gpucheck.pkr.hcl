# Puts gpucheck into an image. The builder itself need not have a GPU: nothing is validated while the image is made, and no state of
# the builder stays in it.
packer {
  required_plugins {
    digitalocean = { source = "github.com/digitalocean/digitalocean", version = ">= 1.4.0" }
  }
}

variable "package" {
  description = "The .deb of ./setup.sh package"
  type        = string
}

variable "base_image" {
  type    = string
  default = "ubuntu-24-04-x64"
}

source "digitalocean" "image" {
  image         = var.base_image
  region        = "nyc3"
  size          = "s-2vcpu-4gb"
  ssh_username  = "root"
  snapshot_name = "gpucheck-{{timestamp}}"
}

build {
  sources = ["source.digitalocean.image"]

  provisioner "file" {
    source      = var.package
    destination = "/root/gpucheck.deb"
  }

  provisioner "shell" {
    inline = [
      "cloud-init status --wait || true",
      "DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install --yes --no-install-recommends /root/gpucheck.deb",
      "rm /root/gpucheck.deb",
      # Key, spool and marker belong to one instance: each that starts from this image makes its own.
      "systemctl stop gpucheck-report.timer",
      "rm -rf /var/lib/gpucheck/* /run/gpucheck",
      "cloud-init clean --logs",
    ]
  }
}
