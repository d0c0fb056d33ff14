raise ImportError("libllama.so: undefined symbol: ggml_backend_load")
