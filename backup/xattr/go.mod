module resontech.local/rt-xattr

go 1.26
