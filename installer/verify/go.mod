module resontech.local/rt-verify

go 1.26
