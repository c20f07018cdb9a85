module resontech.local/rt-lock

go 1.26
