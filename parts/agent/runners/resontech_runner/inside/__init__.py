"""Components of ours that NVFlare's own processes load from the site's configuration; the user's configuration stays untouched."""
