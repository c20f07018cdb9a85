module resontech.appliance/house/http-program

go 1.26
