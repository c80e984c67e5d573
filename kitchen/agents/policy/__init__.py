"""The co-player `policy`: a neural network from an ONNX file, and the checks of such files."""
