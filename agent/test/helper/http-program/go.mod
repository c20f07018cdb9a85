module resontech.appliance/agent/test/http-program

go 1.26
