raise OSError("libgomp.so.1: cannot open shared object file")
