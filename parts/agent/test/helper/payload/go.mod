module resontech.appliance/agent/test/payload

go 1.26
