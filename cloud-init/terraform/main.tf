# An instance that judges its GPUs at its boot. The example is DigitalOcean's; the other providers take the same user-data:
#   aws_instance.user_data, google_compute_instance.metadata["user-data"],
#   azurerm_linux_virtual_machine.custom_data = base64encode(...), oci_core_instance.metadata.user_data = base64encode(...)
terraform {
  required_providers {
    digitalocean = { source = "digitalocean/digitalocean" }
  }
}

variable "gpus" {
  description = "How many GPUs the size promises: it comes from the order and not from the machine"
  type        = number
  default     = 8
}

variable "receiver" {
  description = "Where reports go"
  type        = string
}

locals {
  config = jsonencode({
    provider      = "digitalocean"
    instance_type = "gpu-mi300x8-1536gb"
    expect        = { gpu_count = var.gpus }
    sinks         = [{ url = var.receiver }]
  })
  # For an image that holds gpucheck (../packer). Others take ../examples/user-data-package-url.yaml as it is.
  user_data = "#cloud-config\n${yamlencode({
    write_files = [{
      path        = "/etc/gpucheck/config.json"
      owner       = "root:root"
      permissions = "0600"
      content     = local.config
    }]
  })}"
}

variable "image" {
  description = "Id or slug of an image that holds gpucheck"
  type        = string
}

resource "digitalocean_droplet" "gpu" {
  name      = "gpu-1"
  region    = "nyc3"
  size      = "gpu-mi300x8-1536gb"
  image     = var.image
  user_data = local.user_data
}
