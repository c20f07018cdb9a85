module resontech.appliance/agent/init

go 1.26
